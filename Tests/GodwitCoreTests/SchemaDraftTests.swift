import GodwitBase
import GodwitCore
import Testing

@Suite("A draft of new tables")
struct SchemaDraftTests {
  private static let key = ColumnDefinition(name: "id", type: .integer, isNullable: false)
  private static let title = ColumnDefinition(name: "title", type: .text, isNullable: false, defaultValue: "")
  private static let size = ColumnDefinition(name: "size", type: .real, isNullable: true)
  private static let folder = ColumnDefinition(
    name: "folder", type: .integer, isNullable: true, reference: Reference(table: "folder", onDelete: .restrict))
  private static let checked = ColumnDefinition(name: "n", type: .integer, isNullable: true, check: "n > 0")

  private static func draft() throws -> SchemaDraft {
    SchemaDraft([
      try TableDefinition(name: "folder", keyCount: 1, columns: [key]),
      try TableDefinition(
        name: "note", keyCount: 1, columns: [key, title, size, folder, checked],
        indexes: [IndexDefinition(columns: ["title"], isUnique: false)]),
    ])
  }

  static let refused: [SchemaStep] = [
    .dropTable("none"), .dropTable("folder"), .renameTable("none", to: "x"), .renameTable("note", to: "FOLDER"),
    .renameTable("note", to: "godwit_x"), .renameTable("note", to: ""),
    .addColumn(ColumnDefinition(name: "title", type: .text, isNullable: true), table: "note", from: nil),
    .addColumn(ColumnDefinition(name: "new", type: .text, isNullable: false), table: "note", from: nil),
    .addColumn(
      ColumnDefinition(
        name: "new", type: .integer, isNullable: true, defaultValue: 1,
        reference: Reference(table: "folder", onDelete: .cascade)), table: "note", from: nil),
    .addColumn(
      ColumnDefinition(name: "new", type: .integer, isNullable: true), table: "note",
      from: SchemaStep.Derivation(column: "title", rule: .widen(to: .integer))),
    .addColumn(
      ColumnDefinition(name: "new", type: .integer, isNullable: true), table: "note",
      from: SchemaStep.Derivation(column: "id", rule: .widen(to: .integer))),
    .addColumn(
      ColumnDefinition(name: "new", type: .integer, isNullable: true), table: "note",
      from: SchemaStep.Derivation(column: "none", rule: .expression("none"))),
    .dropColumn("id", table: "note"), .dropColumn("title", table: "note"), .dropColumn("none", table: "note"),
    .renameColumn("title", to: "SIZE", table: "note"), .renameColumn("n", to: "m", table: "note"),
    .changeColumn(key, table: "note", rule: .widen(to: .integer)),
    .changeColumn(
      ColumnDefinition(name: "size", type: .real, isNullable: false), table: "note", rule: .widen(to: .real)),
    .changeColumn(
      ColumnDefinition(name: "size", type: .integer, isNullable: true), table: "note", rule: .widen(to: .integer)),
    .changeColumn(
      ColumnDefinition(name: "title", type: .text, isNullable: false, check: "1) --"), table: "note",
      rule: .widen(to: .text)),
    .addIndex(IndexDefinition(columns: ["TITLE"], isUnique: true), table: "note"),
    .addIndex(IndexDefinition(columns: ["none"], isUnique: true), table: "note"),
    .dropIndex(["size"], table: "note"),
  ]

  @Test("refuses a step that the tables cannot go through", arguments: refused)
  func refusal(step: SchemaStep) throws {
    var draft = try Self.draft()
    let failure = #expect(throws: GodwitError.self) { try draft.apply(step) }
    #expect([.invalidMigration, .invalidSchema].contains(failure?.code))
  }

