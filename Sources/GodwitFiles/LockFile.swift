import Foundation
import GodwitBase

/// An advisory lock on a file of its own, held until the value goes away (flock(2); freed when the process ends).
package final class LockFile: Sendable {
  private let file: FileDescriptor

  /// Waits for the lock. The lock file itself is never removed, so two processes always lock the same one.
  package init(_ path: String) throws(GodwitError) {
    file = try Self.open(path)
    guard try Self.take(file, LOCK_EX) else { throw .file("take the lock", path, errno) }
  }

  /// The lock once nobody else has it, or nil when somebody still does after so long.
  ///
  /// - Parameters:
  ///   - isShared: Whether others may share it, who want no more either.
  ///   - milliseconds: How long to wait; 0 for not at all.
  package init?(_ path: String, isShared: Bool, waitingMilliseconds milliseconds: Int) throws(GodwitError) {
    file = try Self.open(path)
    var isTaken = false
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    repeat {
      isTaken = try Self.take(file, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB)
      guard !isTaken, milliseconds > 0 else { break }
      usleep(2_000)
    } while ContinuousClock.now < end
    guard isTaken else { return nil }
  }

  deinit { flock(file.rawValue, LOCK_UN) }

  private static func open(_ path: String) throws(GodwitError) -> FileDescriptor {
    try PrivateFile.requireOwn(path)
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file("open the lock", path, errno) }
    let file = FileDescriptor(descriptor, path: path)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & 0o777 == 0o600 || fchmod(descriptor, 0o600) == 0 else {
      throw .file("protect the lock", path, errno)
    }
    return file
  }

  /// False when somebody else has it and the operation does not wait.
  private static func take(_ file: FileDescriptor, _ operation: Int32) throws(GodwitError) -> Bool {
    while flock(file.rawValue, operation) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw .file("take the lock", file.path, errno) }
    }
    return true
  }
}
