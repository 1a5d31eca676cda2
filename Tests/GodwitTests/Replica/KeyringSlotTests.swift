import Foundation
import Godwit
import GodwitKeys
import Testing

@Suite("A replica's keyring")
struct KeyringSlotTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("replica") }
  private var keyring: ReplicaKeyring { ReplicaKeyring(at: path) }

  init() throws { folder = try TemporaryFolder() }

  private func open(_ secrets: SlotSecret...) async throws -> Replica {
    try await Replica.open(
      at: path, models: Folder.self, Note.self, configuration: .init(key: .keyring(openedBy: secrets)))
  }

  /// The keyring as it was before a change, where the database has been opened with it before and after.
  private func keyringBefore(_ change: () async throws -> Void) async throws -> Data {
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    let earlier = try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring"))
    try await change()
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    return earlier
  }

  @Test("is asked for its secrets while nothing is locked")
  func asking() async throws {
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    try await keyring.add(label: "desk", openedBy: [.passphrase("correct horse")])
    try FileManager.default.removeItem(atPath: "\(path)/machine.key")
    nonisolated(unsafe) var locked: [String] = []
    let path = path
    let replica = try await open(
      .passphrase {
        for name in ["lock", "keyring.lock"] {
          let file = Foundation.open("\(path)/\(name)", O_RDWR)
          if flock(file, LOCK_EX | LOCK_NB) != 0 { locked.append(name) }
          close(file)
        }
        return Array("correct horse".utf8)
      })
    await replica.close()
    _ = try await Replica.identity(
      at: path,
      key: .keyring(openedBy: [
        .passphrase {
          let file = Foundation.open("\(path)/lock", O_RDWR)
          if flock(file, LOCK_EX | LOCK_NB) != 0 { locked.append("lock, for an identity") }
          close(file)
          return Array("correct horse".utf8)
        }
      ]))
    #expect(locked.isEmpty)
  }

  @Test("opens by a passphrase that is asked for once, whatever the replica does")
  func passphrase() async throws {
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    try await keyring.add(label: "desk", openedBy: [.passphrase("correct horse")])
    try FileManager.default.removeItem(atPath: "\(path)/machine.key")
    nonisolated(unsafe) var count = 0
    let replica = try await open(
      .machineKey(at: "\(path)/machine.key"),
      .passphrase {
        count += 1
        return Array("correct horse".utf8)
      })
    try await replica.write { try $0.insert(Note(title: "x")) }
    _ = try await replica.members.list()
    _ = try await replica.export(to: .file(folder.file("out")))
    await replica.close()
    #expect(count == 1)
    #expect(await code { try await open(.passphrase("wrong horses")) } == .noKeyFits)
  }

  @Test("can begin with a recovery code, and then there is no machine key file")
  func withoutMachineKey() async throws {
    let recovery = ReplicaKeyring.newRecoveryCode()
    await (try open(.recoveryCode(recovery))).close()
    #expect(!FileManager.default.fileExists(atPath: "\(path)/machine.key"))
    await (try open(.recoveryCode(recovery))).close()
    #expect(await code { try await Replica.open(at: path, models: Folder.self, Note.self) } == .noKeyFits)
  }

  @Test("that was put back to an earlier state is refused until a person accepts it")
  func rollback() async throws {
    let earlier = try await keyringBefore { try await keyring.rotateMasterKey() }
    let later = try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring"))

    try earlier.write(to: URL(fileURLWithPath: "\(path)/keyring"))
    let error = await failure { try await Replica.open(at: path, models: Folder.self, Note.self) }
    #expect(error?.code == .rolledBackKeyring)
    #expect(error?.hint?.contains("godwit keyring accept") == true)
    #expect(
      await code {
        try await Replica.open(at: path, models: Folder.self, Note.self, configuration: .init(isReadOnly: true))
      }
        == .rolledBackKeyring)
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring")) == earlier)

    try later.write(to: URL(fileURLWithPath: "\(path)/keyring"))
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    try earlier.write(to: URL(fileURLWithPath: "\(path)/keyring"))
    try await keyring.accept()
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    try later.write(to: URL(fileURLWithPath: "\(path)/keyring"))
    #expect(await code { try await Replica.open(at: path, models: Folder.self, Note.self) } == .rolledBackKeyring)
  }

  @Test("that was put back is refused by a restore, too, whose database may know of none")
  func rollbackByRestore() async throws {
    let opened = try await Replica.open(at: path, models: Folder.self, Note.self)
    let file = folder.file("backup")
    _ = try await opened.maintenance.backup(to: file)
    await opened.close()
    let earlier = try await keyringBefore { try await keyring.rotateMasterKey() }
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    try earlier.write(to: URL(fileURLWithPath: "\(path)/keyring"))
    for discarding in [false, true] {
      #expect(
        await code { try await Replica.restore(file, to: path, discardingUnsent: discarding) } == .rolledBackKeyring)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring")) == earlier)
    // Who says that it is the right one gets the backup.
    try await keyring.accept()
    #expect(try await Replica.restore(file, to: path, discardingUnsent: true).verification.isSound)
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
  }

  @Test("that was put back is refused before the database takes another incarnation")
  func rollbackBeforeIncarnation() async throws {
    let earlier = try await keyringBefore { try await keyring.rotateMasterKey() }
    let anchor = "\(path)/keyring.anchor"
    try FileManager.default.removeItem(atPath: anchor)
    try earlier.write(to: URL(fileURLWithPath: "\(path)/keyring"))
    #expect(await code { try await Replica.open(at: path, models: Folder.self, Note.self) } == .rolledBackKeyring)
    #expect(!FileManager.default.fileExists(atPath: anchor))
  }

  @Test("that was put back is changed by nothing, for the next generation would hide it")
  func changeOfRolledBack() async throws {
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    try await keyring.add(label: "stolen", openedBy: [.passphrase("correct horse")])
    let earlier = try await keyringBefore { try await keyring.remove("stolen") }

    try earlier.write(to: URL(fileURLWithPath: "\(path)/keyring"))
    let paper = SlotSecret.recoveryCode(ReplicaKeyring.newRecoveryCode())
    #expect(await code { try await keyring.add(label: "paper", openedBy: [paper]) } == .rolledBackKeyring)
    #expect(await code { try await keyring.rotateMasterKey() } == .rolledBackKeyring)
    #expect(await code { try await keyring.remove("stolen") } == .rolledBackKeyring)
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring")) == earlier)
    try await keyring.accept()
    try await keyring.remove("stolen")
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
  }

  @Test("asks for each secret once, also where the database is asked what it knows")
  func askedOnce() async throws {
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
    try await keyring.add(label: "desk", openedBy: [.passphrase("correct horse")])
    nonisolated(unsafe) var count = 0
    let asking = ReplicaKeyring(
      at: path,
      key: .keyring(openedBy: [
        .passphrase {
          count += 1
          return Array("correct horse".utf8)
        }
      ]))
    try await asking.remove("machine")
    #expect(count == 1)
    await (try open(.passphrase("correct horse"))).close()
  }

  @Test("of before there were generations in the database opens")
  func unknownGeneration() async throws {
    let replica = try await Replica.open(at: path, models: Folder.self, Note.self)
    await replica.close()
    try await keyring.accept()
    await (try Replica.open(at: path, models: Folder.self, Note.self)).close()
  }

  @Test("killed at any time is the old one or the new one, and its generation never goes back")
  func kill() async throws {
    let group = try await TestGroup(1)
    let path = group[0].path
    await group[0].close()
    var random = SeededGenerator(seed: 5)
    var generation: UInt64 = 0
    var most = 0
    for round in 1...25 {
      let steps = try await KillSubject.kill(["keyring", path], after: Int.random(in: 0...12, using: &random))
      let location = KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key")
      let contents = try Keyring.open(at: location)
      #expect(contents.generation >= generation + UInt64(steps), "round \(round)")
      let slots = try Keyring.slots(at: location.keyring).slots.map(\.label)
      #expect(slots == ["machine"] || slots == ["machine", "paper"], "round \(round)")
      if slots.count == 2 { _ = try Keyring.removeSlot(at: location, "paper") }
      generation = try Keyring.open(at: location).generation
      most = max(most, steps)
    }
    #expect(most > 3)
    // Every start of a writer clears what the one before left; the last one's is cleared here.
    try Keyring.rotateMasterKey(
      at: KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key"))
    let files = try FileManager.default.contentsOfDirectory(atPath: path)
    #expect(!files.contains { $0.hasSuffix(".tmp") })
    await (try TestGroup.open(path)).close()
  }
}
