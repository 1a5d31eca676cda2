import Foundation
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitSyncFile

/// 2 has sent 0 a transaction that waits for one of 1's, and that nobody can apply.
@Suite("Waiting transactions that cannot be applied")
struct UnfitStagedTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.settle()
    try await group[0].write { try $0.insert(Note(title: "here")) }
    for other in 1...2 { try await group.send(from: 0, to: other) }
    try await group[1].write { try $0.insert(Note(title: "fit")) }
    // The second is of a row that only the first makes; stated as if it were the first.
    try await group[2].write { try $0.insert(Note(title: "unknown")) }
    try await group[2].write { _ = try $0.execute("UPDATE note SET title = 'unfit' WHERE title = 'unknown'") }
    let path = group.folder.file("unfit")
    _ = try await group[2].export(to: .file(path))
    let records = try Forgery.transactions(Forgery.bytes(path), Forgery.keys(of: group[0]).identity)
    let (first, second) = (try #require(records.dropLast().last), try #require(records.last))
    let awaited = try await group[1].withWriter { $0.log.origins.own }
    try await group[0].withWriter { writer in
      var context = writer.log.origins.vector
      context[first.dot.origin] = .none
      context[awaited] = context[awaited].next
      let record = TransactionRecord(
        dot: first.dot, hlc: second.hlc, schemaVersion: second.schemaVersion, context: context,
        changes: second.changes.dropLast())
      let before = try #require(
        try writer.log.chain(at: Dot(first.dot.origin, writer.log.origins.vector[first.dot.origin])))
      try StagedTransactions(connection: writer.connection)
        .add(StagedTransaction(record: record, context: context, chain: record.chain(after: before)))
    }
  }

  @Test("are dropped, by name, and do not keep out the file that they waited for")
  func dropped() async throws {
    #expect(try await group[0].status().staged == 1)
    let path = group.folder.file("fit")
    _ = try await group[1].export(to: .file(path))
    let report = try await group[0].import(from: .file(path))
    #expect(report.applied.transactions == 1 && report.waiting.transactions == 0)
    #expect(
      report.attention.dropped.map(\.replica) == [group[2].identity.replica]
        && report.attention.dropped.map(\.reason) == [.unfit])
    #expect(report.attention.dropped.first?.message?.isEmpty == false)
    #expect(try await group[0].fetch(Note.all).map(\.title).sorted() == ["fit", "here"])
    #expect(try await group[0].maintenance.verify().problems.isEmpty)
    // The true ones come all the same.
    try await group.send(from: 2, to: 0)
    #expect(try await group[0].fetch(Note.all).map(\.title).sorted() == ["fit", "here", "unfit"])
  }

  @Test("stay while an import is only planned, and the plan names them as the import would")
  func planned() async throws {
    let path = group.folder.file("fit")
    _ = try await group[1].export(to: .file(path))
    let plan = try await group[0].plan(importing: .file(path))
    #expect(plan.report.applied.transactions == 1 && plan.report.attention.dropped.map(\.reason) == [.unfit])
    #expect(try await group[0].status().staged == 1)
    #expect(try await group[0].fetch(Note.all).map(\.title) == ["here"])
    let report = try await group[0].import(from: .file(path))
    #expect(
      report.applied.transactions == 1
        && report.attention.dropped.map(\.message) == plan.report.attention.dropped.map(\.message))
  }
}
