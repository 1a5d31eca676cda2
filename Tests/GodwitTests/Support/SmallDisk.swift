import Foundation
import TestFolders
import Testing

/// A small file system of its own, which only root can mount.
final class SmallDisk: Sendable {
  let folder: TemporaryFolder
  private let detached: Int32 = 2  // MNT_DETACH
  var filler: String { "\(folder.path)/filler" }

  static let canMount: Bool = {
    guard geteuid() == 0, let disk = try? SmallDisk() else { return false }
    withExtendedLifetime(disk) {}
    return true
  }()

  init(megabytes: Int = 3) throws {
    folder = try TemporaryFolder()
    guard mount("godwit-test", folder.path, "tmpfs", 0, "size=\(megabytes)m,mode=700") == 0 else {
      throw CocoaError(.featureUnsupported)
    }
  }

  deinit {
    TestFolder.search(folder.path)
    umount2(folder.path, detached)
  }

  func remount(isReadOnly: Bool) throws {
    let flags: UInt = 32 | (isReadOnly ? 1 : 0)  // MS_REMOUNT, MS_RDONLY
    try #require(mount("godwit-test", folder.path, "tmpfs", flags, nil) == 0)
  }

  /// Leaves no free byte.
  func fill() throws {
    let descriptor = open(filler, O_WRONLY | O_CREAT, 0o600)
    defer { close(descriptor) }
    let block = [UInt8](repeating: 1, count: 1_024)
    while write(descriptor, block, block.count) > 0 {}
    try #require(errno == ENOSPC)
  }
}
