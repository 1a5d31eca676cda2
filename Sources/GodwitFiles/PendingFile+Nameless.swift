import Foundation
import GodwitBase

extension PendingFile {
  /// Gives the content a name that nobody has taken. A file that has lost its name cannot have another, so the content
  /// goes to one that never had any (open(2), O_TMPFILE; linkat(2)). Where the file system has no such files it goes to
  /// one under a temporary name, which a kill leaves until the next run.
  func commitNameless() throws(GodwitError) -> Bool {
    var source = file
    if let unnamed = try Self.unnamed(in: FilePath.folder(of: path)) {
      try unnamed.takeContent(of: source)
      try unnamed.synchronize()
      if linkat(AT_FDCWD, "/proc/self/fd/\(unnamed.rawValue)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 {
        try PrivateFile.synchronizeFolder(FilePath.folder(of: path))
        return true
      }
      if errno == EEXIST { return false }
      source = unnamed  // There is no /proc.
    }
    let named = try PendingFile(replacing: path)
    try named.file.takeContent(of: source)
    return try named.commitNew()
  }

  private static func unnamed(in folder: String) throws(GodwitError) -> FileDescriptor? {
    let unnamedFile = O_DIRECTORY | 0o20_000_000  // O_TMPFILE, which Glibc's module shows only with _GNU_SOURCE
    let descriptor = open(folder, unnamedFile | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    let file = FileDescriptor(descriptor, path: folder)
    guard fchmod(descriptor, 0o600) == 0 else { throw .file("protect a file in", folder, errno) }
    return file
  }
}

extension FileDescriptor {
  /// Moves all of a file's content here: from its end on, each piece cut off once it is copied, so that both together
  /// take little more room than one.
  fileprivate func takeContent(of other: FileDescriptor) throws(GodwitError) {
    var rest = try other.size()
    var buffer = [UInt8](repeating: 0, count: min(rest, 8 << 20))
    while rest > 0 {
      let start = max(0, (rest - 1) / buffer.count * buffer.count)
      let count = rest - start
      var done = 0
      while done < count {
        let offset = off_t(start + done)
        let moved = buffer.withUnsafeMutableBytes { bytes in
          let read = pread(other.rawValue, bytes.baseAddress, count - done, offset)
          return read > 0 ? pwrite(rawValue, bytes.baseAddress, read, offset) : read
        }
        guard moved > 0 || moved < 0 && errno == EINTR else { throw .file("write", path, moved == 0 ? EIO : errno) }
        done += max(0, moved)
      }
      guard ftruncate(other.rawValue, off_t(start)) == 0 else { throw .file("cut", other.path, errno) }
      rest = start
    }
  }
}
