import Foundation

/// Keeps processes apart that exchange names in a folder of the user's, where no file of Godwit's may lie: an advisory
/// lock on the folder itself, held until the value goes away. Some file systems (NFS) have none; nothing is kept apart
/// there.
package final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Waits for the lock.
  package init(_ path: String) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
