import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

// Who is believed, and what two members have written.
extension ContainerVectorRecordingTests {
  /// Files of one whom a record in the file's own header makes a member, or does not.
  func recordAdmissions(_ scene: VectorScene) async throws {
    func generate() throws -> Identity {
      var random = SystemRandomNumberGenerator()
      return try Identity.generate(replica: ReplicaID(.random(using: &random)))
    }
    let (late, third, second) = (try generate(), try generate(), try generate())
    let group = scene.group[0].group
    func record(
      _ subject: Identity, _ status: MemberRecord.Status = .active, at time: Int64 = 1_800_000_000_000,
      by issuer: Identity, of group: GroupID = group,
      ground: ContentHash? = nil
    ) throws -> MemberRecord {
      try MemberRecord.issue(
        group: group, identity: subject.publicIdentity, name: "late", status: status, at: time, by: issuer,
        ground: ground ?? scene.records.first { $0.subject == issuer.replica }?.hash)
    }
    /// A file of the late one's, with these records besides.
    func file(
      _ records: [MemberRecord], names: [NameRecord] = [], histories: [IdentityHistory] = []
    ) throws -> [UInt8] {
      try scene.seal(
        Forgery.replaceHeader(of: scene.container, signedBy: late) { header in
          let others = header.roster.members.filter { known in !records.contains { $0.subject == known.subject } }
          let members = (others + records).sorted { $0.subject < $1.subject }
          return header.changing(
            sender: late.replica, roster: RosterRecords(members: members, names: names, histories: histories),
            acknowledgements: [])
        })
    }
    func forged(_ record: MemberRecord) throws -> MemberRecord {
      var writer = ByteWriter()
      record.encode(to: &writer)
      var reader = ByteReader(Forgery.flip(writer.bytes, fromEnd: 1))
      return try MemberRecord(reading: &reader)
    }
    let added = try record(late, by: scene.reader)
    try await good("added", "made by one whom the header's record makes a member", scene, [file([added])])
    try bad("record-forged", "whose member record has another signature", scene, .unknownSender, file([forged(added)]))
    try bad("record-own", "whose member record is by itself", scene, .unknownSender, file([record(late, by: late)]))
    try bad(
      "record-stranger", "whose member record is by nobody in the group", scene, .unknownSender,
      file([record(late, by: third)]))
    let other = GroupID(Identifier128(high: 1, low: 2))
    try bad(
      "record-other-group", "whose member record is of another group", scene, .unknownSender,
      file([record(late, by: scene.reader, of: other)]))
    let removed = try scene.trusting(record(third, .removed, at: 1_700_000_000_001, by: scene.reader))
    try bad(
      "record-by-removed", "whose member record is by a member that the reader knows to be removed", removed,
      .unknownSender, file([record(late, by: third)]))
    let thirdRecord = try record(third, at: 1_700_000_000_001, by: scene.reader)
    let present = scene.trusting(thirdRecord)
    let removal = try record(third, .removed, by: scene.reader)
    try bad(
      "added-by-removed", "whose member record is by a member whose removal in the same header does not name it",
      present,
      .unknownSender, file([removal, record(late, by: third, ground: thirdRecord.hash)]))
    let secondRecord = try record(second, by: scene.reader)
    try await good(
      "added-in-turn", "whose member record is by one whom the same header makes a member", scene,
      [file([record(late, by: second, ground: secondRecord.hash), secondRecord])])
    try bad(
      "removed-by-file", "made by a member that its own header removes", present.trusting(added), .unknownSender,
      file([record(late, .removed, at: 1_800_000_000_001, by: third, ground: thirdRecord.hash)]))
    var history = IdentityHistory(third.publicIdentity)
    try history.append(Identity.generate(replica: third.replica), after: third, group: group, at: 1_800_000_000_000)
    try bad(
      "record-replaced-key", "whose member record is by a key that was replaced, as the header says", present,
      .unknownSender, file([record(late, by: third, ground: thirdRecord.hash)], histories: [history]))
    let exchanged = try Identity.generate(replica: scene.reader.replica)
    let name = try NameRecord.issue(
      group: group, subject: scene.reader.replica, name: "attic", at: 1_800_000_000_000, by: scene.sender)
    try await good(
      "names", "a name record that counts, and a member record with other keys that does not", scene,
      [
        scene.replacingHeader { header in
          var roster = header.roster
          let others = roster.members.filter { $0.subject != scene.reader.replica }
          roster.members = try (others + [record(exchanged, by: scene.sender)]).sorted { $0.subject < $1.subject }
          roster.names = [name]
          return header.changing(roster: roster)
        }
      ], tellsNames: true)
    let strange = try NameRecord.issue(
      group: group, subject: scene.reader.replica, name: "attic", at: 1_800_000_000_000, by: third)
    try await good(
      "name-stranger", "a name record by nobody in the group, which does not count", scene,
      [
        scene.replacingHeader { header in
          var roster = header.roster
          roster.names = [strange]
          return header.changing(roster: roster)
        }
      ], tellsNames: true)
  }

