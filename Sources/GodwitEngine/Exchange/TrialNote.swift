import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys

/// Which waiting transactions are being tried, noted outside of the transaction that tries them, in a file beside the
/// database: should the process die by them, the next one knows which it was (Specs/merge.md, "Waiting").
///
/// The file has the chains of those that are tried together, 32 bytes each. It need not be durable: a machine that
/// loses power was not stopped by them.
final class TrialNote {
  private let path: String
  private var file: FileDescriptor?

  init(besideDatabase database: String) { path = "\(FilePath.folder(of: database))/trial" }

  /// What was being tried when a process died; none otherwise.
  func suspects() throws -> [ContentHash] {
    guard PrivateFile.exists(path) else { return [] }
    let bytes = try PrivateFile.read(path, limit: 1 << 20)
    return stride(from: 0, to: bytes.count, by: ContentHash.byteCount).compactMap { start in
      ContentHash(bytes: bytes[start..<min(start + ContentHash.byteCount, bytes.count)])
    }
  }

  /// Begins with nothing noted.
  func begin() throws {
    try? remove()
    file = try PrivateFile.create(path)
  }

  func add(_ chain: ContentHash) throws { try chain.bytes.withUnsafeBytes { try file?.write($0) } }

  /// Nothing is tried any more.
  func remove() throws {
    file = nil
    guard unlink(path) == 0 || errno == ENOENT else { throw GodwitError.file("remove", path, errno) }
  }
}
