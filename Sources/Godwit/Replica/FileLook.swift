import Foundation
import GodwitBase

/// What a file looks like from outside: one that was exchanged or written to since looks otherwise.
struct FileLook: Equatable {
  private let device: UInt64
  private let inode: UInt64
  let byteCount: Int64
  private let seconds: Int64
  private let nanoseconds: Int64

  /// Nil where there is no file. Throws `fileAccess`.
  init?(_ path: String) throws(GodwitError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw .file("read the state of", path, errno) }
      return nil
    }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    byteCount = Int64(status.st_size)
    seconds = Int64(status.st_mtim.tv_sec)
    nanoseconds = Int64(status.st_mtim.tv_nsec)
  }
}
