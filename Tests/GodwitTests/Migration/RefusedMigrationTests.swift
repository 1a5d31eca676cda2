import Foundation
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("A migration that is refused")
struct RefusedMigrationTests {
  private static let notes = Migration(1, "notes") {
    $0.create("note") {
      $0.column("id", Int.self)
      $0.column("best", Int?.self, merge: .max)
      $0.column("least", Int.self, default: 0, merge: .min)
      $0.column("longest", String.self, default: "", merge: .custom("longest") { $0.count < $1.count ? $1 : $0 })
      $0.column("size", Int.self, default: 0)
      $0.column("needed", Int.self)
      $0.index("size", unique: true)
    }
    $0.create("draft", sync: .local) { $0.column("id", Int.self) }
    $0.create("jotting", sync: .local) {
      $0.column("id", Int.self)
      $0.column("draft", Int?.self, references: "draft")
    }
    $0.create("pair", keyCount: 2) {
      $0.column("a", Int.self)
      $0.column("b", Int.self)
    }
    $0.create("folder") { $0.column("id", Int.self) }
    $0.create("node") {
      $0.column("id", Int.self)
      $0.column("parent", Int?.self, references: "node", onDelete: .setNull, acyclic: true)
    }
    $0.create("shelf") {
      $0.column("id", Int.self)
      $0.column("folder", Int?.self, references: "folder")
    }
  }

  private static func column(
    _ name: String, _ type: ColumnType = .integer, optional: Bool = true, default value: Value? = nil,
    references table: String? = nil, merge: MergePolicy = .lastWriterWins
  ) -> ColumnDefinition {
    ColumnDefinition(
      name: name, type: type, isNullable: optional, defaultValue: value,
      reference: table.map { Reference(table: $0, onDelete: .restrict) }, merge: merge)
  }

  private static func table(_ name: String, referringTo target: String?, synced: Bool = true) throws -> SchemaStep {
    .createTable(
      try TableDefinition(
        name: name, keyCount: 1,
        columns: [column("id", optional: false)] + (target.map { [column("other", references: $0)] } ?? []),
        isSynced: synced))
  }

  private static func migrations(_ steps: [SchemaStep]) -> Migrations {
    Migrations([notes, Migration(SchemaMigration(version: 2, name: "second", steps: steps))])
  }

  /// What running the steps throws: the same as planning them, and neither changes anything.
  private func refusal(_ steps: [SchemaStep]) async throws -> GodwitError? {
    let group = try await MigrationGroup([0]) { Self.notes }
    try await group[0].migrations.run(Migrations([Self.notes]))
    try await group[0].documents("things").set("key", ["name": "value"])
    let planned = await error { try await group[0].migrations.plan(Self.migrations(steps)) }
    let failure = await error { try await group[0].migrations.run(Self.migrations(steps)) }
    #expect(planned?.message == failure?.message && planned?.code == failure?.code)
    #expect(try await group[0].migrations.status().version == (failure == nil ? 2 : 1))
    return failure
  }

  static let conversions: [SchemaStep] = [
    .changeColumn(column("best"), table: "note", rule: .expression("-best")),
    .changeColumn(column("best", .text), table: "note", rule: .widen(to: .text)),
    // NULL is chosen last, and what takes its place need not be.
    .changeColumn(column("best", optional: false, default: 5), table: "note", rule: .widen(to: .integer)),
    .changeColumn(column("least", .real), table: "note", rule: .widen(to: .real)),
    .changeColumn(column("longest", .blob), table: "note", rule: .widen(to: .blob)),
    // What is brought later is judged by the new rule, and what was brought before was not.
    .changeColumn(
      ColumnDefinition(name: "best", type: .integer, isNullable: true, check: "best < 10"), table: "note",
      rule: .widen(to: .integer)),
    .changeColumn(column("least", optional: false, default: 7), table: "note", rule: .widen(to: .integer)),
    // A hidden reference shows NULL.
    .changeColumn(column("folder", optional: false, default: 1), table: "shelf", rule: .widen(to: .integer)),
    .changeColumn(column("folder"), table: "shelf", rule: .expression("folder % 10")),
    .changeColumn(column("longest", .text), table: "note", rule: .expression("lower(longest)")),
    .addColumn(column("copy"), table: "note", from: .init(column: "best", rule: .widen(to: .integer))),
    .addColumn(column("copy"), table: "note", from: .init(column: "least", rule: .expression("least + 1"))),
    .addColumn(column("copy", .text), table: "note", from: .init(column: "longest", rule: .widen(to: .text))),
    .addColumn(column("copy", merge: .maximum), table: "note", from: .init(column: "size", rule: .widen(to: .integer))),
  ]

