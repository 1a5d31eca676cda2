import Foundation
import GodwitBase
import GodwitFiles

/// Bytes that can be read from any place.
package protocol RandomAccessSource: AnyObject {
  func byteCount() throws -> Int
  /// Fills up to `buffer.count` bytes from the offset and returns how many; 0 means the end.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

extension FileDescriptor: RandomAccessSource {
  package func byteCount() throws -> Int { try size() }

  package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      let count = pread(rawValue, buffer.baseAddress, buffer.count, off_t(offset))
      if count >= 0 { return count }
      guard errno == EINTR else { throw GodwitError.file("read", path, errno) }
    }
  }
}

/// Reads an age file from any place (C2SP age, section "Payload"): the size is known once the final chunk has been
/// verified, and each chunk is verified when it is read.
package final class AgeRandomAccess {
  /// The size of the plaintext.
  package let byteCount: Int

  private let source: any RandomAccessSource
  private let cipher: AgeChunkCipher
  private let payloadStart: Int
  private let chunkCount: Int
  private let lastChunkByteCount: Int
  private var buffer = [UInt8](
    repeating: 0, count: AgeChunkCipher.nonceByteCount + AgeChunkCipher.sealedByteCountMax)
  /// The chunk read last.
  private var current: (index: Int, plain: Data)?

  /// Reads the header and the final chunk. Throws what ``AgeOpener`` throws.
  package init(
    _ source: any RandomAccessSource, identities: [AgeIdentity] = [], passphrases: [SecretBytes] = [],
    costMax: Int = Scrypt.costMax
  ) throws {
    let lines = LineSource(Cursor(source))
    let header = try AgeHeader(reading: lines)
    let fileKey = try header.fileKey(identities: identities, passphrases: passphrases, costMax: costMax)
    let nonce = try lines.readExactly(AgeSealer.payloadNonceByteCount)
    self.source = source
    cipher = AgeChunkCipher(key: fileKey.payloadKey(nonce: nonce))
    payloadStart = header.encoded.count + nonce.count
    let sealedByteCount = try source.byteCount() - payloadStart
    let size = AgeChunkCipher.sealedByteCountMax
    chunkCount = max(1, (sealedByteCount + size - 1) / size)
    lastChunkByteCount = sealedByteCount - (chunkCount - 1) * size
    guard lastChunkByteCount >= AgeChunkCipher.tagByteCount else { throw AgePayload.truncated() }
    guard lastChunkByteCount > AgeChunkCipher.tagByteCount || chunkCount == 1 else {
      throw AgePayload.corrupt("its final chunk is empty")
    }
    byteCount = sealedByteCount - chunkCount * AgeChunkCipher.tagByteCount
    _ = try chunk(chunkCount - 1)
  }

  /// Fills up to `target.count` bytes from the offset and returns how many; 0 at and beyond the end.
  ///
  /// Throws `invalidArgument` for a negative offset, `corruptFile` when the chunk was changed, `truncatedFile` when the
  /// file was cut meanwhile.
  package func read(at offset: Int, into target: UnsafeMutableRawBufferPointer) throws -> Int {
    guard offset >= 0 else { throw GodwitError(.invalidArgument, "an offset is not negative") }
    guard offset < byteCount, !target.isEmpty else { return 0 }
    let plain = try chunk(offset / AgeChunkCipher.plainByteCountMax)
    let part = plain.dropFirst(offset % AgeChunkCipher.plainByteCountMax).prefix(target.count)
    part.copyBytes(to: target, count: part.count)
    return part.count
  }

  private func chunk(_ index: Int) throws -> Data {
    if let current, current.index == index { return current.plain }
    let isFinal = index == chunkCount - 1
    let size = isFinal ? lastChunkByteCount : AgeChunkCipher.sealedByteCountMax
    let start = AgeChunkCipher.nonceByteCount
    let cursor = Cursor(source, at: payloadStart + index * AgeChunkCipher.sealedByteCountMax)
    let plain = try buffer.withUnsafeMutableBytes { bytes in
      let count = try cursor.readFully(into: UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + size]))
      guard count == size else { throw AgePayload.truncated() }
      return cipher.open(
        UnsafeMutableRawBufferPointer(rebasing: bytes[..<(start + size)]), number: UInt64(index), isFinal: isFinal)
    }
    guard let plain else {
      throw AgePayload.corrupt(isFinal ? "its last chunk was changed or cut" : "a chunk was changed")
    }
    current = (index, plain)
    return plain
  }

  /// Reads on from a place.
  private final class Cursor: ByteSource {
    private let source: any RandomAccessSource
    private var offset: Int

    init(_ source: any RandomAccessSource, at offset: Int = 0) {
      self.source = source
      self.offset = offset
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
      let count = try source.read(at: offset, into: buffer)
      offset += count
      return count
    }
  }
}
