import Foundation
import Godwit
import GodwitBase
import GodwitModel
import GodwitCore
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// What a member may put into the tables and migrations of a file it signs.
@Suite("Hostile structure in a sync file")
struct HostileStructureTests {
  private let group: TestGroup
  private let container: [UInt8]
  private let sender: Identity

  init() async throws {
    group = try await TestGroup(2)
    try await group[0].write { try $0.insert(Note(title: "kept")) }
    let file = group.folder.file("changes")
    _ = try await group[0].export(to: .file(file))
    sender = try Forgery.keys(of: group[0]).identity
    container = try Forgery.container(Forgery.bytes(file), sender)
  }

  /// Imports the file with another header; what it is refused with.
  private func importing(
    replacing texts: [(String, String)] = [], _ change: (SyncFileHeader) throws -> SyncFileHeader
  ) async throws -> GodwitError? {
    let path = group.folder.file("forged")
    try Forgery.write(container, signedBy: sender, to: path, replacing: texts, change)
    return await error { try await group[1].import(from: .file(path)) }
  }

  private static let expressions = [
    "printf('%.*g', 2147483647, 0.01) <> ''", "length(zeroblob(1000000000)) > v", "length(replace(v, 'a', v)) > 0",
    "random() > 0", "v > CURRENT_TIMESTAMP", "strftime('%s', 'now') > v", "changes() + last_insert_rowid() = v",
    "v LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'", "(SELECT count(*) FROM godwit_log) > v",
    "rtreecheck('main', 'note') <> v",
    "load_extension('/tmp/evil.so')", "sqlcipher_export('x') IS NULL", "v||v||v||v||v||v||v||v||v||v||v||v <> ''",
  ]

  @Test("checks that are not of the language are refused before SQLite sees them", arguments: expressions)
  func checks(check: String) async throws {
    let before = try await group[1].maintenance.digest()
    let stand = Forgery.stand(for: check, "1")
    let table = try TableDefinition(
      name: "hostile", keyCount: 1,
      columns: [
        ColumnDefinition(name: "id", type: .integer, isNullable: false),
        ColumnDefinition(name: "v", type: .any, isNullable: true, defaultValue: .integer(1), check: stand),
      ])
    let error = try await importing(replacing: [(stand, check)]) { $0.changing(tables: $0.tables + [table]) }
    #expect(error?.code == .invalidSchema && error?.hint != nil, "\(String(describing: error))")
    #expect(error?.message.contains("the check of column v of table hostile") == true)
    #expect(try await group[1].maintenance.digest() == before)
  }

  @Test("rules of migrations that are not of the language are refused before SQLite sees them", arguments: expressions)
  func rules(rule: String) async throws {
    let before = try await group[1].maintenance.digest()
    let stand = Forgery.stand(for: rule, "1")
    let column = ColumnDefinition(name: "w", type: .any, isNullable: true)
    let migration = SchemaMigration(
      version: 1, name: "m",
      steps: [.addColumn(column, table: "note", from: .init(column: "v", rule: .expression(stand)))])
    let error = try await importing(replacing: [(stand, rule)]) { $0.changing(migrations: [migration.bytes]) }
    #expect(error?.code == .invalidMigration && error?.hint != nil, "\(String(describing: error))")
    #expect(try await group[1].maintenance.digest() == before)
    #expect(try await group[1].migrations.status().migrations.isEmpty)
  }

  @Test("a migration that cannot run that nobody has used is not passed on, and goes with its author's removal")
  func migrations() async throws {
    let migration = SchemaMigration(version: 1, name: "m", steps: [.dropTable("nowhere")])
    #expect(try await importing { $0.changing(migrations: [migration.bytes], schemaVersion: 1) } == nil)
    #expect(try await group[1].migrations.status().migrations.count == 1)
    let own = group.folder.file("own")
    _ = try await group[1].export(to: .file(own), includesAll: true)
    let passedOn = try Forgery.header(Forgery.container(Forgery.bytes(own), Forgery.keys(of: group[1]).identity)).header
    #expect(passedOn.migrations.isEmpty)
    let known = try await group[1].migrations.known()
    #expect(await error { try await group[1].migrations.plan(known) } != nil)
    try await group[1].members.remove("replica-0")
    #expect(try await group[1].migrations.status().migrations.isEmpty)
    try await group[1].write { try $0.insert(Note(title: "after")) }
    #expect(try await group[1].maintenance.verify().isSound)
  }

