import Foundation
import GodwitBase

/// Keeps processes apart that exchange names in a folder of the user's, where no file of Godwit's may lie: an advisory
/// lock on the folder itself, held until the value goes away. Some file systems (NFS) have none; nothing is kept apart
/// there.
package final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Waits for the lock, so long at most. Throws `busy` when somebody keeps it: whoever may read the folder can take
  /// it.
  package init(_ path: String, patience: Duration = .seconds(10)) throws(GodwitError) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let end = ContinuousClock.now + patience
    while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EINTR || errno == EWOULDBLOCK {
      guard ContinuousClock.now < end else {
        close(descriptor)
        throw GodwitError(
          .busy, "another process holds a lock on the folder \(path)",
          hint: "try again when it is done, or write to a folder of your own")
      }
      usleep(5_000)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
