import Foundation
import GodwitBase
import TestFolders
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// A small file system of its own, which only root can mount.
private final class SmallDisk {
  let folder: TemporaryFolder
  private let detached: Int32 = 2  // MNT_DETACH

  static let canMount: Bool = {
    guard geteuid() == 0, let disk = try? SmallDisk() else { return false }
    return withExtendedLifetime(disk) { true }
  }()

  init() throws {
    folder = try TemporaryFolder()
    guard mount("godwit-test", folder.path, "tmpfs", 0, "size=256k,mode=700") == 0 else {
      throw CocoaError(.featureUnsupported)
    }
  }

  deinit {
    TestFolder.search(folder.path)
    umount2(folder.path, detached)
  }

  /// Leaves so many free pages.
  func fill(butPages pages: Int) throws {
    let page = [UInt8](repeating: 1, count: 4_096)
    let descriptor = open(folder.path("filler"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    var count = 0
    while write(descriptor, page, page.count) > 0 { count += page.count }
    try #require(errno == ENOSPC)
    try #require(ftruncate(descriptor, off_t(max(0, count / page.count - pages) * page.count)) == 0)
  }
}

@Suite("A keyring on a full disk", .enabled(if: SmallDisk.canMount, "a small file system cannot be mounted here"))
struct KeyringDiskTests {
  @Test("a change that finds no room leaves the keyring as it was, whatever it wrote before", arguments: 0...4)
  func update(pages: Int) throws {
    let disk = try SmallDisk()
    let location = KeyringLocation(keyring: disk.folder.path("keyring"), machineKey: disk.folder.path("machine-key"))
    let identity = try newIdentity()
    try Keyring.create(at: location, contents: KeyringContents(identity: identity))
    let entry = KeyringEntry(tag: 1, bytes: SecretBytes(random: 20_000))
    let before = try readFile(location.keyring)
    try disk.fill(butPages: pages)
    #expect(code { try Keyring.update(at: location) { $0.entries = [entry] } } == .diskFull)
    #expect(try readFile(location.keyring) == before)
    let files = try FileManager.default.contentsOfDirectory(atPath: disk.folder.path)
    #expect(Set(files) == ["keyring", "keyring.lock", "machine-key", "machine-key.lock", "filler"])
    try FileManager.default.removeItem(atPath: disk.folder.path("filler"))
    try Keyring.update(at: location) { $0.entries = [entry] }
    #expect(try Keyring.open(at: location).entries == [entry])
  }

  @Test("a keyring that cannot be made is not there, and can be made later", arguments: 0...3)
  func create(pages: Int) throws {
    let disk = try SmallDisk()
    let location = KeyringLocation(keyring: disk.folder.path("keyring"), machineKey: disk.folder.path("machine-key"))
    let entry = KeyringEntry(tag: 1, bytes: SecretBytes(random: 20_000))
    let contents = KeyringContents(identity: try newIdentity(), entries: [entry])
    try disk.fill(butPages: pages)
    #expect(code { try Keyring.create(at: location, contents: contents) } == .diskFull)
    #expect(!FileManager.default.fileExists(atPath: location.keyring))
    try FileManager.default.removeItem(atPath: disk.folder.path("filler"))
    try Keyring.create(at: location, contents: contents)
    #expect(try Keyring.open(at: location).entries == [entry])
  }
}
