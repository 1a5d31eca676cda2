import Foundation
import GodwitBase
import GodwitKeys
import Synchronization
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Inspecting a sync file")
struct InspectionTests {
  private let group: TestGroup
  private let file: String

  init() async throws {
    group = try await TestGroup(3)
    file = group.folder.file("changes")
    let note = Note(title: "first", views: 3)
    try await group[0].write { transaction in
      try transaction.insert(note)
      try transaction.insert(Folder(name: "work"))
    }
    try await group[0].write { _ = try $0.execute("UPDATE note SET views = 4") }
    _ = try await group[0].export(to: .file(file))
  }

  private func save(_ bytes: [UInt8], _ name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: group.folder.file(name)))
    return group.folder.file(name)
  }

  @Test("shows who made it, for whom, and what is in it, and takes nothing in")
  func content() async throws {
    let before = try await group[1].maintenance.digest()
    let inspection = try await group[1].inspect(.file(file))
    let content = try #require(inspection.content)
    #expect(inspection.bytes == (try Forgery.bytes(file)).count)
    #expect(inspection.stanzas == [.init(kind: "X25519", count: 3)] && !inspection.isArmored)
    #expect(content.sender == group[0].identity.replica && content.isOwnGroup && content.group == group[0].group)
    #expect(content.incarnation == (try await group[0].status()).incarnation)
    #expect(content.milliseconds == 1_700_000_000_000)
    #expect(content.signature == .verified && !content.isStateFile && content.formatVersion == 5)
    #expect(Set(content.recipients.compactMap(\.replica)) == Set(group.replicas.map(\.identity.replica)))
    #expect(Set(content.recipients.map(\.fingerprint)) == Set(group.replicas.map(\.identity.fingerprint)))
    #expect(content.ranges.map(\.sequences) == [1...2] && content.transactions == 2)
    #expect(content.applied.map(\.sequence) == [2] && content.forgotten.isEmpty && content.unknownFields.isEmpty)
    let tables = Dictionary(uniqueKeysWithValues: content.tables.map { ($0.changes.table, $0) })
    #expect(tables["note"]?.changes.inserted == 1 && tables["note"]?.changes.updated == 1)
    #expect(tables["folder"]?.changes.inserted == 1 && tables["draft"] == nil)
    #expect(content.sizes.frames == 1 && content.sizes.packed > 0 && content.sizes.unpacked > 0)
    let container = try Forgery.container(Forgery.bytes(file), Forgery.keys(of: group[1]).identity)
    #expect(content.sizes.container == container.count && content.sizes.header < container.count)
    #expect(content.members.map(\.name).sorted() == ["replica-0", "replica-1", "replica-2"])
    #expect(try await group[1].maintenance.digest() == before)
    #expect(try await group[1].history.log(limit: 9, table: nil, replica: nil, since: nil).isEmpty)
  }

  @Test("gives the transactions with all they wrote")
  func transactions() async throws {
    let found = Mutex<[LoggedTransaction]>([])
    _ = try await group[1].inspect(.file(file)) { transaction in found.withLock { $0.append(transaction) } }
    let transactions = found.withLock { $0 }
    #expect(transactions.map(\.entry.sequence) == [1, 2])
    #expect(transactions[0].operations.map(\.table).sorted() == ["folder", "note"])
    #expect(transactions[1].operations.first?.cells == [.init(column: "views", value: .integer(4), isRelative: false)])
  }

  @Test("a handler that throws ends it")
  func thrown() async throws {
    let stop = GodwitError(.closed, "enough")
    #expect(await code { try await group[1].inspect(.file(file)) { _ in throw stop } } == .closed)
  }

  @Test("of a state file it counts the rows")
  func stateFile() async throws {
    let path = group.folder.file("stateFile")
    _ = try await group[0].exportState(to: .file(path))
    let content = try #require(try await group[2].inspect(.file(path)).content)
    #expect(content.isStateFile && content.signature == .verified)
    let rows = Dictionary(uniqueKeysWithValues: content.tables.map { ($0.changes.table, $0.rows) })
    #expect(rows["note"] == 1 && rows["folder"] == 1)
    #expect(content.transactions == 2 && content.ranges.map(\.sequences) == [1...2])
    try await Replica.verify(.file(path), at: group[1].path)
  }

  @Test("without a fitting key it has what the age header shows")
  func withoutKey() async throws {
    let stranger = try await TestGroup(1)
    for inspection in [
      try await stranger[0].inspect(.file(file)), try await Replica.inspect(.file(file), at: nil),
    ] {
      #expect(inspection.content == nil)
      #expect(inspection.stanzas == [.init(kind: "X25519", count: 3)])
      #expect(inspection.bytes == (try Forgery.bytes(file)).count)
      #expect(inspection.headerBytes > 300 && inspection.headerBytes < inspection.bytes)
    }
    #expect(await code { try await Replica.verify(.file(file), at: stranger[0].path) } == .notARecipient)
  }

  @Test("a file of another group, a stranger's and a removed member's are distinguished from a member's")
  func senders() async throws {
    let other = try await TestGroup(1)
    try await other[0].members.invite(
      group[1].identity, name: "guest", verification: .trustOnFirstUse, to: .file(other.folder.file("invitation")))
    let theirs = other.folder.file("theirs")
    _ = try await other[0].export(to: .file(theirs))
    let content = try #require(try await group[1].inspect(.file(theirs)).content)
    #expect(!content.isOwnGroup && content.signature == .unknownSender)
    #expect(content.recipients.contains { $0.replica == nil })
    #expect(await code { try await Replica.verify(.file(theirs), at: group[1].path) } == .otherGroup)

    try await group[1].write { try $0.insert(Note()) }
    let removed = group.folder.file("removed")
    _ = try await group[1].export(to: .file(removed))
    try await group[0].members.remove("replica-1")
    #expect(try await group[0].inspect(.file(removed)).content?.signature == .removedSender)
    #expect(await code { try await Replica.verify(.file(removed), at: group[0].path) } == .unknownSender)
  }

  @Test("another member's signature is shown as invalid, and refused by verify")
  func forged() async throws {
    let forger = try Forgery.keys(of: group[2]).identity
    let container = try Forgery.container(Forgery.bytes(file), forger)
    let recipients = try Forgery.header(container).header.recipients
    let path = try save(Forgery.seal(Forgery.sign(container, by: forger), to: recipients), "forged")
    #expect(try await group[1].inspect(.file(path)).content?.signature == .invalid)
    #expect(await code { try await Replica.verify(.file(path), at: group[1].path) } == .invalidSignature)
    #expect(await code { try await group[1].import(from: .file(path)) } == .invalidSignature)
  }

  @Test("verify finds what import would, and passes what import takes")
  func verify() async throws {
    let sound = try await Replica.verify(.file(file), at: group[1].path)
    #expect(sound.content?.transactions == 2)
    let whole = try Forgery.bytes(file)
    for length in stride(from: 0, to: whole.count, by: 97) {
      let path = try save(Array(whole.prefix(length)), "short")
      let verified = await code { try await Replica.verify(.file(path), at: group[1].path) }
      #expect(verified != nil)
      #expect(await code { try await group[1].import(from: .file(path)) } == verified, "\(length) bytes")
    }
    for position in stride(from: 0, to: whole.count, by: 89) {
      var changed = whole
      changed[position] ^= 4
      let path = try save(changed, "changed")
      let verified = await code { try await Replica.verify(.file(path), at: group[1].path) }
      #expect(verified != nil)
      #expect(await code { try await group[1].import(from: .file(path)) } == verified, "byte \(position)")
    }
    #expect(try await group[1].import(from: .file(file)).applied.transactions == 2)
    try await Replica.verify(.file(file), at: group[1].path)
  }

  @Test("an armored file is shown, and not sound")
  func armored() async throws {
    let text = try Forgery.armor(Forgery.bytes(file))
    let path = try save(text, "armored")
    let inspection = try await group[1].inspect(.file(path))
    #expect(inspection.isArmored && inspection.content?.transactions == 2)
    #expect(await code { try await Replica.verify(.file(path), at: group[1].path) } == .unsupportedVersion)
    #expect(await code { try await group[1].import(from: .file(path)) } == .unsupportedVersion)
  }

  @Test("needs no database, and an identity that has joined no group sees whom a file is for")
  func keyringAlone() async throws {
    let path = group.folder.file("fourth")
    let identity = try await Replica.identity(at: path)
    try await group[0].members.invite(
      identity, name: "fourth", verification: .trustOnFirstUse, to: .file(group.folder.file("invitation")))
    _ = try await group[0].export(to: .file(file), for: "fourth")
    let content = try #require(try await Replica.inspect(.file(file), at: path).content)
    #expect(!content.isOwnGroup && content.signature == .unknownSender)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/database"))
  }
}