  private static func table(
    _ name: String, key: [String] = ["id"], isSynced: Bool = true, type: ColumnType = .integer, to target: String? = nil
  ) throws -> TableDefinition {
    try TableDefinition(
      name: name, keyCount: key.count,
      columns: key.map { ColumnDefinition(name: $0, type: .integer, isNullable: false) }
        + [
          ColumnDefinition(
            name: "v", type: type, isNullable: true,
            reference: target.map { Reference(table: $0, onDelete: .cascade) })
        ], isSynced: isSynced)
  }

  @Test(
    "references that no row can keep are refused with the file, and later files and checks still work",
    arguments: ["a key of several columns", "a key of another type", "a table that stays"])
  func references(kind: String) async throws {
    let before = try await group[1].maintenance.digest()
    if kind == "a table that stays" { try await group[1].makeTable(try Self.table("target", isSynced: false)) }
    let error = try await importing { header in
      let target = try Self.table("target", key: kind == "a key of several columns" ? ["a", "b"] : ["id"])
      let hostile = try Self.table("hostile", type: kind == "a key of another type" ? .text : .integer, to: "target")
      return header.changing(tables: header.tables + (kind == "a table that stays" ? [hostile] : [hostile, target]))
    }
    if kind == "a table that stays" {
      #expect(error == nil, "it stands in the way of that table alone")
    } else {
      #expect(error?.code == .invalidSchema, "\(String(describing: error))")
      #expect(error?.message.contains("column v of table hostile refers to table target, ") == true)
      #expect(try await group[1].maintenance.digest() == before)
    }
    #expect(try await group[1].rows("SELECT 1 FROM sqlite_master WHERE name = 'hostile'").isEmpty)
    #expect(try await group[1].maintenance.verify().isSound)
    _ = try await group[1].import(from: .file(group.folder.file("changes")))
    #expect(try await group[1].fetch(Note.all).map(\.title) == ["kept"])
  }

  @Test("tables that others have had sent otherwise keep no honest file out")
  func parted() async throws {
    let orders = try Self.table("orders", to: "items")
    #expect(try await importing { $0.changing(tables: $0.tables + [orders]) } == nil)
    let items = [try Self.table("items", key: ["a", "b"]), try Self.table("other")]
    #expect(try await importing { $0.changing(tables: $0.tables + items) } == nil)
    #expect(try await group[1].rows("SELECT 1 FROM sqlite_master WHERE name = 'items'").isEmpty)
    #expect(try await group[1].rows("SELECT 1 FROM sqlite_master WHERE name IN ('orders', 'other')").count == 2)
    #expect(try await group[1].maintenance.verify().isSound)
    #expect(try await group[1].fetch(Note.all).map(\.title) == ["kept"])
  }

