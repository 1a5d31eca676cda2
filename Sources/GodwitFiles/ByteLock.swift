import Foundation
import GodwitBase

/// A lock on one byte of a file, between processes and between the tasks of one: whoever opened the file for it holds
/// it, and the kernel frees it with the last of that process (fcntl(2), "Open file description locks").
package final class ByteLock: Sendable {
  private let file: FileDescriptor

  private static let setLock: Int32 = 37  // F_OFD_SETLK, which Glibc's module shows only with _GNU_SOURCE

  private init(_ file: FileDescriptor) { self.file = file }

  /// The lock, or nil when somebody else has it. Makes the file when it is missing.
  package static func take(_ path: String, byte: Int64) throws(GodwitError) -> ByteLock? {
    try PrivateFile.requireOwn(path)
    let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file("open the lock", path, errno) }
    let file = FileDescriptor(descriptor, path: path)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(byte)
    lock.l_len = 1
    guard fcntl(descriptor, setLock, &lock) != 0 else { return ByteLock(file) }
    guard errno == EAGAIN || errno == EACCES else { throw .file("take the lock", path, errno) }
    return nil
  }
}
