import Foundation
import Godwit
import GodwitStorage
import Testing

/// Closing any descriptor of a file takes the locks of whoever in this process has it open.
@Suite("The file of a database that is open")
struct OpenDatabaseTests {
  @Test("is not opened beside it, whatever it is taken for")
  func refused() async throws {
    let group = try await TestGroup(2)
    let path = "\(group[0].path)/database"
    let link = group.folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    for path in [path, link] {
      #expect(await code { try await group[0].import(from: .file(path)) } == .unsafeFile)
      #expect(await code { try await group[1].plan(importing: .file(path)) } == .unsafeFile)
      #expect(await code { try await Replica.restore(path, to: group.folder.file("x")) } == .unsafeFile)
      #expect(await code { try await group[1].export(to: .file(path)) } == .unsafeFile)
    }
    // Another process still finds it open.
    #expect(try DatabaseFile.isInUse(path))
    await group[0].close()
    #expect(await code { try await group[1].import(from: .file(path)) } != .unsafeFile)
  }
}

@Suite("Nothing that is written for others", .timeLimit(.minutes(1)))
struct WrittenPlaceTests {
  private let group: TestGroup
  private var replica: Replica { group[0] }
  private var folder: TemporaryFolder { group.folder }

  init() async throws { group = try await TestGroup(1) }

  /// What a replica can write to a path.
  private func writers(
    _ replica: Replica
  ) async throws -> [(name: String, write: @Sendable (String) async throws -> Void)] {
    let invited = try await Replica.identity(at: folder.file("invited"))
    return [
      ("export", { _ = try await replica.export(to: .file($0), includesAll: true) }),
      ("files", { _ = try await replica.export(to: .files($0, maximumByteCount: 65_536), includesAll: true) }),
      ("stateFile", { _ = try await replica.exportState(to: .file($0)) }),
      (
        "invite",
        { try await replica.members.invite(invited, name: "x", verification: .trustOnFirstUse, to: .file($0)) }
      ),
      ("backup", { _ = try await replica.maintenance.backup(to: $0) }),
      ("plaintext", { _ = try await replica.maintenance.exportPlaintext(to: $0) }),
      ("age key", { _ = try await replica.keyring.exportAgeKeys(to: $0) }),
    ]
  }

  private func contents(_ path: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where !name.hasSuffix("-shm") {
      contents[name] = FileManager.default.contents(atPath: "\(path)/\(name)")
    }
    return contents
  }

  @Test("takes the place of one of the replica's own files, however the path is spelt")
  func own() async throws {
    try await replica.write { try $0.insert(Note(title: "kept")) }
    let link = folder.file("link")
    try #require(symlink(replica.path, link) == 0)
    let name = (replica.path as NSString).lastPathComponent
    let folders = [replica.path, link, "\(folder.path)/./\(name)/../\(name)", "\(link)/../\(name)//"]
    let names = [
      "database", "database-wal", "DATABASE", "keyring", "keyring.anchor", "machine.key", "lock", "anything",
    ]
    _ = try await replica.cache("c").set("k", Data([1]))
    let before = try contents(replica.path)
    let writers = try await writers(replica)
    for path in folders + ["\(replica.path)/cache"] {
      for name in names {
        for (kind, write) in writers {
          let found = await code { try await write("\(path)/\(name)") }
          #expect(found == .invalidArgument, "\(kind) \(path)/\(name)")
        }
      }
    }
    #expect(try contents(replica.path) == before)
    #expect(try await replica.maintenance.verify().isSound)
    #expect(try await replica.members.list().count == 1)
  }

  @Test("takes the place of keys that lie elsewhere, whether they are there yet or not")
  func keysElsewhere() async throws {
    let keys = folder.file("keys")
    try FileManager.default.createDirectory(
      atPath: keys, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let source = Replica.KeySource.keyring(at: "\(keys)/ring", machineKey: "\(keys)/machine")
    let replica = try await Replica.open(
      at: folder.file("far"), models: Folder.self, Note.self, configuration: .init(key: source))
    let hardLink = folder.file("hard-link")
    try #require(link("\(keys)/ring.lock", hardLink) == 0)
    let before = try contents(keys)
    let names = ["ring", "ring.lock", "ring.anchor", "ring.anchor.lock", "machine", "machine.lock", "RING"]
    for place in names.map({ "\(keys)/\($0)" }) + [hardLink] {
      #expect(await code { try await replica.export(to: .file(place)) } == .invalidArgument, "\(place)")
      #expect(await code { try await replica.maintenance.backup(to: place) } == .invalidArgument, "\(place)")
    }
    #expect(try contents(keys) == before)
    _ = try await replica.export(to: .file("\(keys)/out"), includesAll: true)
    await replica.close()
  }

  @Test("takes the place of another replica's files")
  func another() async throws {
    let other = try await TestGroup.open(folder.file("other"))
    await other.close()
    let moved = folder.file("moved-keyring")
    try FileManager.default.copyItem(atPath: "\(other.path)/keyring", toPath: moved)
    let before = try contents(other.path)
    for place in ["database", "keyring", "keyring.anchor", "machine.key"].map({ "\(other.path)/\($0)" }) + [moved] {
      #expect(await code { try await replica.export(to: .file(place)) } == .unsafeFile, "\(place)")
      #expect(await code { try await replica.maintenance.backup(to: place) } == .unsafeFile, "\(place)")
      #expect(await code { try MigrationFileTests.everyStep.write(to: place) } == .unsafeFile, "\(place)")
    }
    #expect(try contents(other.path) == before)
    _ = try await replica.export(to: .file("\(other.path)/from-a-friend"), includesAll: true)
  }

  @Test("of migrations replaces anything but migrations")
  func migrations() async throws {
    let path = folder.file("migrations")
    try MigrationFileTests.everyStep.write(to: path)
    try MigrationFileTests.everyStep.write(to: path)
    for content in ["", "text", "{}", "\u{0}\u{1}"] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: path))
      #expect(
        await code { try MigrationFileTests.everyStep.write(to: path) } == (content.isEmpty ? nil : .unsafeFile))
      #expect(content.isEmpty || FileManager.default.contents(atPath: path) == Data(content.utf8))
    }
  }
}
