import Foundation
import Godwit
import GodwitFiles

/// A file with the statements that were typed, for whoever asks for it: it is not encrypted.
struct StatementHistory: Sendable {
  private let file: FileDescriptor

  /// Opens the file, or makes it, for the user alone.
  ///
  /// - Throws: `unsafeFile` when others can read it, or when it is a file of a replica; `invalidArgument` in the
  ///   replica's own folder; `fileAccess`.
  init(_ path: String, of replica: Replica) throws {
    try replica.requireOutside(path)
    file = PrivateFile.exists(path) ? try PrivateFile.open(path, writing: true) : try PrivateFile.create(path)
  }

  /// Adds a statement at the end, with its semicolon, as `godwit exec --file` reads it.
  ///
  /// - Throws: `diskFull`, `fileAccess`.
  func add(_ statement: String) throws {
    guard lseek(file.rawValue, 0, SEEK_END) >= 0 else { throw GodwitError.file("write", file.path, errno) }
    // A comment at its end would take the semicolon for its own.
    try Array("\(statement)\n;\n".utf8).withUnsafeBytes { try file.write($0) }
  }
}