  @Test(
    "indexes that cost more than the file are refused",
    arguments: [
      ["a", "a"], ["a", "b", "A"], (0..<17).map { "c\($0)" },
    ])
  func indexes(columns: [String]) async throws {
    let all = ["id", "a", "b"] + (0..<17).map { "c\($0)" }
    func table(_ indexes: [IndexDefinition]) throws -> TableDefinition {
      try TableDefinition(
        name: "hostile", keyCount: 1,
        columns: all.map { ColumnDefinition(name: $0, type: .integer, isNullable: $0 != "id") }, indexes: indexes)
    }
    #expect(throws: GodwitError.self) { try table([IndexDefinition(columns: columns, isUnique: true)]) }
    #expect(throws: GodwitError.self, "two over the same columns") {
      try table([IndexDefinition(columns: ["a"], isUnique: true), IndexDefinition(columns: ["A"], isUnique: false)])
    }
    #expect(throws: GodwitError.self, "129 columns in all") {
      try table(
        (0..<13).map { first in IndexDefinition(columns: (0..<10).map { "c\(($0 + first) % 17)" }, isUnique: false) })
    }
    _ = try table([IndexDefinition(columns: Array(all[3..<19]), isUnique: true)])
  }

  @Test("no two indexes have one name, whatever their tables and columns are called")
  func indexNames() throws {
    func names(_ table: String, _ columns: [[String]]) throws -> [String] {
      let definition = try TableDefinition(
        name: table, keyCount: 1,
        columns: (["id"] + Set(columns.joined()).sorted()).map {
          ColumnDefinition(name: $0, type: .integer, isNullable: $0 != "id")
        },
        indexes: columns.map { IndexDefinition(columns: $0, isUnique: false) })
      return definition.indexes.map { definition.indexName($0).lowercased() }
    }
    let all =
      try names("x", [["y_on_z"], ["on_z"], ["a_and_b"], ["a", "b"], ["z"]]) + names("x_on_y", [["z"]])
      + names("x_on", [["z"]]) + names("x_ON_y_on", [["z"]])
    #expect(Set(all).count == all.count, "\(all)")
    #expect(all.contains("index_x_on_a_and_b") && all.contains("index_x.a_and_b"))
  }

  @Test("a file's tables are made as far as all have few columns, and the rest of it is taken in")
  func wide() async throws {
    let tables = try (0..<12).map { number in
      try TableDefinition(
        name: "wide \(number)", keyCount: 1,
        columns: (0..<950).map { ColumnDefinition(name: "c\($0)", type: .integer, isNullable: $0 > 0) })
    }
    #expect(try await importing { $0.changing(tables: $0.tables + tables) } == nil)
    let made = try await group[1].rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name LIKE 'wide %'").count
    #expect(made == 10)
    #expect(try await group[1].fetch(Note.all).map(\.title) == ["kept"])
    #expect(try await group[1].maintenance.verify().isSound)
  }

  @Test("the defaults of a table have few bytes together")
  func defaults() throws {
    func table(_ counts: [Int]) throws -> TableDefinition {
      try TableDefinition(
        name: "hostile", keyCount: 1,
        columns: [ColumnDefinition(name: "id", type: .integer, isNullable: false)]
          + counts.enumerated().map { number, count in
            ColumnDefinition(
              name: "v\(number)", type: .text, isNullable: true,
              defaultValue: .text(String(repeating: "x", count: count)))
          })
    }
    _ = try table([500, 500])
    #expect(throws: GodwitError.self) { try table([600, 600]) }
  }

  @Test("references that no row can keep are refused of programs, too")
  func own() async throws {
    try await group[1].makeTable(try Self.table("pair", key: ["a", "b"]))
    try await group[1].makeTable(try Self.table("local", isSynced: false))
    for (target, type) in [("pair", ColumnType.integer), ("local", .integer), ("note", .real)] {
      let failure = await error { try await group[1].makeTable(try Self.table("own", type: type, to: target)) }
      #expect(failure?.code == .invalidSchema && failure?.hint != nil, "\(target)")
    }
    #expect(try await group[1].maintenance.verify().isSound)
  }

  @Test("a table that others have been waiting for must have the key that they refer to")
  func late() async throws {
    try await group[1].makeTable(try Self.table("first", to: "second"))
    let failure = await error { try await group[1].makeTable(try Self.table("second", key: ["a", "b"])) }
    #expect(failure?.message.contains("table second cannot be made: column v of table first refers to it") == true)
    try await group[1].makeTable(try Self.table("second"))
    #expect(try await group[1].maintenance.verify().isSound)
  }
}
