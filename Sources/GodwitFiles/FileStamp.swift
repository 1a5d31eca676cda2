import Foundation

/// What stat(2) says of a file, to know without reading it that nothing was written since.
///
/// A file's time has steps of some milliseconds, so that a write soon after another may leave no trace but in its
/// bytes. Only a stamp whose file had rested for a second says that nothing was written (as git has it for its index,
/// git-scm.com/docs/racy-git).
package struct FileStamp: Sendable {
  private static let rest: Int64 = 1_000_000_000

  private let device: UInt64
  private let file: UInt64
  private let size: Int64
  private let nanoseconds: Int64
  private let hasRested: Bool

  /// Of the file at a path. That of a file that is not there proves nothing.
  package init(of path: String) {
    var status = stat()
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    guard stat(path, &status) == 0 else {
      (device, file, size, nanoseconds, hasRested) = (0, 0, -1, 0, false)
      return
    }
    device = UInt64(status.st_dev)
    file = UInt64(status.st_ino)
    size = Int64(status.st_size)
    nanoseconds = Self.nanoseconds(status.st_mtim)
    // One from the future has not rested, whoever has set the clock back.
    hasRested = Self.nanoseconds(now) &- nanoseconds > Self.rest
  }

  /// Whether nothing was written between this stamp and a later one.
  package func proves(_ later: FileStamp) -> Bool {
    hasRested && device == later.device && file == later.file && size == later.size
      && nanoseconds == later.nanoseconds
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