  @Test("makes other values of a column that is a choice, or a column of them", arguments: conversions)
  func choices(step: SchemaStep) async throws {
    let failure = try await refusal([step])
    #expect(failure?.code == .invalidMigration, "\(failure?.message ?? "")")
    #expect(failure?.hint == "nothing was altered; add another column, and fill it by a data step")
    let place = /migration 2 "second" failed: .*column \w+ of table (note|shelf)/
    #expect(failure?.message.contains(place) == true, "\(failure?.message ?? "")")
  }

  @Test(
    "gives a column another merge policy",
    arguments: [
      ("best", "merged by max", "a counter", MergePolicy.counter),
      ("size", "merged by the last write", "merged by max", .maximum),
    ])
  func policies(name: String, old: String, new: String, policy: MergePolicy) async throws {
    let column = Self.column(name, optional: name == "best", default: name == "best" ? nil : 0, merge: policy)
    let failure = try await refusal([.changeColumn(column, table: "note", rule: .widen(to: .integer))])
    #expect(failure?.code == .invalidMigration)
    let message = "migration 2 \"second\" failed: column \(name) of table note is \(old) and cannot become \(new)"
    #expect(failure?.message == message)
  }

  @Test("is not one that leaves the values of a choice as they are")
  func allowed() async throws {
    let failure = try await refusal([
      .renameColumn("least", to: "lowest", table: "note"),
      .changeColumn(Self.column("lowest", default: 0), table: "note", rule: .widen(to: .integer)),
      .changeColumn(Self.column("folder", references: "folder"), table: "shelf", rule: .widen(to: .integer)),
    ])
    #expect(failure == nil, "\(failure?.message ?? "")")
  }

  @Test(
    "is of a collection of documents",
    arguments: [
      SchemaStep.dropTable("documents_things"), .renameTable("note", to: "documents_note"),
      .dropColumn("name", table: "Documents_things"),
    ])
  func collections(step: SchemaStep) async throws {
    let failure = try await refusal([step])
    #expect([.invalidMigration, .invalidSchema].contains(failure?.code), "\(failure?.message ?? "no error")")
  }

  @Test("is not one that makes an index of the name that another column of an index had")
  func otherIndex() async throws {
    let failure = try await refusal([
      .renameColumn("size", to: "length", table: "note"), .renameColumn("needed", to: "size", table: "note"),
      .addIndex(.init(columns: ["size"], isUnique: true), table: "note"),
    ])
    #expect(failure == nil, "\(failure?.message ?? "")")
  }

  @Test(
    "takes back what another step of it did",
    arguments: [
      [
        SchemaStep.setSynced(true, table: "draft"), .setSynced(true, table: "jotting"),
        .setSynced(false, table: "draft"),
      ],
      [.setSynced(false, table: "pair"), .setSynced(true, table: "pair")],
      [.dropIndex(["size"], table: "note"), .addIndex(.init(columns: ["size"], isUnique: true), table: "note")],
    ])
  func takenBack(steps: [SchemaStep]) async throws {
    let failure = try await refusal(steps)
    #expect(failure?.code == .invalidMigration && failure?.message.contains("takes back") == true)
    #expect(failure?.hint == "leave out both")
  }

