import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Found by the simulator (seed 50009514): a hostile member's write far ahead of all clocks was remembered for a key in
/// the form in which it came, and not for the row that it had written to. An own write to that row had a lesser
/// timestamp, and lost elsewhere.
@Suite("Rows that a transaction writes")
struct ChangedRowsTests {
  @Test("are named by their keys as the table keeps them")
  func stored() throws {
    let definition = try TableDefinition(
      name: "seat", keyCount: 2,
      columns: [
        ColumnDefinition(name: "row", type: .text, isNullable: false),
        ColumnDefinition(name: "number", type: .integer, isNullable: false),
      ])
    let table = CatalogTable(id: 7, definition: definition)
    let named = definition.columns.enumerated().map { ChangeSet.Column(index: $0, name: $1.name) }
    var writer = ByteWriter()
    ChangeSet.writeHeader(
      tables: [ChangeSet.Table(name: "seat", columnCount: 2, keyCount: 2, columns: named)], operationCount: 2,
      to: &writer)
    for (row, number): (Value, Value) in [(.real(-0.5), .text("12")), ("B", 3)] {
      writer.varint(Operation.head(table: 0, kind: .delete))
      writer.value(row)
      writer.value(number)
    }
    var rows: [RowKey] = []
    try ChangeSet(writer.bytes[...]).forEach { rows.append(try table.row($0.key)) }
    let keys: [[Value]] = [["-0.5", 12], ["B", 3]]
    #expect(rows == keys.map { RowKey(table: 7, key: $0.encoded[...]) })
  }
}
