import Foundation
import GodwitBase
import GodwitCore
import GodwitStorage
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

/// 2 has written what waits at 0 for a transaction of 1's.
@Suite("Waiting transactions")
struct WaitingTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.settle()
  }

  private func titles(_ index: Int) async throws -> Set<String> {
    Set(try await group[index].fetch(Note.all).map(\.title))
  }

  /// 1 writes what 0 does not get, and 2, which gets it, writes so often; that comes to 0. Returns 1's file.
  private func wait(_ count: Int) async throws -> SyncSource {
    try await group[1].write { try $0.insert(Note(title: "cause")) }
    let cause = group.folder.file("cause")
    _ = try await group[1].export(to: .file(cause))
    _ = try await group[2].import(from: .file(cause))
    for number in 0..<count { try await group[2].write { try $0.insert(Note(title: "waiting \(number)")) } }
    let keys = try Forgery.keys(of: group[0])
    let path = group.folder.file("both")
    _ = try await group[2].export(to: .file(path))
    let author = group[2].identity.replica
    let records = try Forgery.transactions(Forgery.bytes(path), keys.identity)
      .filter { $0.dot.origin.replica == author }
    try await group[0].withWriter { writer in
      let roster = Roster(group: self.group[0].group, trusted: try keys.roster)
      let room = WaitingRoom(writer.connection, roster, sender: author)
      var chain = ContentHash.zero
      var context = VersionVector()
      try writer.inTransaction {
        for record in records {
          chain = record.chain(after: chain)
          context = record.context ?? context
          try room.keep(StagedTransaction(record: record, context: context, chain: chain))
        }
      }
      #expect(room.notKept.isEmpty)
    }
    return .file(cause)
  }

  @Test("keep a context where it is stated, and not where it is inherited")
  func context() async throws {
    let cause = try await wait(12)
    let stored = try await group[0].withWriter { writer in
      try writer.connection.scalar("SELECT count(*) FROM godwit_staged WHERE context IS NOT NULL")
    }
    #expect(stored == .integer(1))
    let report = try await group[0].import(from: cause)
    #expect(report.applied.transactions == 13 && report.waiting.transactions == 0 && report.attention.dropped.isEmpty)
    #expect(try await titles(0).count == 13)
    #expect(try await group[0].maintenance.verify().problems.isEmpty)
    #expect(try await group[0].maintenance.digest() == group[2].maintenance.digest())
  }

  @Test("are listed by author with their bytes, and dropped by a member's name")
  func drop() async throws {
    let cause = try await wait(3)
    let waiting = try await group[0].status().waiting
    #expect(waiting.map(\.replica) == [group[2].identity.replica] && waiting.map(\.transactions) == [3])
    #expect(waiting.allSatisfy { $0.bytes > 3 * 128 && $0.setAside == 0 })
    #expect(try await group[0].history.missing().waiting == waiting)
    #expect(await code { try await group[0].history.dropWaiting(of: "nobody") } == .invalidArgument)
    #expect(try await group[0].history.dropWaiting(of: "replica-1").isEmpty)
    #expect(try await group[0].history.dropWaiting(of: "replica-2") == waiting)
    #expect(try await group[0].status().staged == 0)
    #expect(try await group[0].import(from: cause).applied.transactions == 1)
    // They were not held, so they come again.
    try await group.send(from: 2, to: 0)
    #expect(try await titles(0).count == 4)
  }

  @Test("go with their author's removal, here and by a file, and none of it waits again")
  func removal() async throws {
    _ = try await wait(3)
    try await group[0].members.remove("replica-2")
    #expect(try await group[0].status().staged == 0)
  }

  @Test("go when a file brings their author's removal")
  func removedByFile() async throws {
    _ = try await wait(3)
    try await group[1].members.remove("replica-2")
    let told = group.folder.file("told")
    _ = try await group[1].export(to: .file(told))
    let report = try await group[0].import(from: .file(told))
    #expect(report.applied.transactions == 1 && report.waiting.transactions == 0)
    #expect(
      report.attention.dropped.map(\.reason) == [.removed]
        && report.attention.dropped.map(\.replica) == [group[2].identity.replica])
  }

  @Test("are bounded: more of an origin, a member or all are not kept, and come again")
  func bounds() async throws {
    let keys = try Forgery.keys(of: group[0])
    let author = group[2].identity.replica
    let dropped = try await group[0].withWriter { writer in
      let roster = Roster(group: self.group[0].group, trusted: try keys.roster)
      let room = WaitingRoom(writer.connection, roster, sender: author)
      let changes = [UInt8](repeating: 7, count: 4 << 20)
      struct Enough: Error {}
      try? writer.inTransaction {
        for incarnation in UInt32(1)...3 {
          let origin = Origin(replica: author, incarnation: incarnation)
          for sequence in UInt64(5)...13 {
            let dot = Dot(origin, SequenceNumber(rawValue: sequence))
            let record = TransactionRecord(
              dot: dot, hlc: HLC(rawValue: 1), schemaVersion: 0, context: nil, changes: changes)
            try room.keep(StagedTransaction(record: record, context: VersionVector(), chain: .zero))
          }
        }
        throw Enough()
      }
      return room.notKept
    }
    #expect(dropped.map(\.reason) == [.limit, .limit, .limit])
    #expect(dropped.map(\.sequences) == [12...13, 12...13, 6...13])
  }

  /// The chains of what waits at 0, as a process that died while it tried them has noted them.
  private func note(_ count: Int) async throws {
    let chains = try await group[0].withWriter { writer in
      try StagedTransactions(connection: writer.connection).firsts().flatMap { first in
        try (0..<count).compactMap { number in
          try StagedTransactions(connection: writer.connection)
            .get(Dot(first.origin, SequenceNumber(rawValue: first.sequence.rawValue + UInt64(number))))?.chain.bytes
        }
      }
    }
    #expect(chains.count == count)
    let path = "\(group[0].path)/trial"
    _ = FileManager.default.createFile(
      atPath: path, contents: Data(chains.flatMap { $0 }), attributes: [.posixPermissions: 0o600])
  }

  @Test("of which a process died are set aside, by name, and the import continues")
  func setAside() async throws {
    let cause = try await wait(1)
    try await note(1)
    for _ in 0..<2 {
      let report = try await group[0].import(from: cause)
      #expect(report.waiting.transactions == 1 && !FileManager.default.fileExists(atPath: "\(group[0].path)/trial"))
    }
    #expect(try await titles(0) == ["cause"])
    #expect(try await group[0].status().waiting.map(\.setAside) == [1])
    // Its author sends it again, though it knows what 0 holds.
    try await group.send(from: 0, to: 2)
    try await group.send(from: 2, to: 0)
    #expect(try await titles(0) == ["cause", "waiting 0"])
    #expect(try await group[0].status().waiting.isEmpty)
  }

  @Test("that nothing is wrong with are tried again after an error that is this program's")
  func lackingFunction() async throws {
    let group = try await MergeGroup(3, models: [Page.self])
    try await group.write(0, "INSERT INTO page (id) VALUES ('p')")
    try await group.exchange()
    try await group.write(1, "INSERT INTO page (id) VALUES ('cause')")
    let cause = group.folder.file("cause")
    _ = try await group[1].export(to: .file(cause))
    _ = try await group[2].import(from: .file(cause))
    try await group.write(2, "UPDATE page SET note = 'longer' WHERE id = 'p'")
    try await group.write(0, "UPDATE page SET note = 'short' WHERE id = 'p'")
    let path = group.folder.file("both")
    _ = try await group[2].export(to: .file(path))
    try await Self.keepLast(of: group[2], in: path, at: group[0])
    await group[0].close()

    let plain = try await ReplicaPair.open(group[0].path, [], group.clock)
    #expect(try await plain.import(from: .file(cause)).waiting.transactions == 1)
    #expect(!FileManager.default.fileExists(atPath: "\(plain.path)/trial"))
    await plain.close()
    let again = try await ReplicaPair.open(group[0].path, [Page.self], group.clock)
    let report = try await again.import(from: .file(cause))
    #expect(report.waiting.transactions == 0 && report.applied.transactions == 1)
    #expect(try await again.fetch(Page.self, key: "p")?.note == "longer")
    await again.close()
  }

  /// Has the last transaction of an author's in a file wait at a replica.
  private static func keepLast(of author: Replica, in path: String, at replica: Replica) async throws {
    let keys = try Forgery.keys(of: replica)
    let record = try #require(
      try Forgery.transactions(Forgery.bytes(path), keys.identity).last {
        $0.dot.origin.replica == author.identity.replica
      })
    let roster = Roster(group: replica.group, trusted: try keys.roster)
    try await replica.withWriter { writer in
      let room = WaitingRoom(writer.connection, roster, sender: record.dot.origin.replica)
      try writer.inTransaction {
        try room.keep(
          StagedTransaction(
            record: record, context: try #require(record.context), chain: record.chain(after: ContentHash.zero)))
      }
    }
  }

  @Test("that wait for each other's causes in a long chain are looked at once for an export")
  func reach() async throws {
    let count = 1_000
    let (own, author) = (group[0].identity.replica, group[2].identity.replica)
    @Sendable func origin(_ number: Int) -> Origin { Origin(replica: author, incarnation: UInt32(number)) }
    await group[0].close()
    let lines = StatementLines()
    let replica = try await Replica.open(
      at: group[0].path, models: [], configuration: .init(key: .keyring(), statements: .redacted, logger: lines.logger),
      wallClock: group.clock.wallClock)
    try await replica.withWriter { writer in
      let staged = StagedTransactions(connection: writer.connection)
      try writer.inTransaction {
        for number in 1...count {
          let context = VersionVector([origin(number - 1): SequenceNumber.none.next])
          let record = TransactionRecord(
            dot: Dot(origin(number), SequenceNumber.none.next), hlc: HLC(rawValue: 1), schemaVersion: 0,
            context: context, changes: [])
          try staged.add(StagedTransaction(record: record, context: context, chain: .zero))
        }
      }
      lines.clear()
      #expect(try staged.withoutGaps(after: VersionVector(), besides: own).isEmpty)
      #expect(lines.selects <= 2 * count)
      lines.clear()
      let applied = VersionVector([origin(0): SequenceNumber.none.next])
      #expect(try staged.withoutGaps(after: applied, besides: own).origins.count == count)
      #expect(lines.selects <= 3 * count)
    }
    await replica.close()
  }

  @Test("that were tried together when a process died are tried one by one")
  func oneByOne() async throws {
    let cause = try await wait(3)
    try await note(2)
    let report = try await group[0].import(from: cause)
    #expect(report.applied.transactions == 4 && report.waiting.transactions == 0)
    #expect(!FileManager.default.fileExists(atPath: "\(group[0].path)/trial"))
  }
}
