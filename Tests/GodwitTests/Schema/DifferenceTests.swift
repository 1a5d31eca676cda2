import Foundation
import Godwit
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("A table that differs from its model")
struct DifferenceTests {
  private static func column(
    _ name: String, _ type: ColumnType = .integer, isNullable: Bool = false, reference: Reference? = nil,
    check: String? = nil, defaultValue: Value? = nil
  ) -> ColumnDefinition {
    ColumnDefinition(
      name: name, type: type, isNullable: isNullable, defaultValue: defaultValue, reference: reference, check: check)
  }

  private static func table(
    _ columns: [ColumnDefinition], keyCount: Int = 1, indexes: [IndexDefinition] = [], isSynced: Bool = true,
    numbersKeys: Bool = false
  ) throws -> TableDefinition {
    try TableDefinition(
      name: "page", keyCount: keyCount, columns: columns, indexes: indexes, isSynced: isSynced,
      numbersKeys: numbersKeys)
  }

  /// What is said when the model is as `model` and the database as `stored`.
  private func difference(_ model: TableDefinition, _ stored: TableDefinition) -> [String] {
    model.differences(from: stored).map(\.description)
  }

  private let id = Self.column("id")

  @Test("in its columns is described column by column")
  func columns() throws {
    let plain = try Self.table([id, Self.column("a")])
    let more = try Self.table([id, Self.column("a"), Self.column("b")])
    #expect(difference(more, plain) == ["column b is missing in the database"])
    #expect(difference(plain, more) == ["column b is not in the model"])
    let text = try Self.table([id, Self.column("a", .text)])
    #expect(difference(plain, text) == ["column a is text in the database and integer in the model"])
    let optional = try Self.table([id, Self.column("a", isNullable: true)])
    #expect(difference(optional, plain) == ["column a is optional only in the model"])
    #expect(difference(plain, optional) == ["column a is optional only in the database"])
    let capital = try Self.table([id, Self.column("A")])
    #expect(difference(plain, capital) == ["column a is called A in the database"])
  }

  @Test("in a reference says both sides")
  func references() throws {
    let plain = try Self.table([id, Self.column("a")])
    let restrict = try Self.table([id, Self.column("a", reference: Reference(table: "author", onDelete: .restrict))])
    let cascade = try Self.table([id, Self.column("a", reference: Reference(table: "author", onDelete: .cascade))])
    #expect(
      difference(restrict, plain)
        == ["column a refers to nothing in the database and to author (restrict) in the model"])
    #expect(
      difference(cascade, restrict)
        == ["column a refers to author (restrict) in the database and to author (cascade) in the model"])
    #expect(
      difference(plain, cascade) == ["column a refers to author (cascade) in the database and to nothing in the model"])
  }

  @Test("in a check says both sides")
  func checks() throws {
    let plain = try Self.table([id, Self.column("a")])
    let checked = try Self.table([id, Self.column("a", check: "a > 0")])
    let other = try Self.table([id, Self.column("a", check: "a >= 0")])
    #expect(
      difference(checked, plain) == ["column a is checked by nothing in the database and by (a > 0) in the model"])
    #expect(
      difference(other, checked) == ["column a is checked by (a > 0) in the database and by (a >= 0) in the model"])
  }

  @Test("in its indexes is described index by index")
  func indexes() throws {
    let plain = try Self.table([id, Self.column("a")])
    let indexed = try Self.table([id, Self.column("a")], indexes: [IndexDefinition(columns: ["a"], isUnique: false)])
    let unique = try Self.table([id, Self.column("a")], indexes: [IndexDefinition(columns: ["a"], isUnique: true)])
    #expect(difference(indexed, plain) == ["index index_page_on_a is missing in the database"])
    #expect(difference(plain, indexed) == ["index index_page_on_a is not in the model"])
    #expect(difference(unique, indexed) == ["index index_page_on_a is unique only in the model"])
    #expect(difference(indexed, unique) == ["index index_page_on_a is unique only in the database"])
  }

  @Test("in its key, sync scope or numbering says both sides")
  func table() throws {
    let columns = [id, Self.column("a")]
    let plain = try Self.table(columns)
    #expect(
      difference(try Self.table(columns, keyCount: 2), plain)
        == ["the primary key is (id) in the database and (id, a) in the model"])
    let local = try Self.table(columns, isSynced: false)
    #expect(difference(local, plain) == ["the table is synced only in the database"])
    #expect(difference(plain, local) == ["the table is synced only in the model"])
    let numbered = try Self.table(columns, isSynced: false, numbersKeys: true)
    #expect(difference(numbered, local) == ["the rows are numbered only in the model"])
    #expect(difference(local, numbered) == ["the rows are numbered only in the database"])
  }

  @Test("is none when only defaults or the order of columns differ")
  func none() throws {
    let table = try Self.table([id, Self.column("a"), Self.column("b")])
    #expect(difference(table, table).isEmpty)
    #expect(difference(table, try Self.table([id, Self.column("b"), Self.column("a")])).isEmpty)
    #expect(difference(table, try Self.table([id, Self.column("a", defaultValue: 1), Self.column("b")])).isEmpty)
  }

  @Test("does not open, and everything that differs is in one message")
  func message() async throws {
    struct Before: Model {
      static let schema = Schema<Self>("page") {
        Column("a", \.a)
        Column("b", \.b)
      }
      var id = 0
      var a = 0
      var b = 0
    }
    struct After: Model {
      static let schema = Schema<Self>("page") {
        Column("a", \.a)
        Column("c", \.c).unique()
      }
      var id = 0
      var a = ""
      var c = 0
    }
    let folder = try TemporaryFolder()
    await (try ReplicaPair.open(folder.file("replica"), [Before.self], TestClock())).close()
    let failure = await error { try await ReplicaPair.open(folder.file("replica"), [After.self], TestClock()) }
    #expect(failure?.code == .schemaMismatch)
    #expect(
      failure?.message
        == "table page differs from its model: column a is integer in the database and text in the model; "
        + "column c is missing in the database; unique index index_page_on_c is missing in the database")
    #expect(
      failure?.hint
        == "nothing was altered; change the model back, or add a migration with $0.alter(\"page\") { "
        + "$0.change(\"a\", String.self, default: \"\"); $0.add(\"c\", Int.self, default: 0); "
        + "$0.addIndex(\"c\", unique: true) }")
  }

  @Test("in the order of its columns is written in its own order, also in a long run")
  func otherOrder() async throws {
    struct Ordered: Model {
      static let schema = Schema<Self>("pair") {
        Column("a", \.a)
        Column("b", \.b)
      }
      var id = 0
      var a = 0
      var b = 0
    }
    struct Reordered: Model {
      static let schema = Schema<Self>("pair") {
        Column("b", \.b)
        Column("a", \.a)
      }
      var id = 0
      var a = 0
      var b = 0
    }
    let pair = try await ReplicaPair(models: [Ordered.self])
    await pair.sender.close()
    let sender = try await ReplicaPair.open(pair.folder.file("here"), [Reordered.self], pair.clock)
    try await sender.write { try $0.insert((1...200).map { Reordered(id: $0, a: $0, b: -$0) }) }
    let file = pair.folder.file("file")
    _ = try await sender.export(to: .file(file))
    _ = try await pair.receiver.import(from: .file(file))
    #expect(try await pair.receiver.fetch(Ordered.all).allSatisfy { $0.a == $0.id && $0.b == -$0.id })
    #expect(try await sender.maintenance.digest() == pair.receiver.maintenance.digest())
  }
}