  @Test("takes a table that is there for the one meant when it is the same, and refuses another")
  func existing() throws {
    var draft = try Self.draft()
    try draft.apply(.createTable(TableDefinition(name: "folder", keyCount: 1, columns: [Self.key])))
    #expect(draft.tables.count == 2)
    #expect(throws: GodwitError.self) {
      try draft.apply(.createTable(TableDefinition(name: "note", keyCount: 1, columns: [Self.key])))
    }
  }

  @Test("follows a table and its columns through names and rules")
  func sources() throws {
    var draft = try Self.draft()
    let steps: [SchemaStep] = [
      .renameTable("folder", to: "shelf"), .renameColumn("title", to: "name", table: "note"),
      .addColumn(
        ColumnDefinition(name: "slug", type: .text, isNullable: true), table: "note",
        from: SchemaStep.Derivation(column: "name", rule: .expression("lower(name)"))),
      .changeColumn(
        ColumnDefinition(name: "slug", type: .blob, isNullable: true), table: "note", rule: .widen(to: .blob)),
      .dropColumn("size", table: "note"),
    ]
    for step in steps { try draft.apply(step) }
    let note = draft.tables[1]
    #expect(note.definition.columns.map(\.name) == ["id", "name", "folder", "n", "slug"])
    #expect(note.sources.map(\.column) == ["id", "title", "folder", "n", "title"])
    #expect(note.sources.map(\.conversions.count) == [0, 0, 0, 0, 2])
    #expect(note.definition.columns[2].reference?.table == "shelf")
    #expect(note.definition.indexes == [IndexDefinition(columns: ["name"], isUnique: false)])
  }

  @Test("two migrations are compared line by line")
  func difference() {
    let steps: [SchemaStep] = [.dropTable("a"), .dropTable("b"), .dropTable("c")]
    let mine = SchemaMigration(version: 2, name: "two", steps: steps)
    let other = SchemaMigration(
      version: 2, name: "two", steps: [.dropTable("a"), .dropTable("x"), .dropTable("c"), .dropTable("d")])
    #expect(
      mine.difference(from: other) == [
        "  migration 2 \"two\"", "    drop table a", "-   drop table b", "+   drop table x", "    drop table c",
        "+   drop table d",
      ])
    #expect(mine.difference(from: mine).allSatisfy { $0.hasPrefix("  ") })
  }

  @Test("integers beyond 2⁵³ are the ones that a real cannot keep")
  func losses() {
    let conversion = Conversion(name: "n", .widen(to: .real), to: Self.size)
    func loses(_ value: Value) -> Bool { conversion.apply(value) { _, _, _ in nil }.loses }
    #expect(!loses(9_007_199_254_740_992) && loses(9_007_199_254_740_993))
    #expect(!loses(.integer(.min)) && loses(.integer(.max)))
    #expect(!loses("text") && !loses(.null))
    #expect(Conversion.widened(.real(0.1), to: .text) == "0.1" && Conversion.widened(.integer(-7), to: .text) == "-7")
  }

  @Test("a rule that comes to more than an integer can be falls back, and loses")
  func overflows() throws {
    let column = ColumnDefinition(name: "n", type: .integer, isNullable: true)
    let conversion = Conversion(name: "n", .expression("n * 1000"), to: column)
    for number in [9_223_372_036_854_775_808.0, -1e19, .infinity] {
      let outcome = conversion.apply(1) { _, _, _ in .real(number) }
      #expect(outcome == Conversion.Outcome(value: .null, loses: true, isFallback: true))
    }
    #expect(conversion.apply(1) { _, _, _ in .real(1.5) } == Conversion.Outcome(value: 1.5))
  }

  @Test("finds an index's column by the bytes of its name, A to Z aside, as SQLite does")
  func indexColumns() throws {
    let column = ColumnDefinition(name: "gr\u{F6}\u{DF}e", type: .integer, isNullable: true)
    func make(_ name: String) throws {
      _ = try TableDefinition(
        name: "note", keyCount: 1, columns: [Self.key, column],
        indexes: [IndexDefinition(columns: [name], isUnique: true)])
    }
    for name in ["gr\u{F6}\u{DF}e", "GR\u{F6}\u{DF}E"] { try make(name) }
    for name in ["gro\u{308}\u{DF}e", "gr\u{D6}\u{DF}e"] {
      let error = #expect(throws: GodwitError.self) { try make(name) }
      #expect(error?.code == .invalidSchema)
    }
  }
}
