import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

extension TestGroup {
  /// The files of a replica that is closed.
  func path(_ index: Int) -> String { folder.file("replica-\(index)") }

  /// Copies a replica's folder, as a person or a backup program would.
  func copyFolder(_ index: Int, to name: String) throws -> String {
    let copy = folder.file(name)
    try FileManager.default.copyItem(atPath: path(index), toPath: copy)
    return copy
  }
}

extension Replica {
  func insertNotes(_ titles: [String]) async throws {
    for title in titles {
      var note = Note()
      note.title = title
      let made = note
      try await write { try $0.insert(made) }
    }
  }

  func titles() async throws -> [String] { try await fetch(Note.all).map(\.title).sorted() }

  func incarnation() async throws -> Incarnation.ID { try await status().incarnation }
}

@Suite("Copies and restored backups")
struct IncarnationTests {
  enum Backup: CaseIterable { case databaseAlone, wholeFolder }

  /// Puts an earlier state in the place of a replica that is closed.
  private func restore(_ copy: String, over path: String, _ backup: Backup) throws {
    switch backup {
    case .wholeFolder:
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.copyItem(atPath: copy, toPath: path)
    case .databaseAlone:
      for file in ["database", "database-wal", "database-shm"] {
        try? FileManager.default.removeItem(atPath: "\(path)/\(file)")
        if FileManager.default.fileExists(atPath: "\(copy)/\(file)") {
          try FileManager.default.copyItem(atPath: "\(copy)/\(file)", toPath: "\(path)/\(file)")
        }
      }
    }
  }

  @Test(
    "a backup is restored, its numbers about to be used again: a new incarnation, and what others have comes back",
    arguments: Backup.allCases)
  func restoredBackup(_ backup: Backup) async throws {
    let group = try await TestGroup(2)
    try await group[0].insertNotes(["old"])
    try await group.settle()
    let before = try await group[0].incarnation()
    await group[0].close()
    let copy = try group.copyFolder(0, to: "backup")
    var replica = try await TestGroup.open(group.path(0), group.clock)
    #expect(try await replica.incarnation() == before)
    try await replica.insertNotes(["lost 1", "lost 2"])
    try await carry(from: replica, to: group[1], in: group.folder)
    await replica.close()

    try restore(copy, over: group.path(0), backup)
    replica = try await TestGroup.open(group.path(0), group.clock)
    let after = try await replica.incarnation()
    #expect(after != before)
    try await replica.insertNotes(["new 1", "new 2", "new 3"])
    let there = try await carry(from: replica, to: group[1], in: group.folder)
    #expect(there.applied.transactions == 3 && there.attention.forks.isEmpty && there.waiting.missing.isEmpty)
    let back = try await carry(from: group[1], to: replica, in: group.folder)
    #expect(back.applied.transactions == 2 && back.attention.forks.isEmpty && back.attention.conflicts == 0)
    let all = ["lost 1", "lost 2", "new 1", "new 2", "new 3", "old"]
    #expect(try await replica.titles() == all)
    #expect(try await group[1].titles() == all)
    #expect(try await replica.maintenance.digest() == group[1].maintenance.digest())
    #expect(try await replica.maintenance.verify().problems == [])
    #expect(try await replica.incarnation() == after)
    // A round without writes sends nothing, once nothing is kept for what may live elsewhere.
    let name = try #require(try await replica.members.list().first { $0.isOwn }?.name)
    let lived = try await group[1].members.incarnations(of: name).filter { $0.id == before }
    #expect(lived.map(\.hasEnded) == [backup == .databaseAlone])
    if backup == .wholeFolder { try await group[1].members.end(before, of: name) }
    try await carry(from: replica, to: group[1], in: group.folder)
    #expect(try await carry(from: group[1], to: replica, in: group.folder).applied.duplicates == 0)
    await replica.close()
  }

  @Test("what waits beyond an end goes when a person ends the incarnation")
  func endedByPerson() async throws {
    let group = try await TestGroup(3)
    try await group.settle()
    try await group[2].insertNotes(["held"])
    try await group.send(from: 2, to: 0)
    let origin = try await group[2].withWriter { $0.log.origins.own }
    try await group[0].withWriter { writer in
      var context = VersionVector()
      context[Origin(replica: self.lost, incarnation: 1)] = SequenceNumber.none.next
      let record = TransactionRecord(
        dot: Dot(origin, writer.log.origins.vector[origin].next), hlc: HLC(rawValue: 1), schemaVersion: 0,
        context: context, changes: [])
      _ = try writer.inTransaction {
        try StagedTransactions(connection: writer.connection).add(
          StagedTransaction(record: record, context: context, chain: .zero))
      }
    }
    #expect(try await group[0].status().staged == 1)
    try await group[0].members.end(group[2].incarnation(), of: "replica-2")
    #expect(try await group[0].status().staged == 0)
  }

