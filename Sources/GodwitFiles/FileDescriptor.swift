import Foundation
import GodwitBase

/// An open file, closed when the last reference goes. Reads and writes continue after interruptions.
package final class FileDescriptor: ByteSource, ByteSink, Sendable {
  package let rawValue: Int32
  package let path: String
  private let closes: Bool

  /// Takes over an open descriptor; `closes` false leaves it open at the end (standard streams).
  package init(_ rawValue: Int32, path: String, closes: Bool = true) {
    self.rawValue = rawValue
    self.path = path
    self.closes = closes
  }

  deinit { if closes { close(rawValue) } }

  /// Opens a file of the user's for reading, with no demand on its mode: sync files, invitations.
  package static func openForReading(_ path: String) throws(GodwitError) -> FileDescriptor {
    try FilePath.check(path)
    try requireUnshared(path)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file("open", path, errno) }
    return FileDescriptor(descriptor, path: path)
  }

  /// The same for what must be a plain file; never waits, as opening a pipe does until somebody writes to it.
  ///
  /// Throws `fileAccess` for anything else.
  package static func openPlainForReading(_ path: String) throws(GodwitError) -> FileDescriptor {
    try FilePath.check(path)
    try requireUnshared(path)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .file("open", path, errno) }
    let file = FileDescriptor(descriptor, path: path)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .file("read the state of", path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw GodwitError(.fileAccess, "\(path) is not a plain file", hint: "give the name of a file")
    }
    return file
  }

  /// Closing it would take the locks of a database that is open: those on the database, or on the index of its log.
  private static func requireUnshared(_ path: String) throws(GodwitError) {
    let index = "-shm"
    let database = path.hasSuffix(index) ? String(path.dropLast(index.count)) : path
    guard SharedFile.isOpen(path) || SharedFile.isOpen(database) else { return }
    throw GodwitError(
      .unsafeFile, "\(path) is a database that this program has open",
      hint: "give the name of another file; a copy of a replica is a backup or a state file")
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      let count = Foundation.read(rawValue, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw GodwitError.file("read", path, errno) }
    }
  }

  package func write(_ buffer: UnsafeRawBufferPointer) throws {
    var rest = buffer
    while !rest.isEmpty {
      let count = Foundation.write(rawValue, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else {
        guard errno == EINTR else { throw GodwitError.file("write", path, errno) }
      }
    }
  }

  package func size() throws(GodwitError) -> Int {
    var status = stat()
    guard fstat(rawValue, &status) == 0 else { throw .file("read the state of", path, errno) }
    return Int(status.st_size)
  }

  package func synchronize() throws(GodwitError) {
    guard fsync(rawValue) == 0 else { throw .file("synchronize", path, errno) }
  }
}
