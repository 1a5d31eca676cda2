import Foundation
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

/// What judges ask the database for does not grow with the square of what they judge.
@Suite("What judging many rows costs")
struct JudgingCostTests {
  private static let rowCount = 300

  /// Another replica of the group's, which takes in files with its statements in view.
  private func reader(
    _ group: MergeGroup, _ models: [any Model.Type], _ lines: StatementLines
  ) async throws -> Replica {
    await group[0].close()
    return try await Replica.open(
      at: group[0].path, models: models,
      configuration: .init(key: .keyring(), statements: .redacted, logger: lines.logger),
      wallClock: group.clock.wallClock)
  }

  private func chain(of models: [any Model.Type], _ table: String) async throws {
    let group = try await MergeGroup(2, models: models)
    func sql(_ text: String) -> SQL { SQL(text: text.replacingOccurrences(of: "TABLE", with: table), values: []) }
    try await group.write(0, sql("INSERT INTO TABLE (id) VALUES ('999')"))
    try await group.exchange()
    try await group.write(0, sql("DELETE FROM TABLE WHERE id = '999'"))
    // Each row comes before the one it refers to, so that one after the other goes.
    try await group.write(
      1, (1...Self.rowCount).map { sql("INSERT INTO TABLE VALUES ('\(999 - $0)', '\(1_000 - $0)')") })
    let path = group.folder.file("chain")
    _ = try await group[1].export(to: .file(path))
    let lines = StatementLines()
    let reader = try await reader(group, models, lines)
    lines.clear()
    _ = try await reader.import(from: .file(path))
    let passes = lines.all.count { $0.contains("WHERE \"parent\" IS NOT NULL") }
    #expect(passes > 0 && passes <= 2)
    // A row is looked at a few times, and not once for each row that leads to it.
    #expect(lines.all.count < Self.rowCount * 50)
    #expect(try await reader.rows(sql("SELECT id FROM TABLE")).isEmpty)
    #expect(try await reader.history.limbo(limit: 1_000).count == Self.rowCount)
    #expect(
      try await reader.rows(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'godwit_link%' OR name LIKE 'godwit_sprig%'"
      ).isEmpty)
    let root = sql("INSERT INTO TABLE (id) VALUES ('999')")
    _ = try await reader.write { try $0.execute(root) }
    #expect(try await reader.rows(sql("SELECT id FROM TABLE")).count == Self.rowCount + 1)
    #expect(try await reader.maintenance.verify().isSound)
    await reader.close()
  }

  @Test("a chain of rows that lacks its first is hidden with two passes over the table, and comes back whole")
  func chain() async throws { try await chain(of: [Link.self], "link") }

  @Test("so is a chain whose reference closes no circle")
  func acyclicChain() async throws { try await chain(of: [Sprig.self], "sprig") }

  @Test("of many rows with one unique value one is shown, and who waits for it is read a few times")
  func claims() async throws {
    let group = try await MergeGroup(3)
    try await group.write(1, "INSERT INTO account (id, email) VALUES ('z', 'x')")
    let (author, origins) = try await group[2].withWriter { ($0.log.origins.own, $0.log.origins.vector) }
    await group[2].close()
    let lines = StatementLines()
    let path = group.folder.file("one")
    _ = try await group[1].export(to: .file(path))
    let reader = try await reader(group, MergeGroup.models, lines)
    let changes = try await reader.withWriter { writer in
      let table = try #require(writer.catalog["account"]?.definition)
      return Self.inserts(of: table, (1...Self.rowCount).map { [.text("\($0)"), "x", "", .null, ""] })
    }
    try await reader.withWriter { writer in
      let head = try writer.log.origins.head(of: author)
      var context = origins
      context[author] = .none
      let record = TransactionRecord(
        dot: Dot(author, head.sequence.next), hlc: HLC(milliseconds: 1_700_000_000_000), schemaVersion: 0,
        context: context,
        changes: changes)
      try StagedTransactions(connection: writer.connection)
        .add(StagedTransaction(record: record, context: context, chain: record.chain(after: head.chain)))
    }
    lines.clear()
    #expect(try await reader.import(from: .file(path)).applied.transactions == 2)
    #expect(lines.all.count { $0.contains("SELECT key FROM godwit_limbo WHERE reason = ?") } < 20)
    #expect(try await reader.rows("SELECT id FROM account").map(\.values) == [["1"]])
    #expect(try await reader.history.limbo(limit: 1_000).count == Self.rowCount)
    _ = try await reader.write { try $0.execute("DELETE FROM account WHERE id = '1'") }
    #expect(try await reader.rows("SELECT id FROM account").count == 1)
    #expect(try await reader.maintenance.verify().isSound)
    await reader.close()
  }

  private static func inserts(of table: TableDefinition, _ rows: [[Value]]) -> [UInt8] {
    let columns = table.columns.enumerated().map { ChangeSet.Column(index: $0, name: $1.name, isRelative: false) }
    let named = ChangeSet.Table(
      name: table.name, columnCount: table.columns.count, keyCount: table.keyCount, columns: columns)
    var writer = ByteWriter()
    ChangeSet.writeHeader(tables: [named], operationCount: rows.count, to: &writer)
    for row in rows {
      writer.varint(Operation.head(table: 0, kind: .insert))
      for value in row { writer.value(value) }
    }
    return writer.bytes
  }
}

private struct Link: Model {
  static let schema = Schema<Self>("link") { Column("parent", \.parent).references(Link.self, onDelete: .cascade) }
  var id = ""
  var parent: String?
}

private struct Sprig: Model {
  static let schema = Schema<Self>("sprig") {
    Column("parent", \.parent).references(Sprig.self, onDelete: .cascade, acyclic: true)
  }
  var id = ""
  var parent: String?
}
