import Foundation
import GodwitKeys
import GodwitStorage
import Synchronization
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Restoring a backup", .timeLimit(.minutes(2)))
struct RestoreTests {
  @Test("takes a new incarnation by itself, and what others hold of the former comes back")
  func incarnation() async throws {
    let group = try await TestGroup(2)
    let file = group.folder.file("backup")
    try await group[0].write { try $0.insert(Note(title: "one")) }
    _ = try await group[0].maintenance.backup(to: file)
    try await group[0].write { try $0.insert(Note(title: "two")) }
    try await group.send(from: 0, to: 1)
    let former = try await group[0].status().incarnation
    try await group.send(from: 1, to: 0)
    await group[0].close()

    // What the other acknowledged is not only here.
    try await Replica.restore(file, to: group[0].path)
    let restored = try await TestGroup.open(group[0].path, group.clock)
    #expect(try await restored.fetch(Note.all).map(\.title) == ["one"])
    try await restored.write { try $0.insert(Note(title: "three")) }
    #expect(try await restored.status().incarnation != former)
    let (there, back) = (group.folder.file("there"), group.folder.file("back"))
    _ = try await restored.export(to: .file(there), includesAll: true)
    #expect(try await group[1].import(from: .file(there)).attention.forks.isEmpty)
    _ = try await group[1].export(to: .file(back), includesAll: true)
    _ = try await restored.import(from: .file(back))
    #expect(Set(try await restored.fetch(Note.all).map(\.title)) == ["one", "two", "three"])
    #expect(try await restored.maintenance.digest() == group[1].maintenance.digest())
    // The incarnation that lived in this place before has ended.
    #expect(try await restored.members.incarnations().first { $0.id == former }?.hasEnded == true)
    await restored.close()
    await group[1].close()
  }

  @Test("loses nothing that is nowhere else, unless that is wanted")
  func unsent() async throws {
    let group = try await TestGroup(2)
    let file = group.folder.file("backup")
    try await group[0].write { try $0.insert(Note(title: "one")) }
    _ = try await group[0].maintenance.backup(to: file)
    for title in ["two", "three"] { try await group[0].write { try $0.insert(Note(title: title)) } }
    try await group.send(from: 0, to: 1)
    try await group[0].write { try $0.insert(Note(title: "four")) }
    // The other holds two and three, which is not known here before it says so.
    func refused(_ count: Int) async throws {
      await group[0].close()
      let error = await error { try await Replica.restore(file, to: group[0].path) }
      #expect(error?.code == .unsentTransactions)
      #expect(error?.message.contains("holds \(count) of its own transactions") == true)
      let left = try FileManager.default.contentsOfDirectory(atPath: group[0].path).filter { $0.hasPrefix("database.") }
      #expect(left == [])
    }
    try await refused(3)
    let again = try await TestGroup.open(group[0].path, group.clock)
    #expect(try await again.count(Note.all) == 4)
    let back = group.folder.file("back")
    _ = try await group[1].export(to: .file(back))
    _ = try await again.import(from: .file(back))
    await again.close()
    try await refused(1)
    try await Replica.restore(file, to: group[0].path, discardingUnsent: true)
    let restored = try await TestGroup.open(group[0].path, group.clock)
    #expect(try await restored.count(Note.all) == 1)
    await restored.close()
    await group[1].close()
  }

  @Test("takes a new incarnation also when nothing was written since the backup")
  func sameState() async throws {
    let group = try await TestGroup(1)
    let file = group.folder.file("backup")
    try await group[0].write { try $0.insert(Note(title: "one")) }
    let former = try await group[0].status().incarnation
    _ = try await group[0].maintenance.backup(to: file)
    await group[0].close()
    try await Replica.restore(file, to: group[0].path)
    let restored = try await TestGroup.open(group[0].path)
    #expect(try await restored.status().incarnation != former)
    await restored.close()
  }

  @Test("is busy while anybody has the database open, and changes nothing")
  func busy() async throws {
    let group = try await TestGroup(1)
    let file = group.folder.file("backup")
    _ = try await group[0].maintenance.backup(to: file)
    try await group[0].write { try $0.insert(Note(title: "since")) }
    #expect(await code { try await Replica.restore(file, to: group[0].path) } == .busy)
    #expect(try await group[0].count(Note.all) == 1)
    await group[0].close()
    try await Replica.restore(file, to: group[0].path, discardingUnsent: true)
    let restored = try await TestGroup.open(group[0].path)
    #expect(try await restored.count(Note.all) == 0)
    await restored.close()
  }

  @Test("is busy while another process has it open")
  func busyElsewhere() async throws {
    let folder = try TemporaryFolder()
    let (path, file) = (folder.file("replica"), folder.file("backup"))
    #expect(try await KillSubject.run(["make", path], umask: "077") == 0)
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    let found = try await KillSubject.during(["write", path], after: 3) {
      await code { try await Replica.restore(file, to: path) }
    }
    #expect(found == .busy)
    #expect(try await Replica.restore(file, to: path, discardingUnsent: true).verification.isSound)
  }