  @Test(
    "makes values of a reference",
    arguments: [
      SchemaStep.changeColumn(
        column("parent", references: "node"), table: "node", rule: .expression("parent % 10")),
      .addColumn(
        ColumnDefinition(
          name: "other", type: .integer, isNullable: true,
          reference: Reference(table: "node", onDelete: .setNull, isAcyclic: true)), table: "node",
        from: .init(column: "parent", rule: .widen(to: .integer))),
    ])
  func acyclic(step: SchemaStep) async throws {
    let failure = try await refusal([step])
    #expect(
      failure?.code == .invalidMigration && failure?.message.contains("of table node refers to table node") == true)
    #expect(failure?.hint?.contains("data step") == true)
  }

  private static func astray() throws -> [(steps: [SchemaStep], what: String, hint: String)] {
    let local = "which is not synced as table"
    let none = "which is not there"
    let pair = "whose key has several columns"
    return [
      ([try table("new", referringTo: "draft")], local, "startSync"),
      ([.addColumn(column("draft", references: "draft"), table: "note", from: nil)], local, "startSync"),
      ([.setSynced(true, table: "jotting")], local, "startSync"),
      ([.setSynced(false, table: "folder")], local, "stopSync"),
      (
        [try table("new", referringTo: "old"), try table("old", referringTo: "new", synced: false)], local, "startSync"
      ),
      ([try table("new", referringTo: "none")], none, "make table none"),
      ([try table("new", referringTo: "none", synced: false)], none, "make table none"),
      ([.addColumn(column("none", references: "none"), table: "note", from: nil)], none, "make table none"),
      ([try table("new", referringTo: "pair")], pair, "a key of one"),
      ([.addColumn(column("pair", references: "pair"), table: "draft", from: nil)], pair, "a key of one"),
    ]
  }

  @Test("lets a reference lead to a table that is not there, has a key of several columns, or does not travel")
  func references() async throws {
    for (steps, what, hint) in try Self.astray() {
      let failure = try await refusal(steps)
      #expect(failure?.code == .invalidMigration, "\(failure?.message ?? "")")
      #expect(failure?.message.contains(what) == true, "\(failure?.message ?? "")")
      #expect(failure?.hint?.contains(hint) == true, "\(failure?.hint ?? "")")
    }
  }

  @Test("is not one whose references lead somewhere once all steps have run, in whatever order")
  func order() async throws {
    let orders: [[SchemaStep]] = [
      [try Self.table("a", referringTo: "b"), try Self.table("b", referringTo: "a")],
      [try Self.table("a", referringTo: "a")],
      [.setSynced(true, table: "jotting"), .setSynced(true, table: "draft")],
      [.setSynced(false, table: "folder"), .setSynced(false, table: "shelf")],
      [try Self.table("new", referringTo: "draft"), .setSynced(true, table: "draft")],
      [try Self.table("new", referringTo: "shelf", synced: false)],
      [
        .addColumn(Self.column("new", references: "new"), table: "note", from: nil),
        try Self.table("new", referringTo: nil),
      ],
      [.renameTable("folder", to: "cabinet"), try Self.table("folder", referringTo: "cabinet")],
    ]
    for steps in orders {
      let failure = try await refusal(steps)
      #expect(failure == nil, "\(steps.map(\.summary)): \(failure?.message ?? "")")
    }
  }

  static let defaults: [ColumnDefinition] = [
    column("new", optional: false, default: "3", merge: .counter),
    column("new", optional: false, default: 3.0, merge: .counter),
    column("new", optional: false, default: .null, merge: .counter),
    column("new", .text, optional: false, default: "new", merge: .addWinsSet),
    column("new", .text, optional: false, default: #"["b","a"]"#, merge: .addWinsSet),
    column("new", .text, optional: false, default: #"["a","a"]"#, merge: .addWinsSet),
    column("new", .text, optional: false, default: #"["a", "b"]"#, merge: .addWinsSet),
    column("new", .text, optional: false, default: 3, merge: .addWinsSet),
    column("new", .text, optional: false, default: .null, merge: .addWinsSet),
  ]

  @Test("gives a counter a default that is no count, or a set one that is no set", arguments: defaults)
  func policyDefaults(column: ColumnDefinition) async throws {
    let failure = try await refusal([.addColumn(column, table: "note", from: nil)])
    #expect([.invalidSchema, .invalidMigration].contains(failure?.code), "\(failure?.message ?? "")")
    let made = #expect(throws: GodwitError.self) {
      try TableDefinition(name: "new", keyCount: 1, columns: [Self.column("id", optional: false), column])
    }
    #expect(made?.code == .invalidSchema && made?.hint?.isEmpty == false)
  }

  static let starts: [ColumnDefinition] = [
    column("new", optional: false, default: -3, merge: .counter),
    column("new", optional: true, default: 1, merge: .counter),
    column("new", .text, optional: false, default: #"["a"]"#, merge: .addWinsSet),
    column("new", optional: false, default: 0, merge: .maximum),
    column("new", optional: true, default: 9, merge: .minimum),
  ]

  @Test(
    "adds a column with a merge policy that starts as something else than what nobody's write makes of it",
    arguments: starts)
  func neutralStarts(column: ColumnDefinition) async throws {
    let failure = try await refusal([.addColumn(column, table: "note", from: nil)])
    #expect(failure?.code == .invalidMigration && failure?.message.contains("column new of table note") == true)
    #expect(failure?.message.contains("cannot start as anything but") == true)
  }

  @Test(
    "leaves a cell without a value",
    arguments: [
      SchemaStep.addColumn(
        column("new", optional: false), table: "note", from: .init(column: "size", rule: .expression("1"))),
      .changeColumn(column("size", optional: false), table: "note", rule: .expression("size + 1")),
      .dropColumn("needed", table: "note"),
    ])
  func valueless(step: SchemaStep) async throws {
    let failure = try await refusal([step])
    #expect(
      failure?.code == .invalidMigration
        && failure?.message.contains(/migration 2 "second" failed: .*(new|size|needed) of table note/) == true,
      "\(failure?.message ?? "")")
    #expect(failure?.hint?.hasPrefix("nothing was altered; ") == true)
  }

  @Test("is declared to be an addition and is none")
  func declaredAddition() async throws {
    let migrations = Migrations {
      Migration.addition(1, "notes") { $0.create("note") { $0.column("id", Int.self) } }
      Migration.addition(2, "titles") {
        $0.alter("note") {
          $0.add("title", String.self, default: "")
          $0.add("slug", String?.self, from: "title", by: "lower(title)")
        }
      }
    }
    let failure = #expect(throws: GodwitError.self) { _ = try migrations.schemaMigrations() }
    #expect(failure?.code == .invalidMigration)
    #expect(
      failure?.message.hasPrefix("migration 2 \"titles\" is declared to be an addition, and its step add column slug")
        == true)
    let json = try Migrations(Array(migrations.all.prefix(1))).json()
    #expect(json.contains(#""addition" : true"#))
    #expect(try Migrations(json: Array(json.utf8)).all[0].isDeclaredAddition)
  }

  @Test("is not one whose counters and sets start as what they are")
  func soundDefaults() async throws {
    let columns = [
      Self.column("count", optional: false, default: 0, merge: .counter),
      Self.column("tags", .text, optional: false, default: "[]", merge: .addWinsSet),
      Self.column("none", .text, optional: false, default: "[]", merge: .addWinsSet),
    ]
    let failure = try await refusal(columns.map { .addColumn($0, table: "note", from: nil) })
    #expect(failure == nil, "\(failure?.message ?? "")")
  }

  @Test("lets NULL stand for a default where a column takes none")
  func emptyDefault() async throws {
    let steps: [SchemaStep] = [
      .addColumn(Self.column("new", optional: false, default: .null), table: "note", from: nil),
      .changeColumn(Self.column("best", optional: false, default: .null), table: "note", rule: .widen(to: .integer)),
    ]
    for step in steps { #expect(try await refusal([step])?.code == .invalidMigration) }
  }
}
