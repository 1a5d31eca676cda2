import Foundation
import GodwitBase

/// An advisory lock on a file of its own, held until the value goes away (flock(2); freed when the process ends).
package final class LockFile: Sendable {
  private let file: FileDescriptor

  /// Waits for the lock. The lock file itself is never removed, so two processes always lock the same one.
  package init(_ path: String) throws(GodwitError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file("open the lock", path, errno) }
    file = FileDescriptor(descriptor, path: path)
    guard fchmod(descriptor, 0o600) == 0 else { throw .file("protect the lock", path, errno) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw .file("take the lock", path, errno) }
    }
  }

  deinit { flock(file.rawValue, LOCK_UN) }
}