  @Test("refuses the backup of another replica, and of another group's")
  func others() async throws {
    let group = try await TestGroup(2)
    let stranger = try await TestGroup(1)
    let (own, strange) = (group.folder.file("own"), group.folder.file("strange"))
    _ = try await group[0].maintenance.backup(to: own)
    _ = try await stranger[0].maintenance.backup(to: strange)
    for replica in group.replicas + stranger.replicas { await replica.close() }
    let keys = Replica.KeySource.keyring(openedBy: [
      .machineKey(at: "\(group[0].path)/machine.key"), .machineKey(at: "\(group[1].path)/machine.key"),
      .machineKey(at: "\(stranger[0].path)/machine.key"),
    ])
    #expect(await code { try await Replica.restore(own, to: group[1].path, key: keys) } == .replicaExists)
    #expect(await code { try await Replica.restore(strange, to: group[1].path, key: keys) } == .replicaExists)
    let again = try await TestGroup.open(group[1].path)
    #expect(try await again.maintenance.verify().isSound)
    await again.close()
  }

  @Test("of a backup from before a rekey does not bring the old key back")
  func afterRekey() async throws {
    let group = try await TestGroup(1)
    let file = group.folder.file("backup")
    try await group[0].write { try $0.insert(Note(title: "one")) }
    let old = try await group[0].databaseKey()
    let digest = try await group[0].maintenance.digest()
    _ = try await group[0].maintenance.backup(to: file)
    try await group[0].maintenance.rekey()
    try await group[0].write { _ = try $0.delete(Note.all) }
    let key = try await group[0].databaseKey()
    await group[0].close()

    let report = try await Replica.restore(file, to: group[0].path, discardingUnsent: true)
    #expect(!report.hasRestoredKeyring && report.verification.digest == digest)
    #expect(throws: GodwitError.self) { try Connection(path: old.path, key: old.key, mode: .reader) }
    #expect(throws: Never.self) { try Connection(path: key.path, key: key.key, mode: .reader) }
    let again = try await TestGroup.open(group[0].path)
    #expect(try await again.fetch(Note.all).map(\.title) == ["one"])
    await again.close()
    let left = try FileManager.default.contentsOfDirectory(atPath: group[0].path).filter { $0.hasPrefix("database") }
    #expect(Set(left) == ["database", "database-gate"])
  }

  @Test("helps where the database is lost or damaged, and keeps the keyring's members")
  func lostDatabase() async throws {
    let group = try await TestGroup(1)
    let file = group.folder.file("backup")
    try await group[0].write { try $0.insert(Note(title: "one")) }
    _ = try await group[0].maintenance.backup(to: file)
    let identity = try await Replica.identity(at: group.folder.file("laptop"))
    try await group[0].members.invite(
      identity, name: "laptop", verification: .trustOnFirstUse, to: .file(group.folder.file("invitation")))
    await group[0].close()
    for content in [nil, Data(repeating: 7, count: 8_192)] {
      try FileManager.default.removeItem(atPath: "\(group[0].path)/database")
      if let content {
        try content.write(to: URL(fileURLWithPath: "\(group[0].path)/database"))
        chmod("\(group[0].path)/database", 0o600)
      }
      try await Replica.restore(file, to: group[0].path)
      let restored = try await TestGroup.open(group[0].path)
      #expect(try await restored.members.list().map(\.name).contains("laptop"))
      #expect(try await restored.count(Note.all) == 1)
      await restored.close()
    }
  }

  @Test("without the keyring of what lies there loses nothing unasked either", arguments: [true, false])
  func lostKeyring(isOwn: Bool) async throws {
    let (group, stranger) = (try await TestGroup(1), try await TestGroup(1))
    let file = group.folder.file("backup")
    _ = try await (isOwn ? group : stranger)[0].maintenance.backup(to: file)
    try await group[0].write { try $0.insert(Note(title: "since")) }
    for replica in group.replicas + stranger.replicas { await replica.close() }
    let (path, kept) = (group[0].path, group.folder.file("kept"))
    try FileManager.default.moveItem(atPath: "\(path)/keyring", toPath: kept)
    let key = Replica.KeySource.keyring(openedBy: [
      .machineKey(at: "\(path)/machine.key"), .machineKey(at: "\(stranger[0].path)/machine.key"),
    ])
    let refusal = await error { try await Replica.restore(file, to: path, key: key) }
    #expect(refusal?.code == (isOwn ? .unsentTransactions : .missingKeyring), "\(String(describing: refusal))")
    #expect(!FileManager.default.fileExists(atPath: "\(path)/keyring"))
    try FileManager.default.copyItem(atPath: kept, toPath: "\(path)/keyring")
    let again = try await TestGroup.open(path, group.clock)
    #expect(try await again.count(Note.all) == 1)
    await again.close()
    try FileManager.default.removeItem(atPath: "\(path)/keyring")
    try await Replica.restore(file, to: path, key: key, discardingUnsent: true)
  }