  func recordOperations() async throws {
    let group = try await TestGroup(2)
    let folder = Folder(name: "F")
    let notes = (0..<4).map { Note(title: "note \($0)", folder: $0 == 3 ? folder.id : nil) }
    try await group[0].write { transaction in
      try transaction.insert(folder)
      for note in notes { try transaction.insert(note) }
    }
    try await group.send(from: 0, to: 1)
    group.clock.advance(1_000)
    try await group[1].write { _ = try $0.execute("UPDATE note SET views = 7, title = 'later' WHERE title = 'note 0'") }
    try await group[1].write { _ = try $0.execute("DELETE FROM note WHERE title = 'note 1'") }
    try await group.send(from: 1, to: 0)
    group.clock.advance(1_000)
    try await group[0].write {
      _ = try $0.execute(
        "UPDATE note SET id = x'00112233445566778899aabbccddeeff', body = 'under another key' WHERE title = 'note 2'")
    }
    let scene = try await VectorScene(of: group) { _ = try await group[0].export(to: .file($0), includesAll: true) }
    let records = try scene.transactions
    let header = try Forgery.header(scene.container).header
    let frames = try records.map { record in
      // Each frame names its origins by their places in the header, as all of them do.
      try Forgery.frame(Forgery.raw([record], of: header.ranges.map(\.origin), present: header.present))
    }
    #expect(records.contains { $0.context != nil } && Set(records.map(\.dot.origin)).count == 2)
    try await good(
      "operations", "inserts, updates, deletes and a changed key of two origins that knew of each other",
      scene, [scene.replacingFrames(Array(frames.joined()), count: UInt64(records.count))])

    var replaced = try await VectorScene(of: group) { _ = try await group[0].export(to: .file($0), includesAll: true) }
    replaced.former = [replaced.reader]
    replaced.reader = try Identity.generate(replica: replaced.reader.replica)
    try await good("former-key", "sealed to a key that the reader has replaced since", replaced, [replaced.sealed])
    try await recordStateFile(group, folder)
  }

  /// A state file of a group that has forgotten something, with a row that waits for another.
  private func recordStateFile(_ group: TestGroup, _ folder: Folder) async throws {
    try await group.settle()
    for index in 0..<2 { _ = try await group[index].maintenance.compact() }
    try await group[0].write { _ = try $0.execute("DELETE FROM folder") }
    let note = Note(title: "waits", folder: folder.id)
    try await group[1].write { try $0.insert(note) }
    try await group.send(from: 1, to: 0)
    let scene = try await VectorScene(of: group) { _ = try await group[0].exportState(to: .file($0)) }
    let header = try Forgery.header(scene.container).header
    let head = try #require(header.stateFile)
    let file = try SyncFileReader(
      AgeEnvelope(MemorySource(scene.sealed)), identities: [scene.reader.ageIdentity]
    ) { _ in .reported(nil) }
    var kinds: Set<UInt8> = []
    while let block = try file.nextBlock() {
      var reader = ByteReader(block)
      while !reader.isAtEnd {
        kinds.insert(block[reader.position])
        _ = try StateItem(
          reading: &reader, tables: header.tables.count, origins: head.origins.count,
          migrations: header.migrations.count)
      }
    }
    #expect(kinds.isSuperset(of: [1, 2, 3, 4]) && head.origins.contains { $0.floor > .none }, "\(kinds)")
    try await good(
      "state-file-states", "the state with what has been forgotten, row states, and a row that waits", scene,
      [scene.sealed])
  }
}
