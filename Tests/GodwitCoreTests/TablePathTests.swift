import GodwitBase
import GodwitCore
import Testing

/// Specs/migrations.md, "Older ones are carried forward".
@Suite("The path of a change to a later schema version")
struct TablePathTests {
  private static let key = ColumnDefinition(name: "id", type: .integer, isNullable: false)
  private static let size = ColumnDefinition(name: "size", type: .integer, isNullable: false, defaultValue: 5)
  private static let text = ColumnDefinition(name: "size", type: .text, isNullable: false, defaultValue: "")
  private static let required = ColumnDefinition(name: "must", type: .integer, isNullable: false)
  private static let steps: [SchemaStep] = [
    .changeColumn(text, table: "note", rule: .widen(to: .text)),
    .addColumn(
      ColumnDefinition(name: "more", type: .text, isNullable: true), table: "note",
      from: SchemaStep.Derivation(column: "size", rule: .widen(to: .text))),
  ]

  private func changed(_ columns: [ColumnDefinition]) -> ChangeSet.Table {
    ChangeSet.Table(
      name: "note", columnCount: columns.count, keyCount: 1,
      columns: columns.enumerated().map { ChangeSet.Column(index: $0, name: $1.name, isRelative: false) })
  }

  private func path(of columns: [ColumnDefinition], over made: [ColumnDefinition]) throws -> TablePath {
    var path = TablePath(changed(columns))
    path.follow(.createTable(try TableDefinition(name: "note", keyCount: 1, columns: made)))
    for step in Self.steps { path.follow(step) }
    return path
  }

  @Test("gives an insert without a column of the table that a migration makes the default, as later steps make it")
  func lacking() throws {
    let path = try path(of: [Self.key], over: [Self.key, Self.size, Self.required])
    #expect(path.additions.map(\.name) == ["size", "more"])
    #expect(path.additions.map(\.value) == [5, 5])
    #expect(path.additions.map(\.conversions.count) == [1, 2])
  }

  @Test("leaves an insert its own values")
  func knowing() throws {
    let path = try path(of: [Self.key, Self.size], over: [Self.key, Self.size])
    #expect(path.additions.isEmpty)
    #expect(path.columns.map { $0.map(\.name) } == [["id"], ["size", "more"]])
  }

  @Test("does not reach a table that is made anew after it was dropped")
  func dropped() throws {
    var path = TablePath(changed([Self.key]))
    path.follow(.dropTable("note"))
    path.follow(.createTable(try TableDefinition(name: "note", keyCount: 1, columns: [Self.key, Self.size])))
    #expect(path.name == nil && path.additions.isEmpty)
  }
}