  private var lost: ReplicaID { ReplicaID(Identifier128(high: 9, low: 9)) }

  @Test("edits of rows from the earlier incarnation win, and deletes find them")
  func oldRows() async throws {
    let group = try await TestGroup(2)
    try await group[0].insertNotes(["a", "b"])
    try await group[0].write { _ = try $0.execute("UPDATE note SET views = 1") }
    await group[0].close()
    let copy = try group.copyFolder(0, to: "backup")
    try restore(copy, over: group.path(0), .wholeFolder)
    let replica = try await TestGroup.open(group.path(0), group.clock)
    try await replica.write { transaction in
      _ = try transaction.execute("UPDATE note SET views = 2")
      _ = try transaction.execute("DELETE FROM note WHERE title = 'b'")
    }
    let report = try await carry(from: replica, to: group[1], in: group.folder)
    #expect(report.applied.transactions == 4 && report.attention.conflicts == 0)
    #expect(try await group[1].fetch(Note.all).map(\.views) == [2])
    #expect(try await replica.maintenance.digest() == group[1].maintenance.digest())
    await replica.close()
  }

  @Test("a database copied to a second machine: both write, everything converges, counts are exact")
  func copied() async throws {
    let group = try await TestGroup(2)
    try await group[0].insertNotes(["both"])
    try await group.settle()
    let before = try await group[0].incarnation()
    await group[0].close()
    let path = try group.copyFolder(0, to: "copy")
    let original = try await TestGroup.open(group.path(0), group.clock)
    let copy = try await TestGroup.open(path, group.clock)
    #expect(try await original.incarnation() == before)
    #expect(try await copy.incarnation() != before)

    try await original.insertNotes(["original 1", "original 2"])
    try await copy.insertNotes(["copy 1", "copy 2", "copy 3"])
    var forks: [MergeReport.Fork] = []
    for _ in 0..<2 {
      for (sender, receiver) in [(original, group[1]), (group[1], original), (copy, group[1]), (group[1], copy)] {
        forks += try await carry(from: sender, to: receiver, in: group.folder).attention.forks
      }
    }
    #expect(forks.isEmpty)
    let all = ["both", "copy 1", "copy 2", "copy 3", "original 1", "original 2"]
    for replica in [original, copy, group[1]] {
      #expect(try await replica.titles() == all)
      #expect(try await replica.maintenance.digest() == group[1].maintenance.digest())
      #expect(try await replica.status().staged == 0)
    }
    for replica in [original, copy] { await replica.close() }
  }

  @Test("opening again, with and without writes, keeps the incarnation")
  func reopened() async throws {
    let group = try await TestGroup(1)
    let first = try await group[0].incarnation()
    await group[0].close()
    for round in 0..<6 {
      let replica = try await TestGroup.open(group.path(0), group.clock)
      if !round.isMultiple(of: 3) { try await replica.insertNotes(["round \(round)"]) }
      if round.isMultiple(of: 2) { _ = try await replica.export(to: .file(group.folder.file("\(round).sync"))) }
      #expect(try await replica.incarnation() == first)
      await replica.close()
    }
  }

  @Test("two openings of one folder at a time are not taken for copies of each other")
  func shared() async throws {
    let group = try await TestGroup(1)
    let first = try await group[0].incarnation()
    let other = try await TestGroup.open(group.path(0), group.clock)
    for round in 0..<3 {
      try await group[0].insertNotes(["here \(round)"])
      try await other.insertNotes(["there \(round)"])
    }
    await group[0].close()
    await other.close()
    let again = try await TestGroup.open(group.path(0), group.clock)
    #expect(try await again.incarnation() == first)
    #expect(try await again.count(Note.all) == 6)
    await again.close()
  }

