import Foundation
import GodwitBase

/// A file being written under a temporary name beside its place. It takes the place in one step at
/// ``commit()``; without a commit it vanishes and the old file stays. Only a plain file is replaced.
package final class PendingFile: ByteSink {
  let path: String
  /// Where it lies until then.
  package let temporaryPath: String
  let file: FileDescriptor
  private var isCommitted = false
  private var hasName = true

  /// Throws `unsafeFile` when something else than a plain file has the place.
  package init(replacing path: String) throws(GodwitError) {
    try FilePath.check(path)
    try Self.requirePlace(path)
    self.path = path
    temporaryPath = TemporaryName.random(beside: path)
    file = try Self.createLocked(temporaryPath)
  }

  /// The lock shows that it is being written; see Leftovers, which may have been faster and taken it for one that was
  /// left.
  private static func createLocked(_ path: String) throws(GodwitError) -> FileDescriptor {
    while true {
      let file = try PrivateFile.create(path)
      while flock(file.rawValue, LOCK_EX) != 0, errno == EINTR {}
      var (own, named) = (stat(), stat())
      if fstat(file.rawValue, &own) == 0, lstat(path, &named) == 0, own.st_ino == named.st_ino,
        own.st_dev == named.st_dev
      {
        return file
      }
    }
  }

  deinit { if !isCommitted, hasName { unlink(temporaryPath) } }

  /// Takes the temporary name away while others have the file open by it, so that nothing of the content stays when
  /// this process ends before ``commitNew()``, however it ends. There is no other commit then.
  package func removeName() throws(GodwitError) {
    guard unlink(temporaryPath) == 0 else { throw .file("remove", temporaryPath, errno) }
    hasName = false
  }

  /// A name taken from a device or a pipe would be lost to all who use it, and a link is perhaps meant to be followed.
  private static func requirePlace(_ path: String) throws(GodwitError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    let kind: String? =
      switch status.st_mode & S_IFMT {
      case S_IFREG: nil
      case S_IFLNK: "a symbolic link"
      case S_IFDIR: "a folder"
      case S_IFIFO: "a pipe"
      case S_IFSOCK: "a socket"
      default: "a device"
      }
    guard let kind else { return }
    throw GodwitError(
      .unsafeFile, "\(path) is \(kind), which is not replaced",
      hint: "give the name of a plain file, or - for the standard output where that may stand")
  }

  /// Where the file will lie, also after it has taken its place.
  package func place() throws(GodwitError) -> FilePlace { try file.place() }

  package func write(_ buffer: UnsafeRawBufferPointer) throws { try file.write(buffer) }

  /// What follows is written behind all that is there, by whomever.
  package func seekToEnd() throws(GodwitError) {
    guard lseek(file.rawValue, 0, SEEK_END) >= 0 else { throw .file("write", temporaryPath, errno) }
  }

  /// Forgets what was written.
  package func restart() throws(GodwitError) {
    guard ftruncate(file.rawValue, 0) == 0, lseek(file.rawValue, 0, SEEK_SET) == 0 else {
      throw .file("write", temporaryPath, errno)
    }
  }

  /// A file of its own, to be read from its start.
  package func reopened() throws(GodwitError) -> FileDescriptor { try .openForReading(temporaryPath) }

  package func write(_ bytes: [UInt8]) throws(GodwitError) {
    do {
      try bytes.withUnsafeBytes { try file.write($0) }
    } catch let error as GodwitError {
      throw error
    } catch {
      throw GodwitError(.fileAccess, "cannot write \(path)", underlying: error)
    }
  }

  /// Makes the content durable, then the name. Without `isDurable` a power cut may leave the old file, or one that is
  /// empty; whoever reads it must then know what to do.
  package func commit(isDurable: Bool = true) throws(GodwitError) {
    if isDurable { try file.synchronize() }
    try Self.replace(path, by: temporaryPath)
    isCommitted = true
    guard isDurable else { return }
    try PrivateFile.synchronizeFolder(FilePath.folder(of: path))
  }

  /// Gives a file another's place, when that is a plain file's.
  private static func replace(_ path: String, by temporaryPath: String) throws(GodwitError) {
    try requirePlace(path)
    guard rename(temporaryPath, path) == 0 else { throw .file("replace", path, errno) }
  }

  /// The same for a place that nobody has taken; false when somebody has.
  package func commitNew() throws(GodwitError) -> Bool {
    guard hasName else { return try commitNameless() }
    try file.synchronize()
    // renameat2 with RENAME_NOREPLACE is unknown to some file systems, and a hard link to others.
    guard link(temporaryPath, path) == 0 else {
      if errno == EEXIST { return false }
      guard !PrivateFile.exists(path) else { return false }
      try commit()
      return true
    }
    unlink(temporaryPath)
    isCommitted = true
    try PrivateFile.synchronizeFolder(FilePath.folder(of: path))
    return true
  }
}
