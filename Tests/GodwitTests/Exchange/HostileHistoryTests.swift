import Foundation
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitSyncFile

/// What a member signs that no program writes: a replica that has seen all of it takes in what others do.
@Suite("Histories that no program writes")
struct HostileHistoryTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.settle()
    try await group[0].write { try $0.insert(Note(title: "here")) }
    for other in 1...2 { try await group.send(from: 0, to: other) }
    try await group[1].write { _ = try $0.execute("UPDATE note SET title = 'theirs'") }
  }

  /// 0 gets the update that 1 wrote, which has seen all that is there, with another timestamp or other changes.
  private func take(
    hlc: HLC? = nil, _ change: @escaping @Sendable ([UInt8]) throws -> [UInt8] = { $0 }
  ) async throws -> MergeReport {
    let path = group.folder.file("update")
    _ = try await group[1].export(to: .file(path))
    let sent = try #require(try Forgery.transactions(Forgery.bytes(path), Forgery.keys(of: group[0]).identity).last)
    try await group[0].withWriter { writer in
      let context = writer.log.origins.vector
      let record = TransactionRecord(
        dot: sent.dot, hlc: hlc ?? sent.hlc, schemaVersion: sent.schemaVersion, context: context,
        changes: try change(sent.changes))
      try StagedTransactions(connection: writer.connection)
        .add(StagedTransaction(record: record, context: context, chain: record.chain(after: .zero)))
    }
    let other = group.folder.file("other")
    _ = try await group[2].export(to: .file(other))
    return try await group[0].import(from: .file(other))
  }

  private func titles() async throws -> [String] { try await group[0].fetch(Note.all).map(\.title) }

  @Test("a write with a lesser timestamp than what it has seen loses, as it does where it is merged")
  func lesserTimestamp() async throws {
    #expect(try await take(hlc: HLC(rawValue: 1)).applied.transactions == 1)
    #expect(try await titles() == ["here"])
    #expect(try await group[0].maintenance.verify().problems.isEmpty)
  }

  @Test("one with a greater timestamp wins")
  func greaterTimestamp() async throws {
    #expect(try await take().applied.transactions == 1)
    #expect(try await titles() == ["theirs"])
  }

  @Test("an update of no column only touches its row")
  func emptyUpdate() async throws {
    let report = try await take { bytes in
      let changes = try ChangeSet(bytes[...])
      var writer = ByteWriter()
      ChangeSet.writeHeader(tables: changes.tables, operationCount: 1, to: &writer)
      try changes.forEach { operation in
        writer.varint(Operation.head(table: operation.table, kind: .update))
        writer.raw(operation.key)
        writer.varint(0)
      }
      return writer.bytes
    }
    #expect(report.applied.transactions == 1)
    #expect(try await titles() == ["here"])
  }

  @Test("a head that comes again with less of what leads to it proves what it proved")
  func headAgain() async throws {
    let author = try Identity.generate(replica: ReplicaID(Identifier128(high: 1, low: 2)))
    let origin = Origin(replica: author.replica, incarnation: 1)
    let digests = (1...4).map { number in [UInt8(number)].withUnsafeBytes { ContentHash(of: $0) } }
    let chains = digests.reduce(into: [ContentHash.zero]) { $0.append($0[$0.count - 1].followed(by: $1)) }
    let last = SequenceNumber(rawValue: 4)
    let head = try SignedHead.issue(group: group[0].group, origin, last, chains[4], by: author)
    let proof = try await group[0].withWriter { writer in
      let heads = SignedHeads(connection: writer.connection)
      var held = try writer.log.origins.head(of: origin)
      (held.sequence, held.chain) = (SequenceNumber(rawValue: 1), chains[1])
      try heads.keep(head, after: SequenceNumber(rawValue: 1), ahead: Array(digests[1...]), held: held)
      try heads.keep(head, after: SequenceNumber(rawValue: 3), ahead: [digests[3]], held: held)
      return try heads.proof(of: held)
    }
    #expect(proof?.ahead == Array(digests[1...]))
  }

  @Test("as many origins as a version vector has are known at most, and with them the replica writes and opens")
  func originLimit() async throws {
    let (code, count) = try await group[0].withWriter { writer in
      try writer.inTransaction {
        let origins = writer.log.origins
        for number in UInt64(0)...UInt64(VersionVector.originLimit) {
          let origin = Origin(replica: ReplicaID(Identifier128(high: 1, low: number)), incarnation: 1)
          do {
            let head = try origins.head(of: origin)
            origins.advance(origin, to: head.sequence.next, chain: .zero)
          } catch let error as GodwitError { return (error.code, Int(number)) }
        }
        return (GodwitError.Code.busy, 0)
      }
    }
    #expect(code == .limitExceeded && (60_000..<VersionVector.originLimit).contains(count))
    try await group[0].write { try $0.insert(Note(title: "with all of them")) }
    await group[0].close()
    let again = try await TestGroup.open(group[0].path, group.clock)
    try await again.write { try $0.insert(Note(title: "and again")) }
    #expect(try await again.count(Note.all) == 3)
    await again.close()
  }
}