  @Test("names a damaged keyring that lies there, and the backup's takes its place once it is moved away")
  func damagedKeyring() async throws {
    let group = try await TestGroup(1)
    let file = group.folder.file("backup")
    _ = try await group[0].maintenance.backup(to: file)
    await group[0].close()
    let keyring = "\(group[0].path)/keyring"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: keyring))
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: URL(fileURLWithPath: keyring))
    let refusal = await error { try await Replica.restore(file, to: group[0].path) }
    #expect(refusal?.code == .damagedKeyring && refusal?.message.contains(keyring) == true)
    #expect(refusal?.hint?.contains("move it away") == true)
    try FileManager.default.removeItem(atPath: keyring)
    #expect(try await Replica.restore(file, to: group[0].path).hasRestoredKeyring)
  }

  /// With another key the backup is copied once more, and that takes time in which nothing is looked at.
  @Test("finds what a program with idle files writes meanwhile")
  func idleProgram() async throws {
    let group = try await TestGroup(1)
    let (file, path) = (group.folder.file("backup"), group[0].path)
    try await group[0].write { try $0.insert(Note(title: "one")) }
    _ = try await group[0].maintenance.backup(to: file)
    try await group[0].maintenance.rekey()
    await group[0].close()
    let program = try await Replica.open(
      at: path, models: Folder.self, Note.self, Scribble.self, configuration: .init(idleTimeout: .milliseconds(20)))
    let log = "\(path)/database-wal"
    @Sendable func waitUntilIdle() { while FileManager.default.fileExists(atPath: log) { usleep(10_000) } }
    waitUntilIdle()
    let done = DispatchSemaphore(value: 0)
    let hasBegun = Atomic(false)
    let refusal = await error {
      try await Replica.restore(file, to: path) { fraction in
        guard fraction > 0.5, !hasBegun.exchange(true, ordering: .relaxed) else { return }
        Task {
          try await program.write { try $0.insert(Note(title: "meanwhile")) }
          done.signal()
        }
        done.wait()
        waitUntilIdle()
      }
    }
    #expect(refusal?.code == .busy, "\(String(describing: refusal))")
    #expect(refusal?.message.contains("meanwhile") == true)
    #expect(try await program.fetch(Note.all).map(\.title).sorted() == ["meanwhile", "one"])
    await program.close()
  }

  @Test("loses no rows of tables that are in no log, unless that is wanted")
  func localRows() async throws {
    let folder = try TemporaryFolder()
    let (path, file) = (folder.file("replica"), folder.file("backup"))
    let replica = try await Replica.open(at: path, models: [Scribble.self], configuration: .init())
    try await replica.write { transaction in
      try transaction.execute("CREATE TABLE seen (at INTEGER)")
      try transaction.insert(Scribble(id: 1, text: "kept"))
    }
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    try await Replica.restore(file, to: path)
    for (sql, undo): (SQL, SQL) in [
      ("INSERT INTO scribble VALUES (2, 'new')", "DELETE FROM scribble WHERE id = 2"),
      ("INSERT INTO seen VALUES (7)", "DELETE FROM seen"),
    ] {
      let open = try await Replica.open(at: path, models: [Scribble.self], configuration: .init(mustExist: true))
      try await open.write { try $0.execute(sql) }
      await open.close()
      #expect(await code { try await Replica.restore(file, to: path) } == .unsentTransactions)
      let again = try await Replica.open(at: path, models: [Scribble.self], configuration: .init(mustExist: true))
      try await again.write { try $0.execute(undo) }
      await again.close()
    }
    try await Replica.restore(file, to: path, discardingUnsent: true)
  }

  /// An exchange distinguishes files by what they begin with.
  @Test("twice in turn has the database begin otherwise each time")
  func twice() async throws {
    let group = try await TestGroup(1)
    let file = group.folder.file("backup")
    try await group[0].write { try $0.insert(Note(title: "one")) }
    _ = try await group[0].maintenance.backup(to: file)
    await group[0].close()
    var before = try DatabaseFile.salt("\(group[0].path)/database")
    for _ in 0..<4 {
      try await Replica.restore(file, to: group[0].path)
      let salt = try DatabaseFile.salt("\(group[0].path)/database")
      #expect(salt != nil && salt != before)
      before = salt
    }
    let restored = try await TestGroup.open(group[0].path, group.clock)
    #expect(try await restored.fetch(Note.all).map(\.title) == ["one"])
    await restored.close()
  }
}

/// Stays on its machine.
private struct Scribble: Model {
  static let schema = Schema<Self>("scribble", sync: .local) { Column("text", \.text) }
  var id = 0
  var text = ""
}
