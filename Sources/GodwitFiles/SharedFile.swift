import Foundation
import GodwitBase
import Synchronization

/// A file of which this process has one descriptor, however many have it open.
///
/// Closing any descriptor of a file drops all of the process's POSIX locks on it, a library's own included
/// (sqlite.org, "How To Corrupt An SQLite Database File", section 2.2). So the one here closes only with the last of
/// those, and ``FileDescriptor`` opens no such file.
package final class SharedFile: Sendable {
  /// Which file it is while anybody has it open.
  package struct Key: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    package init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  private struct Entry {
    /// One; more where another name of the file was opened.
    var descriptors: [FileDescriptor]
    var holderCount = 0
  }
  private static let entries = Mutex<[Key: Entry]>([:])

  package let key: Key
  package let path: String
  package let rawValue: Int32

  private init(_ key: Key, _ descriptor: FileDescriptor) {
    self.key = key
    path = descriptor.path
    rawValue = descriptor.rawValue
  }

  deinit {
    Self.entries.withLock { entries in
      entries[key]?.holderCount -= 1
      if entries[key]?.holderCount == 0 { entries[key] = nil }
    }
  }

  /// Opens a private file, or shares it where this process has it open.
  package static func open(_ path: String) throws -> SharedFile {
    try entries.withLock { entries in
      var status = stat()
      var key = lstat(path, &status) == 0 ? Key(status) : nil
      if key.flatMap({ entries[$0] }) == nil {
        let descriptor = try PrivateFile.open(path)
        guard fstat(descriptor.rawValue, &status) == 0 else {
          throw GodwitError.file("read the state of", path, errno)
        }
        key = Key(status)
        entries[Key(status), default: Entry(descriptors: [])].descriptors.append(descriptor)
      }
      guard let key, let descriptor = entries[key]?.descriptors.first else {
        throw GodwitError.file("open", path, ENOENT)
      }
      entries[key]?.holderCount += 1
      return SharedFile(key, descriptor)
    }
  }

  /// Whether the file at the path, or where a link there leads, is one of those.
  package static func isOpen(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return entries.withLock { $0[Key(status)] != nil }
  }
}
