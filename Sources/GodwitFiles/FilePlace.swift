import Foundation
import GodwitBase

/// Where a file lies on its file system, which no copy of it shares: the inode, and its generation on file systems that
/// have one, because the numbers of inodes are used again.
package struct FilePlace: Hashable, Sendable {
  package let inode: UInt64
  /// 0 where the file system has none.
  package let generation: UInt32

  package init(inode: UInt64, generation: UInt32) {
    self.inode = inode
    self.generation = generation
  }
}

extension FileDescriptor {
  package func place() throws(GodwitError) -> FilePlace {
    var status = stat()
    guard fstat(rawValue, &status) == 0 else { throw .file("read the state of", path, errno) }
    // FS_IOC_GETVERSION, _IOR('v', 1, long): Linux, ioctl_iflags(2). Kernels write an int.
    let request = UInt(2) << 30 | UInt(MemoryLayout<CLong>.size) << 16 | UInt(UInt8(ascii: "v")) << 8 | 1
    var generation: CLong = 0
    if ioctl(rawValue, request, &generation) != 0 { generation = 0 }
    return FilePlace(inode: UInt64(status.st_ino), generation: UInt32(truncatingIfNeeded: generation))
  }
}
