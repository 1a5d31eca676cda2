import Foundation
import GodwitCore
import GodwitCrypto
import GodwitFiles
import GodwitKeys
import GodwitRemotes
import GodwitStorage
import GodwitSyncFile
import TestFolders
import Testing

@testable import Godwit
@testable import GodwitEngine

extension RemoteGroup {
  fileprivate static let day: Int64 = 86_400_000

  /// One whose files are sealed to epochs.
  fileprivate init(large count: Int, isPostQuantum: Bool = false) async throws {
    var tuning = Replica.Tuning()
    tuning.largeGroup = 2
    try await self.init(count, tuning, isPostQuantum: isPostQuantum)
  }

  fileprivate func files(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(remote)/\(folder)")) ?? []).sorted()
      .map { "\(remote)/\(folder)/\($0)" }
  }

  fileprivate func stanzas(_ path: String) throws -> Int { try stanzaTypes(path).count }

  fileprivate func stanzaTypes(_ path: String) throws -> [String] { try AgeEnvelope(path.source()).stanzaTypes }

  /// Whom a file is sealed to, as one that opens it reads it.
  fileprivate func header(_ path: String, by index: Int) throws -> SyncFileHeader {
    let contents = try Forgery.keys(of: self[index])
    let roster = Roster(group: self[index].group, trusted: try contents.roster)
    return try SyncFileReader(
      path.source(), identities: contents.ageIdentities,
      findBase: { hash in
        try files("b").first { $0.hasSuffix(hash.key) }.map { try header($0, by: index) }
      }, sender: { try roster.sender(of: $0).history }
    ).header
  }

  /// The keys of the epochs that mailboxes are sealed to, as one reads them.
  fileprivate func used(by index: Int) throws -> Set<AgeRecipient> {
    Set(try mailboxes().filter { !$0.hasSuffix(".log") }.flatMap { try header($0, by: index).recipients })
  }

  fileprivate func epochs(_ index: Int) throws -> [Epoch] { try Forgery.keys(of: self[index]).epochs }

  fileprivate mutating func add() async throws {
    try await group.join()
    try await group.replicas[group.replicas.count - 1].remotes.add("stick", at: remote)
  }
}

extension String {
  fileprivate func source() throws -> FileDescriptor { try FileDescriptor.openForReading(self) }
}