  @Test("opening to read changes nothing, of a copy either")
  func readOnly() async throws {
    let group = try await TestGroup(1)
    try await group[0].insertNotes(["one"])
    let first = try await group[0].incarnation()
    await group[0].close()
    let copy = try group.copyFolder(0, to: "copy")
    for path in [group.path(0), copy] {
      let anchor = "\(path)/keyring.anchor"
      let before = try Data(contentsOf: URL(fileURLWithPath: anchor))
      let replica = try await Replica.open(
        at: path, models: Folder.self, Note.self, Draft.self, configuration: .init(isReadOnly: true))
      #expect(try await replica.incarnation() == first)
      _ = try await replica.export(to: .file(group.folder.file("read-only.sync")))
      await replica.close()
      if path == copy { #expect(try Data(contentsOf: URL(fileURLWithPath: anchor)) == before) }
    }
    let replica = try await TestGroup.open(copy, group.clock)
    #expect(try await replica.incarnation() != first)
    await replica.close()
  }

  @Test("a database without its anchor is a copy; one from before there were anchors gets one")
  func missingAnchor() async throws {
    let group = try await TestGroup(1)
    try await group[0].insertNotes(["one"])
    let first = try await group[0].incarnation()
    try await group[0].withWriter { writer in
      try writer.connection.execute("DELETE FROM godwit_meta WHERE name IN ('nonce', 'clocked', 'ahead')")
      try writer.connection.execute("DROP TABLE godwit_ahead")
    }
    await group[0].close()
    let anchor = "\(group.path(0))/keyring.anchor"
    try FileManager.default.removeItem(atPath: anchor)

    let upgraded = try await TestGroup.open(group.path(0), group.clock)
    #expect(try await upgraded.incarnation() == first)
    #expect(FileManager.default.fileExists(atPath: anchor))
    try await upgraded.insertNotes(["two"])
    await upgraded.close()

    try FileManager.default.removeItem(atPath: anchor)
    let bereft = try await TestGroup.open(group.path(0), group.clock)
    #expect(try await bereft.incarnation() != first)
    #expect(try await bereft.count(Note.all) == 2)
    await bereft.close()
  }

  @Test(
    "a damaged anchor, another machine's and an empty one each lead to a new incarnation, not to a failure",
    arguments: [0, 20, 80, -1])
  func damagedAnchor(byte: Int) async throws {
    let group = try await TestGroup(1)
    try await group[0].insertNotes(["one"])
    let first = try await group[0].incarnation()
    await group[0].close()
    let path = "\(group.path(0))/keyring.anchor"
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    if byte < 0 {
      try file.truncate(atOffset: 0)
    } else {
      try file.seek(toOffset: UInt64(byte))
      try file.write(contentsOf: [0xA5])
    }
    try file.close()
    let replica = try await TestGroup.open(group.path(0), group.clock)
    #expect(try await replica.incarnation() != first)
    #expect(try await replica.titles() == ["one"])
    await replica.close()
  }

  @Test("a kill between writing anchor and database is not taken for a copy")
  func killedBetween() async throws {
    let group = try await TestGroup(1)
    let first = try await group[0].incarnation()
    for round in 0..<4 {
      // The anchor has its new nonce when the transaction is rolled back, and the database has not.
      let replica = try await TestGroup.open(group.path(0), group.clock)
      let anchor = try replica.folder.anchor.read()
      await #expect(throws: CancellationError.self) { try await replica.write { _ in throw CancellationError() } }
      #expect(try replica.folder.anchor.read() != anchor)
      if round.isMultiple(of: 2) { try await replica.insertNotes(["round \(round)"]) }
      await replica.close()
    }
    let replica = try await TestGroup.open(group.path(0), group.clock)
    #expect(try await replica.incarnation() == first)
    await replica.close()
  }

  @Test("kill -9 at any moment keeps the incarnation")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    try await KillSubject.kill(["write", path], after: 3)
    let account = try await Replica.open(at: path, models: [], configuration: .init(mustExist: true))
    let first = try await account.incarnation()
    await account.close()
    for steps in [0, 1, 2, 0, 1, 5, 0, 9] {
      try await KillSubject.kill(["write", path], after: steps)
      let replica = try await Replica.open(at: path, models: [], configuration: .init(mustExist: true))
      #expect(try await replica.incarnation() == first)
      await replica.close()
    }
  }

  @Test("a kill while a copy takes its new incarnation does not keep it from taking one")
  func killedCopy() async throws {
    let group = try await TestGroup(1)
    try await group[0].insertNotes(["one"])
    let first = try await group[0].incarnation()
    await group[0].close()
    // As after a kill between anchor and commit: the anchor knows the new incarnation, the database does not.
    let file = AnchorFile(path: "\(group.path(0))/keyring.anchor")
    try file.write(Anchor(nonces: [.random()], incarnation: 7), isDurable: false)
    let replica = try await TestGroup.open(group.path(0), group.clock)
    #expect(try await replica.incarnation() != first)
    await replica.close()
  }
}
