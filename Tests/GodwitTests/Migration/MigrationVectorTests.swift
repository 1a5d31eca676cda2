import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Specs/vectors/migration: a replica migrates and merges, and must then hold what the vector says.
@Suite("Migration vectors")
struct MigrationVectorTests {
  private struct Vector: Decodable {
    struct Step: Decodable {
      let migrate: Int?
      let receive: Received?
      let expect: Expected?
      let refused: String?
    }
    struct Received: Decodable {
      let origin: UInt64
      let sequence: UInt64
      let time: Int64
      let schemaVersion: UInt64
      let context: [String: UInt64]
      let operations: [Change]
    }
    struct Change: Decodable {
      let table: String
      let key: Row?
      let insert: Row?
      let update: Row?
      let delete: Bool?
    }
    struct Expected: Decodable {
      let tables: [String: [Row]]
      let waiting: Int
    }
    typealias Row = [String: MigrationFile.Constant]
    let steps: [Step]
  }

  static let names: [String] = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../../Specs/vectors/migration")
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    return files.map(\.path).filter { $0.hasSuffix(".json") }.sorted()
  }()

  @Test("are there") func present() { #expect(Self.names.count >= 10) }

  @Test("hold", arguments: names)
  func vector(path: String) async throws {
    let json = try Data(contentsOf: URL(fileURLWithPath: path))
    let vector = try JSONDecoder().decode(Vector.self, from: json)
    let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    let migrations = try Self.migrations(try #require(object["migrations"]))
    let known = try migrations.schemaMigrations()
    let group = try await MigrationGroup([0]) { Migration(1, "unused") { $0.drop("unused") } }
    let replica = group[0]
    // As a file of a newer replica would have stated.
    try await replica.withWriter { writer in
      try writer.inTransaction {
        for migration in known {
          try MigrationHistory.record(migration, appliedAt: nil, broughtBy: nil, on: writer.connection)
        }
      }
    }
    let objects = object["steps"] as? [[String: Any]] ?? []
    let learnt = try objects.map { try $0["learn"].map(Self.migrations) }
    let tried = try objects.map { try $0["try"].map { try Self.next(after: object["migrations"], $0) } }
    for (number, step) in vector.steps.enumerated() {
      if let version = step.migrate {
        try await replica.migrations.run(Migrations(Array(migrations.all.prefix(version))))
      } else if let received = step.receive {
        let record = try Self.record(received, known)
        try await replica.withWriter { try Self.merge(record, on: $0) }
      } else if let learnt = learnt[number] {
        let code = await code { try await replica.withWriter { try Self.learn(learnt, on: $0) } }
        #expect(code.map { "\($0)" } == step.refused, "step \(number)")
      } else if let tried = tried[number] {
        let code = await code { try await replica.migrations.run(tried()) }
        #expect(code.map { "\($0)" } == step.refused, "step \(number)")
      } else if let expected = step.expect {
        for (table, rows) in expected.tables {
          #expect(try await Self.rows(of: table, in: replica) == Self.values(rows), "step \(number)")
        }
        #expect(try await replica.status().staged == expected.waiting, "step \(number)")
      } else {
        Issue.record("step \(number) is none")
      }
    }
    #expect(try await replica.maintenance.verify().problems == [])
  }

  private static func migrations(_ list: Any) throws -> Migrations {
    let file: [String: Any] = ["format": MigrationFile.format, "migrations": list]
    return try Migrations(json: Array(JSONSerialization.data(withJSONObject: file)))
  }

  /// All migrations, and one more of these steps. What is wrong with it may be found when it is read, or when it is to
  /// run.
  private static func next(after all: Any?, _ steps: Any) throws -> () throws -> Migrations {
    let all = try #require(all as? [Any])
    let next: [String: Any] = ["version": all.count + 1, "name": "next", "steps": steps]
    let json = try JSONSerialization.data(withJSONObject: ["format": MigrationFile.format, "migrations": all + [next]])
    return { try Migrations(json: Array(json)) }
  }

  /// What an import does with the migrations that a file's sender knows.
  private static func learn(_ migrations: Migrations, on writer: ReplicaWriter) throws {
    let learnt = try migrations.schemaMigrations()
    try writer.inTransaction {
      var history = try MigrationHistory(writer.connection)
      try history.forgetUnused(unlike: learnt, on: writer.connection)
      try history.check(learnt, hint: "nothing was changed")
    }
  }

  private static func values(_ rows: [Vector.Row]) throws -> [[String: Value]] {
    try rows.map { try $0.mapValues { try $0.value() } }
  }

  private static func rows(of table: String, in replica: Replica) async throws -> [[String: Value]] {
    try await replica.withWriter { writer in
      let definition = try #require(writer.catalog[table]?.definition)
      let sql = "SELECT \(definition.quotedColumnList) FROM \"\(table)\" ORDER BY \(definition.quotedKeyList)"
      return try writer.connection.withStatement(sql) { statement in
        var rows: [[String: Value]] = []
        while try statement.step() {
          let cells = try definition.columns.enumerated().map { ($1.name, try statement.value(at: Int32($0))) }
          rows.append(Dictionary(uniqueKeysWithValues: cells))
        }
        return rows
      }
    }
  }

  /// What an import does with a transaction: it runs the additions that are known, applies it when it has its turn, and
  /// keeps it otherwise.
  private static func merge(_ record: TransactionRecord, on writer: ReplicaWriter) throws {
    try writer.inMerge {
      _ = try SchemaChange(writer: writer).adoptAdditions(MigrationHistory(writer.connection))
      let applier = try TransactionApplier(writer)
      let (origin, context) = (record.dot.origin, record.context ?? VersionVector())
      let isNext =
        record.dot.sequence == writer.log.origins.vector[origin].next && writer.log.origins.vector.covers(context)
      guard try isNext && applier.awaited(by: record) == nil else {
        let staged = StagedTransactions(connection: writer.connection)
        let before = SequenceNumber(rawValue: record.dot.sequence.rawValue - 1)
        let chain = try staged.get(Dot(origin, before))?.chain ?? writer.log.origins.head(of: origin).chain
        try staged.add(StagedTransaction(record: record, context: context, chain: record.chain(after: chain)))
        return
      }
      try applier.apply(record, others: context)
      try applier.merger.finish()
      try writer.log.origins.save([origin])
    }
  }

  private static func origin(_ number: UInt64) throws -> Origin {
    var reader = ByteReader([UInt8](repeating: 0, count: 15) + [UInt8(number)])
    return Origin(replica: ReplicaID(try Identifier128(reading: &reader)), incarnation: 1)
  }

  /// The transaction as its author would have written it, with the tables of its version.
  private static func record(_ received: Vector.Received, _ known: [SchemaMigration]) throws -> TransactionRecord {
    var draft = SchemaDraft([])
    for migration in known where migration.version <= received.schemaVersion {
      for step in migration.steps { try draft.apply(step) }
    }
    let tables = draft.tables.map(\.definition).filter(\.isSynced)
    var operations = ByteWriter()
    for change in received.operations {
      let number = try #require(tables.firstIndex { $0.name == change.table })
      let definition = tables[number]
      func value(_ row: Vector.Row?, _ column: ColumnDefinition) throws -> Value {
        try #require(row?[column.name]).value()
      }
      let kind: OperationKind =
        if change.insert != nil { .insert } else if change.update != nil { .update } else { .delete }
      let keys = definition.columns.prefix(definition.keyCount)
      operations.varint(Operation.head(table: number, kind: kind))
      for column in keys { operations.value(try value(change.insert ?? change.key, column)) }
      let others = definition.columns.enumerated().dropFirst(definition.keyCount)
      if let row = change.insert {
        for (_, column) in others { operations.value(try value(row, column)) }
      } else if let update = change.update {
        operations.varint(update.count)
        for (number, column) in others where update[column.name] != nil {
          operations.varint(number)
          operations.value(try value(update, column))
        }
      }
    }
    var changes = ByteWriter()
    let dictionary = tables.map { table in
      ChangeSet.Table(
        name: table.name, columnCount: table.columns.count, keyCount: table.keyCount,
        columns: table.columns.enumerated().map {
          ChangeSet.Column(index: $0, name: $1.name, isRelative: $1.merge.isRelative)
        })
    }
    ChangeSet.writeHeader(tables: dictionary, operationCount: received.operations.count, to: &changes)
    changes.raw(operations.bytes)
    var context = VersionVector()
    for (number, sequence) in received.context {
      context[try origin(try #require(UInt64(number)))] = SequenceNumber(rawValue: sequence)
    }
    return TransactionRecord(
      dot: Dot(try origin(received.origin), SequenceNumber(rawValue: received.sequence)),
      hlc: HLC(milliseconds: received.time), schemaVersion: received.schemaVersion, context: context,
      changes: changes.bytes)
  }
}
