import Foundation
import GodwitBase
import GodwitCrypto
import GodwitFiles

/// Files of this machine's that are sent or were fetched.
package enum LocalFile {
  private static let pieceByteCount = 1 << 20

  /// The hash of a file's bytes, and how many there are.
  package static func hash(of path: String) throws -> (hash: ContentHash, size: Int) {
    var hasher = ContentHasher()
    let size = try forEachPiece(of: FileDescriptor.openPlainForReading(path)) { hasher.update($0) }
    return (hasher.finalize(), size)
  }

  /// Lends the bytes piece by piece; returns how many there were.
  ///
  /// - Parameter limit: The most bytes of a piece.
  @discardableResult
  static func forEachPiece(
    of source: any ByteSource, atMost limit: Int? = nil, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Int {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: min(limit ?? pieceByteCount, pieceByteCount), alignment: 16)
    defer { buffer.deallocate() }
    var total = 0
    while true {
      let count = try source.read(into: buffer)
      guard count > 0 else { return total }
      total += count
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
