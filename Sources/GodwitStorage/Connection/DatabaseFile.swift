import Foundation
import GodwitBase
import GodwitFiles

/// The database file as bytes: made private, never plaintext (Specs/storage.md, "Opening"). All connections of a
/// process share one descriptor of it.
package final class DatabaseFile: Sendable {
  package static let pageSize = 4096

  private let file: SharedFile
  /// Which file this is while anybody has it open.
  package var key: SharedFile.Key { file.key }

  private init(_ file: SharedFile) { self.file = file }

  /// The file, opened when this process has it not open yet.
  package static func open(_ path: String) throws -> DatabaseFile { DatabaseFile(try SharedFile.open(path)) }

  /// Makes an empty private file. SQLite gives the WAL and its index the mode of the database.
  package static func create(_ path: String) throws {
    try PrivateFile.makeFolder(FilePath.folder(of: path))
    _ = try PrivateFile.create(path)
  }

  /// The file's first 16 bytes: SQLCipher's salt. Nil for a file that is still empty.
  package static func salt(_ path: String) throws -> [UInt8]? {
    try open(path).salt
  }

  /// The same of a file that is open already.
  package var salt: [UInt8]? { start.count == 16 ? start : nil }

  /// What lies at the path of a file that is open.
  package enum Standing {
    /// The file itself.
    case inPlace
    /// Another file: this one was exchanged.
    case replaced
    /// Nothing: the file was removed, or its folder.
    case removed
  }

  /// What lies at this path by now, where this file did.
  func standing(at path: String) -> Standing {
    var status = stat()
    guard lstat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .removed : .inPlace }
    return SharedFile.Key(status) == key ? .inPlace : .replaced
  }

  /// Whether another file lies at this path by now, where this one did.
  package func hasMoved(from path: String) -> Bool {
    standing(at: path) == .replaced
  }

  /// Whether this file lies at the path, and no link to it.
  func lies(at path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && SharedFile.Key(status) == key
  }

  /// Whether any connection has the database open, in this process or another, SQLite's own shell included: each holds
  /// a shared lock on it (sqlite.org, "File Locking And Concurrency In SQLite Version 3").
  package static func isInUse(_ path: String) throws -> Bool {
    guard PrivateFile.exists(path) else { return false }
    if SharedFile.isOpen(path) { return true }
    let file = try SharedFile.open(path)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(0x4000_0000)  // PENDING_BYTE; RESERVED and the 510 bytes of SHARED follow
    lock.l_len = 512
    guard fcntl(file.rawValue, F_GETLK, &lock) == 0 else {
      throw GodwitError.file("look at the locks of", path, errno)
    }
    return lock.l_type != Int16(F_UNLCK)
  }

  /// Removes a database that nobody is to open any more, with its log and index. Who has it open continues with files
  /// that have no names.
  package static func remove(_ path: String) throws {
    let gate = try DatabaseGate.closed(for: path)
    withExtendedLifetime(gate) { removeNames(of: path) }
  }

  /// The same behind a gate that is closed already, or where there is none.
  package static func removeNames(of path: String, logOnly: Bool = false) {
    for suffix in (logOnly ? [] : [""]) + companions { unlink(path + suffix) }
  }

  private var start: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      count = max(0, pread(file.rawValue, buffer.baseAddress, 16, 0))
    }
  }

  /// What SQLite keeps beside a database, and opens by its name, through links.
  private static let companions = ["-wal", "-shm", "-journal"]

  /// Refuses a link, or another's file, in a companion's place: SQLite would write through it.
  static func checkCompanions(of path: String) throws {
    for suffix in companions { try PrivateFile.requireOwn(path + suffix) }
  }

  /// Refuses a plaintext database and what cannot be a database at all.
  func check() throws {
    let size = try FileDescriptor(file.rawValue, path: file.path, closes: false).size()
    guard size > 0 else { return }
    try checkEncrypted()
    guard size >= 512, size % 512 == 0 else {
      throw GodwitError(
        .notADatabase, "\(file.path) is not a database", hint: "\(size) bytes are no whole number of pages")
    }
  }

  func checkEncrypted() throws {
    guard start == PlaintextFile.magic else { return }
    throw GodwitError(
      .plaintextDatabase, "\(file.path) is a database without encryption",
      hint: "Godwit never opens one in place; copy its rows into a new replica")
  }
}
