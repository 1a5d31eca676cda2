import GodwitBase
import GodwitCore
import Testing

@Suite("Names of tables and columns")
struct SchemaNameTests {
  @Test(
    "have letters, digits, _, space and - of any script",
    arguments: [
      "note", "Note 2", "a_b-c", "größe", "e\u{301}", "日本語", "ที่อยู่", "٣", "Ⅷ", "-", " ",
      String(repeating: "a", count: 128),
    ])
  func names(name: String) {
    #expect(SchemaName.problem(of: name) == nil)
  }

  @Test(
    "have nothing that SQL quotes by, that a terminal acts on or that nobody sees",
    arguments: [
      "", "\"", "'", "`", "[", "]", "\\", "$", ".", "/", ";", "(", "\0", "\n", "\u{1B}", "\u{7F}", "\u{9B}", "\u{AD}",
      "\u{200B}", "\u{200E}", "\u{202E}", "\u{2066}", "\u{2028}", "\u{115F}", "\u{3164}", "\u{FE0F}", "\u{34F}",
      "\u{E000}", "\u{1F426}", "\u{FEFF}", "\u{FFFD}", "\u{E0041}", "\u{378}",
    ])
  func refused(name: String) {
    #expect(SchemaName.problem(of: "a" + name + "b") != nil || name.isEmpty)
    #expect(SchemaName.problem(of: name) != nil)
  }

  @Test("are at most 128 bytes")
  func length() {
    #expect(SchemaName.problem(of: String(repeating: "é", count: 64)) == nil)
    #expect(SchemaName.problem(of: String(repeating: "é", count: 64) + "a") == "has 129 bytes, and 128 are the limit")
  }

  @Test("are shown in an error without what is none of theirs")
  func shown() {
    let error = #expect(throws: GodwitError.self) { try SchemaName.checkTable("\"x\u{1B}[2J\u{202E}") }
    #expect(error?.code == .invalidSchema)
    #expect(
      error?.message
        == "the table name \"<U+0022>x<U+001B><U+005B>2J<U+202E>\" holds U+0022, which is no letter, digit, _, space or -"
    )
    #expect(error?.hint == SchemaName.hint)
  }

  @Test("may have a $ in a collection of documents alone")
  func collections() throws {
    try SchemaName.checkTable("documents_$my things")
    try SchemaName.checkColumn("$233_", of: "documents_a")
    #expect(throws: GodwitError.self) { try SchemaName.checkColumn("$233_", of: "note") }
    #expect(throws: GodwitError.self) { try SchemaName.checkTable("document$") }
  }

  @Test(
    "have columns whose defaults they keep as they are",
    arguments: [
      (ColumnType.text, Value.integer(1)), (.integer, .real(1)), (.integer, .text("1")), (.real, .integer(1)),
      (.real, .real(-0.0)), (.real, .text("1.5")),
    ])
  func defaults(type: ColumnType, value: Value) throws {
    func table(_ value: Value) throws -> TableDefinition {
      let key = ColumnDefinition(name: "id", type: .integer, isNullable: false)
      let column = ColumnDefinition(name: "x", type: type, isNullable: true, defaultValue: value)
      return try TableDefinition(name: "t", keyCount: 1, columns: [key, column])
    }
    let error = #expect(throws: GodwitError.self) { _ = try table(value) }
    #expect(error?.code == .invalidSchema && error?.message.contains("another form") == true)
    _ = try table(value.stored(as: type, isKey: false))
  }

  private static func changeSet(table: String, column: String) -> [UInt8] {
    var writer = ByteWriter()
    let columns = [ChangeSet.Column(index: 0, name: "id"), ChangeSet.Column(index: 1, name: column)]
    ChangeSet.writeHeader(
      tables: [ChangeSet.Table(name: table, columnCount: 2, keyCount: 1, columns: columns)], operationCount: 0,
      to: &writer)
    return writer.bytes
  }

  @Test("are the only ones in the dictionary of a change set")
  func dictionary() throws {
    #expect(try ChangeSet(Self.changeSet(table: "note", column: "title")[...]).tables.count == 1)
    #expect(try ChangeSet(Self.changeSet(table: "documents_a", column: "$a")[...]).tables.count == 1)
    for (table, column) in [("\"x", "title"), ("note", "ti\u{202E}tle"), ("note", "$a"), ("n\u{9B}", "a")] {
      let error = #expect(throws: GodwitError.self) { try ChangeSet(Self.changeSet(table: table, column: column)[...]) }
      #expect(error?.code == .invalidSchema)
    }
  }

  private static func migration(_ name: String, _ steps: [SchemaStep]) throws -> SchemaMigration {
    try SchemaMigration(bytes: SchemaMigration(version: 1, name: name, steps: steps).bytes[...])
  }

  @Test("are the only ones in the steps of a migration, whose own name nobody may miss a part of")
  func steps() throws {
    #expect(try Self.migration("first: notes (all)", [.dropTable("note")]).steps.count == 1)
    let steps: [SchemaStep] = [
      .dropTable("\"x"), .renameTable("note", to: "[x]"), .dropColumn("a`", table: "note"),
      .renameColumn("a", to: "b\\", table: "note"), .dropIndex(["a'"], table: "note"), .setSynced(true, table: "a;b"),
    ]
    for step in steps {
      let error = #expect(throws: GodwitError.self) { try Self.migration("m", [step]) }
      #expect(error?.code == .invalidSchema)
    }
    for name in ["a\u{202E}b", "a\u{9B}b", "a\nb", "a\u{200D}b", ""] {
      let error = #expect(throws: GodwitError.self) { try Self.migration(name, []) }
      #expect(error?.code == .invalidMigration)
    }
  }
}
