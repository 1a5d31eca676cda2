import GodwitBase
import GodwitCore
import Testing

@Suite("The unique indexes that compare keys alone")
struct MigratedIndexesTests {
  private static func index(_ columns: String...) -> IndexDefinition {
    IndexDefinition(columns: columns, isUnique: true)
  }

  private static func column(_ name: String) -> ColumnDefinition {
    ColumnDefinition(name: name, type: .text, isNullable: true)
  }

  private static func compares(_ table: String, _ columns: String..., after steps: SchemaStep...) -> Bool {
    MigratedIndexes(steps).contains(IndexDefinition(columns: columns, isUnique: true), of: table)
  }

  @Test("are those that a step made, by whatever names they go since")
  func made() {
    let made = SchemaStep.addIndex(Self.index("A", "b"), table: "Note")
    #expect(Self.compares("note", "a", "B", after: made))
    #expect(!Self.compares("note", "b", "a", after: made))
    #expect(!Self.compares("other", "a", "b", after: made))
    #expect(
      Self.compares(
        "text", "a", "c", after: made, .renameColumn("B", to: "C", table: "note"),
        .renameTable("NOTE", to: "Text")))
    #expect(!Self.compares("note", "a", "b", after: made, .renameTable("note", to: "text")))
  }

  @Test("are those over a column whose values a rule made")
  func values() {
    let changed = SchemaStep.changeColumn(Self.column("a"), table: "note", rule: .widen(to: .text))
    let derived = SchemaStep.addColumn(
      Self.column("a"), table: "note", from: SchemaStep.Derivation(column: "b", rule: .expression("b")))
    for step in [changed, derived] {
      #expect(Self.compares("note", "a", after: step))
      #expect(Self.compares("note", "x", "a", after: step))
      #expect(Self.compares("note", "c", after: step, .renameColumn("a", to: "c", table: "note")))
      #expect(!Self.compares("note", "b", after: step))
      #expect(!Self.compares("note", "a", after: step, .dropColumn("a", table: "note")))
      #expect(!Self.compares("note", "a", after: step, .dropTable("note")))
    }
  }

  @Test("are not those that came with their table, nor one that was dropped")
  func others() throws {
    let table = try TableDefinition(
      name: "note", keyCount: 1, columns: [ColumnDefinition(name: "id", type: .integer, isNullable: false)])
    #expect(
      !Self.compares("note", "a", after: .createTable(table), .addColumn(Self.column("a"), table: "note", from: nil)))
    let made = SchemaStep.addIndex(Self.index("a"), table: "note")
    #expect(!Self.compares("note", "a", after: made, .dropIndex(["A"], table: "note")))
    #expect(!Self.compares("note", "a", after: made, .dropTable("note"), .createTable(table)))
    #expect(Self.compares("note", "a", after: made, .setSynced(false, table: "note"), .setSynced(true, table: "note")))
  }
}