@Suite("Epochs of a large group")
struct EpochTests {
  @Test("are what mailboxes are sealed to, with one stanza, and all converge and fall silent")
  func converges() async throws {
    let remote = try await RemoteGroup(large: 3)
    for index in 0..<3 { try await remote.insert("\(index)", index) }
    try await remote.syncAll(3)
    for index in 0..<3 { #expect(try await remote.ids(index) == ["0", "1", "2"]) }
    #expect(try await remote.group.digests().count == 1)
    for path in try remote.mailboxes() { #expect(try remote.stanzas(path) == 1) }
    let files = remote.files("e")
    #expect(files.count == 1)
    for path in files { #expect(try remote.stanzas(path) == 3) }
    #expect(try remote.used(by: 0).count == 1)
    for index in 0..<3 {
      #expect(try remote.epochs(index).map(\.key.recipient) == Array(try remote.used(by: index)))
      let report = try await remote.sync(index)
      #expect(report.published == nil && report.taken.isEmpty && report.fetchedBytes == 0 && report.error == nil)
    }
  }

  @Test("of a group with hybrid keys are hybrid, too, end with a removal, and reach who comes later")
  func hybrid() async throws {
    var remote = try await RemoteGroup(large: 3, isPostQuantum: true)
    for index in 0..<3 { try await remote.insert("\(index)", index) }
    try await remote.syncAll(3)
    let first = try remote.used(by: 0)
    #expect(first.map(\.kind) == [.hybrid])
    let sealed = try remote.mailboxes() + remote.files("e") + remote.files("b")
    #expect(try Set(sealed.flatMap(remote.stanzaTypes)) == ["mlkem768x25519"])
    try await remote[0].members.remove("replica-2")
    try await remote.add()
    try await remote.insert("later", 0)
    for _ in 0..<3 { for index in [0, 1, 3] { try await remote.sync(index) } }
    for index in [0, 1, 3] { #expect(try await remote.ids(index) == ["0", "1", "2", "later"]) }
    try await remote.sync(2)
    #expect(try await remote.ids(2) == ["0", "1", "2"])
    #expect(try remote.epochs(3).map(\.key.recipient.kind) == [.hybrid])
    #expect(Set(try remote.epochs(3).map(\.key.recipient)).isDisjoint(with: first))
  }

  @Test("are of no use to a small group")
  func small() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    for path in try remote.mailboxes() { #expect(try remote.stanzas(path) == 3) }
    #expect(remote.files("e").isEmpty)
  }

  @Test("24: end with a removal: the removed one opens nothing that was published after it")
  func removed() async throws {
    var remote = try await RemoteGroup(large: 4)
    try await remote.syncAll(3)
    let earlier = try remote.used(by: 3)
    try await remote[0].members.remove("\(remote[3].identity.replica)")
    try await remote.insert("after", 0)
    for _ in 0..<3 { for index in 0..<3 { try await remote.sync(index) } }
    let used = Set(
      try remote.mailboxes().filter { !$0.contains("\(remote[3].identity.replica)") }
        .flatMap { try remote.header($0, by: 0).recipients })
    #expect(used.count == 1 && used.isDisjoint(with: earlier))
    let report = try await remote.sync(3)
    #expect(report.error == nil && report.taken.isEmpty && !report.refused.isEmpty)
    #expect(report.refused.allSatisfy { $0.error.code == .notARecipient })
    #expect(try await remote.ids(3).isEmpty)
    #expect(try remote.epochs(3).map(\.key.recipient) == Array(earlier))
    for index in 0..<3 { #expect(try await remote.ids(index) == ["after"]) }
    await remote[3].close()
    remote.group.replicas.removeLast()
  }

  @Test("begin anew with a member that comes later, which opens none of before")
  func joiner() async throws {
    var remote = try await RemoteGroup(large: 2)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    let earlier = try remote.used(by: 0)
    try await remote.add()
    try await remote.syncAll(3)
    let later = try remote.used(by: 0)
    #expect(later.count == 1 && later.isDisjoint(with: earlier))
    #expect(Set(try remote.epochs(2).map(\.key.recipient)) == later)
    #expect(try await remote.ids(2) == ["a"])
    // The earlier ones are not for it, and no sync names them again.
    #expect(try await remote.sync(2).refused.isEmpty)
  }

  @Test("that two make at once leave nobody out, and one of them is used in the end")
  func twoMakers() async throws {
    let remote = try await RemoteGroup(large: 2)
    let aside = remote.group.folder.file("aside")
    try await remote.insert("a", 0)
    try await remote.insert("b", 1)
    try await remote.sync(0)
    // What the first has put there is not seen yet.
    try FileManager.default.moveItem(atPath: "\(remote.remote)/e", toPath: aside)
    try await remote.sync(1)
    for path in try FileManager.default.contentsOfDirectory(atPath: aside) {
      try FileManager.default.moveItem(atPath: "\(aside)/\(path)", toPath: "\(remote.remote)/e/\(path)")
    }
    #expect(remote.files("e").count == 2)
    try await remote.syncAll(3)
    for index in 0..<2 {
      #expect(try await remote.ids(index) == ["a", "b"])
      #expect(try await remote.sync(index).published == nil)
      #expect(try remote.used(by: index).count == 1)
    }
  }

  @Test("last for 30 days, and are removed by their maker after a year")
  func expire() async throws {
    let remote = try await RemoteGroup(large: 2)
    try await remote.syncAll(3)
    let first = try remote.used(by: 0)
    remote.group.clock.advance(29 * RemoteGroup.day)
    try await remote.syncAll()
    #expect(try remote.used(by: 0) == first)
    remote.group.clock.advance(RemoteGroup.day)
    try await remote.syncAll(3)
    let second = try remote.used(by: 0)
    #expect(second.count == 1 && second.isDisjoint(with: first))
    #expect(remote.files("e").count == 2)
    remote.group.clock.advance(366 * RemoteGroup.day)
    try await remote.syncAll(3)
    #expect(remote.files("e").count == 1)
  }

  @Test("are found by a member that was away, and by a backup that took a machine's place")
  func away() async throws {
    var remote = try await RemoteGroup(large: 3)
    try await remote.syncAll(3)
    try await remote.setAside(2, as: "backup")
    for number in 0..<3 {
      remote.group.clock.advance(31 * RemoteGroup.day)
      try await remote.insert("\(number)", number % 2)
      for index in [0, 1, 0] { try await remote.sync(index) }
    }
    #expect(try remote.epochs(2).count == 1)
    let report = try await remote.sync(2)
    #expect(report.refused.isEmpty)
    #expect(try await remote.ids(2) == ["0", "1", "2"])
    try await remote.restore(2, from: "backup")
    #expect(try remote.epochs(2).count == 1)
    #expect(try await remote.sync(2).refused.isEmpty)
    #expect(try await remote.ids(2) == ["0", "1", "2"])
    try await remote.syncAll(3)
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("of its own are found by a backup whose own mailbox is sealed to one, and nothing of it is lost")
  func ownMailbox() async throws {
    var remote = try await RemoteGroup(large: 2)
    try await remote.syncAll(2)
    try await remote.setAside(0, as: "backup")
    remote.group.clock.advance(31 * RemoteGroup.day)
    try await remote.insert("later", 0)
    try await remote.sync(0)
    try await remote.restore(0, from: "backup")
    let report = try await remote.sync(0)
    #expect(report.refused.isEmpty)
    #expect(try await remote.ids(0) == ["later"])
    try await remote.syncAll(3)
    #expect(try await remote.group.digests().count == 1)
    #expect(try await remote.ids(1) == ["later"])
  }

  @Test("that are gone are put there anew within a day, and who lacks them reads again")
  func emptied() async throws {
    var remote = try await RemoteGroup(large: 3)
    try await remote.syncAll(3)
    try await remote.setAside(2, as: "backup")
    remote.group.clock.advance(31 * RemoteGroup.day)
    try await remote.insert("a", 0)
    for index in [0, 1, 0] { try await remote.sync(index) }
    for path in remote.files("e") { try FileManager.default.removeItem(atPath: path) }
    try await remote.restore(2, from: "backup")
    let report = try await remote.sync(2)
    #expect(!report.refused.isEmpty && report.refused.allSatisfy { $0.error.code == .notARecipient })
    remote.group.clock.advance(2 * RemoteGroup.day)
    try await remote.insert("b", 1)
    try await remote.syncAll(3)
    for index in 0..<3 { #expect(try await remote.ids(index) == ["a", "b"]) }
    #expect(try await remote.group.digests().count == 1)
    for index in 0..<3 { #expect(try await remote.sync(index).published == nil) }
  }

  @Test("are not what states and files that people carry are sealed to")
  func others() async throws {
    var remote = try await RemoteGroup(large: 2)
    for number in 0..<3 { try await remote.insert("\(number)", number % 2) }
    try await remote.syncAll(3)
    for index in 0..<2 { try await remote[index].maintenance.compact() }
    let carried = remote.group.folder.file("carried")
    _ = try await remote[0].export(to: .file(carried))
    #expect(try remote.stanzas(carried) == 2)
    try await remote.add()
    #expect(try await remote.sync(0).publishedState != nil)
    for path in remote.files("s") { #expect(try remote.stanzas(path) == 3) }
    try await remote.sync(2)
    #expect(try await remote.ids(2).count == 3)
    try await remote.syncAll(3)
    #expect(try await remote.group.digests().count == 1)
    #expect(try await remote.sync(2).findings.isEmpty)
  }

  @Test("35: are what a log is sealed to, and who follows it finds a new one")
  func logs() async throws {
    let remote = try await RemoteGroup(large: 3)
    for _ in 0..<3 {
      for index in 1..<3 { try await remote.sync(index) }
      try await remote.collect(0)
    }
    for path in remote.files("l") { #expect(try remote.stanzas(path) == 1) }
    let earlier = try remote.used(by: 0)
    remote.group.clock.advance(30 * RemoteGroup.day - 600_000)
    for _ in 0..<2 {
      try await remote.collect(0)
      for index in 1..<3 { try await remote.sync(index) }
    }
    #expect(try remote.used(by: 0) == earlier)
    remote.group.clock.advance(1_200_000)
    try await remote.insert("a", 1)
    try await remote.sync(1)
    try await remote.collect(0)
    // The next file of the log is sealed to what it does not know yet.
    let report = try await remote.sync(2)
    #expect(report.refused.isEmpty)
    #expect(try await remote.ids(2) == ["a"])
    #expect(try remote.used(by: 2).count == 1 && remote.used(by: 2).isDisjoint(with: earlier))
    #expect(remote.files("e").count == 2)
  }

  @Test("are looked for in the files of who is no member, too, and what is no file is refused and counted")
  func strangers() async throws {
    let remote = try await RemoteGroup(large: 2)
    try await remote.syncAll(2)
    let origin = URL(fileURLWithPath: try await remote.mailbox(of: 1)).lastPathComponent
    try Data(repeating: 7, count: 300).write(
      to: URL(fileURLWithPath: "\(remote.remote)/e/\(String(repeating: "0", count: 32))-00000001-0123456789abcdef"))
    try Data(repeating: 7, count: 300).write(
      to: URL(fileURLWithPath: "\(remote.remote)/e/\(origin)-0123456789abcdef"))
    remote.group.clock.advance(31 * RemoteGroup.day)
    #expect(try await remote.sync(0).refused.map(\.error.code) == [.corruptFile, .corruptFile])
    try await remote.syncAll(3)
    #expect(try await remote.sync(0).refused.isEmpty)
    #expect(try remote.used(by: 0).count == 1)
  }

  @Test("are not kept of who is not of their set, for its removal would not end them", arguments: [false, true])
  func outside(isInside: Bool) async throws {
    let remote = try await RemoteGroup(large: 3)
    let path = remote.group.folder.file("carried")
    _ = try await remote[1].export(to: .file(path))
    let (maker, common) = (try Forgery.keys(of: remote[1]).identity, try remote.header(path, by: 0))
    let key = try EpochKey.generate(.x25519, at: common.createdAt)
    let recipients = common.recipients.filter { isInside || $0 != maker.publicIdentity.recipient }
    let header = SyncFileHeader(
      group: common.group, sender: common.sender, incarnation: common.incarnation, createdAt: common.createdAt,
      vector: common.vector, schemaVersion: common.schemaVersion, recipients: recipients, roster: common.roster,
      tables: common.tables, ranges: common.ranges, chains: common.chains, epoch: key)
    let sink = MemorySink()
    try SyncFileWriter(header, signedBy: maker, to: sink).finish()
    try Data(sink.bytes).write(to: URL(fileURLWithPath: path))
    _ = try await remote[0].import(from: .file(path))
    #expect(try remote.epochs(0).contains { $0.key.recipient == key.recipient } == isInside)
  }

  @Test("are not kept when an import is only planned")
  func planned() async throws {
    let remote = try await RemoteGroup(large: 2)
    try await remote.sync(0)
    let file = try #require(remote.files("e").first)
    _ = try await remote[1].plan(importing: .file(file))
    #expect(try remote.epochs(1).isEmpty)
    _ = try await remote[1].import(from: .file(file))
    #expect(try remote.epochs(1).count == 1)
  }

  @Test("are among the keys for the age program, which opens a mailbox with them")
  func ageKeys() async throws {
    let remote = try await RemoteGroup(large: 2)
    try await remote.syncAll(2)
    let path = remote.group.folder.file("identity.txt")
    #expect(try await remote[0].keyring.exportAgeKeys(to: path).keyCount == 2)
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let epoch = try #require(try remote.epochs(0).first)
    #expect(lines.count == 4 && lines[2] == "# public key of an epoch at remotes: \(epoch.key.recipient)")
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/age") else { return }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/age")
    process.arguments = ["-d", "-i", path, "-o", "/dev/null", try await remote.mailbox(of: 1)]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
