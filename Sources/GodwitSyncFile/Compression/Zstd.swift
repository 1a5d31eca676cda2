import CZstd
import GodwitBase

/// Zstandard (RFC 8878) over whole buffers, with a context kept between calls.
package final class Zstd {
  private let compressor: OpaquePointer
  private let decompressor: OpaquePointer
  private let level: Int32
  private var output: [UInt8] = []

  package init(level: Int32) throws {
    guard let compressor = ZSTD_createCCtx(), let decompressor = ZSTD_createDCtx() else {
      throw GodwitError(.limitExceeded, "there is no memory for compression")
    }
    self.compressor = compressor
    self.decompressor = decompressor
    self.level = level
  }

  deinit {
    ZSTD_freeCCtx(compressor)
    ZSTD_freeDCtx(decompressor)
  }

  package func compress(_ bytes: [UInt8]) throws -> [UInt8] {
    try bytes.withUnsafeBytes { try withCompressed($0) { Array($0) } }
  }

  /// Lends the compressed bytes, which live in a buffer kept between calls.
  package func withCompressed<Output>(
    _ input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Output
  ) throws -> Output {
    let bound = ZSTD_compressBound(input.count)
    if output.count < bound { output = [UInt8](repeating: 0, count: bound) }
    return try output.withUnsafeMutableBytes { output in
      let size = ZSTD_compressCCtx(
        compressor, output.baseAddress, output.count, input.baseAddress, input.count, level)
      guard ZSTD_isError(size) == 0 else { throw GodwitError(.limitExceeded, "compression failed") }
      return try body(UnsafeRawBufferPointer(rebasing: output[..<size]))
    }
  }

  /// Restores exactly `size` bytes, or throws `corruptFile`. The caller has checked `size` against its limits.
  package func decompress(_ bytes: some Collection<UInt8>, size: Int) throws -> [UInt8] {
    func decompress(_ input: UnsafeRawBufferPointer) throws -> [UInt8] {
      try Self.requireFrames(input)
      let output = try [UInt8](unsafeUninitializedCapacity: size) { output, count in
        let result = ZSTD_decompressDCtx(
          decompressor, output.baseAddress, output.count, input.baseAddress, input.count)
        guard ZSTD_isError(result) == 0 else { throw ByteReader.malformed("compressed data does not decompress") }
        count = result
      }
      guard output.count == size else { throw ByteReader.malformed("compressed data has another size") }
      return output
    }
    let direct = try bytes.withContiguousStorageIfAvailable { try decompress(UnsafeRawBufferPointer($0)) }
    return try direct ?? Array(bytes).withUnsafeBytes(decompress)
  }

  /// Throws unless all of it is frames of RFC 8878: the library also reads those of versions before, where it was built
  /// to.
  private static func requireFrames(_ input: UnsafeRawBufferPointer) throws {
    var rest = input
    while !rest.isEmpty {
      guard rest.count >= 4 else { throw ByteReader.malformed("compressed data is cut") }
      let magic = UInt32(littleEndian: rest.loadUnaligned(as: UInt32.self))
      // A frame, or one to be skipped (RFC 8878, 3.1).
      guard magic == 0xFD2F_B528 || magic & 0xFFFF_FFF0 == 0x184D_2A50 else {
        throw ByteReader.malformed("compressed data is of no frame")
      }
      let size = ZSTD_findFrameCompressedSize(rest.baseAddress, rest.count)
      guard ZSTD_isError(size) == 0, (1...rest.count).contains(size) else {
        throw ByteReader.malformed("compressed data is of no frame")
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[size...])
    }
  }
}
