import Foundation
import GodwitBase
import GodwitFiles
import Synchronization

/// The database file as bytes: made private, never plaintext (Specs/storage.md, "Opening").
///
/// Closing any descriptor of a file drops all of the process's POSIX locks on it, SQLite's own included
/// (sqlite.org, "How To Corrupt An SQLite Database File", section 2.2). So all connections of a process share one
/// descriptor here, which closes only after the last of them.
package final class DatabaseFile: Sendable {
  package static let pageSize = 4096
  private static let plaintextMagic = Array("SQLite format 3\0".utf8)

  /// Which file this is while anybody has it open.
  package struct Key: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }
  private struct Entry { weak var file: DatabaseFile? }
  private static let openFiles = Mutex<[Key: Entry]>([:])

  private let descriptor: FileDescriptor
  package let key: Key

  private init(_ descriptor: FileDescriptor, _ key: Key) {
    self.descriptor = descriptor
    self.key = key
  }

  /// The shared descriptor of the file, opened when this process has none.
  package static func open(_ path: String) throws -> DatabaseFile {
    try openFiles.withLock { openFiles in
      var status = stat()
      if lstat(path, &status) == 0,
        let file = openFiles[Key(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))]?.file
      {
        return file
      }
      let descriptor = try PrivateFile.open(path)
      guard fstat(descriptor.rawValue, &status) == 0 else {
        throw GodwitError.file("read the state of", path, errno)
      }
      let key = Key(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
      let file = DatabaseFile(descriptor, key)
      openFiles = openFiles.filter { $0.value.file != nil }
      openFiles[key] = Entry(file: file)
      return file
    }
  }

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
    return Key(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) == key ? .inPlace : .replaced
  }

  /// Whether another file lies at this path by now, where this one did.
  package func hasMoved(from path: String) -> Bool {
    standing(at: path) == .replaced
  }

  /// Whether this file lies at the path, and no link to it.
  func lies(at path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && Key(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) == key
  }

  /// Whether any connection has the database open, in this process or another, SQLite's own shell included: each holds
  /// a shared lock on it (sqlite.org, "File Locking And Concurrency In SQLite Version 3").
  package static func isInUse(_ path: String) throws -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else { return false }
    let key = Key(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    if openFiles.withLock({ $0[key]?.file != nil }) { return true }
    let file = try open(path)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(0x4000_0000)  // PENDING_BYTE; RESERVED and the 510 bytes of SHARED follow
    lock.l_len = 512
    guard fcntl(file.descriptor.rawValue, F_GETLK, &lock) == 0 else {
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
      count = max(0, pread(descriptor.rawValue, buffer.baseAddress, 16, 0))
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
    let size = try descriptor.size()
    guard size > 0 else { return }
    try checkEncrypted()
    guard size >= 512, size % 512 == 0 else {
      throw GodwitError(
        .notADatabase, "\(descriptor.path) is not a database", hint: "\(size) bytes are no whole number of pages")
    }
  }

  func checkEncrypted() throws {
    guard start == Self.plaintextMagic else { return }
    throw GodwitError(
      .plaintextDatabase, "\(descriptor.path) is a database without encryption",
      hint: "Godwit never opens one in place; copy its rows into a new replica")
  }
}
