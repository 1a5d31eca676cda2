import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Refuses a transaction that leaves rows of an acyclic reference in a circle. Circles that several replicas made
/// together are the merge's to open (Specs/merge.md, "References").
struct CircleCheck {
  private let connection: Connection
  /// By table name, the columns whose references are acyclic.
  private let tables: [String: (definition: TableDefinition, columns: Set<Int>)]

  /// Nil when no table has such a reference.
  init?(_ catalog: Catalog, on connection: Connection) {
    var tables: [String: (TableDefinition, Set<Int>)] = [:]
    for table in catalog.synced.map(\.definition) {
      let columns = table.columns.indices.filter { table.columns[$0].reference?.isAcyclic == true }
      if !columns.isEmpty { tables[table.name] = (table, Set(columns)) }
    }
    guard !tables.isEmpty else { return nil }
    self.tables = tables
    self.connection = connection
  }

  /// Looks at the rows whose reference an own change set writes, as they stand at its end.
  func run(_ changes: [UInt8]) throws {
    let changes = try ChangeSet(changes[...])
    guard changes.tables.contains(where: { tables[$0.name] != nil }) else { return }
    var ways: [Way: RootedRows] = [:]
    try changes.forEach { operation in
      let table = changes.tables[operation.table]
      guard let (definition, columns) = tables[table.name] else { return }
      for cell in try operation.cells(in: table) where columns.contains(cell.column) {
        let rows = TableRows(definition, on: connection)
        try check(operation.key, cell.column, rows, &ways[Way(table: table.name, column: cell.column), default: []])
      }
    }
  }

  /// A reference whose rows are followed.
  private struct Way: Hashable {
    let table: String
    let column: Int
  }

  /// Keys of rows whose way is known to end at a row without parent. Each row of a chain is looked at once.
  private typealias RootedRows = Set<ArraySlice<UInt8>>

  /// A row's acyclic references that are part of a circle, by column number.
  func circles(through key: RowKey, _ definition: TableDefinition) throws -> [Int] {
    guard let columns = tables[definition.name]?.columns else { return [] }
    let rows = TableRows(definition, on: connection)
    return try columns.sorted().filter { column in
      var rooted: RootedRows = []
      return try isOnCircle(key.key, column, rows, &rooted)
    }
  }

  private func check(
    _ start: ArraySlice<UInt8>, _ column: Int, _ rows: TableRows, _ rooted: inout RootedRows
  ) throws {
    guard try isOnCircle(start, column, rows, &rooted) else { return }
    let name = rows.definition.columns[column].name
    throw GodwitError(
      .constraint, "a row of table \(rows.definition.name) would come before itself by its column \(name)",
      hint: "the reference is declared acyclic; move the other row first")
  }

  /// Goes from parent to parent; a way that comes back to its first row is a circle.
  private func isOnCircle(
    _ start: ArraySlice<UInt8>, _ column: Int, _ rows: TableRows, _ rooted: inout RootedRows
  ) throws -> Bool {
    var visited: Set<ArraySlice<UInt8>> = []
    var next = start
    while visited.insert(next).inserted {
      guard !rooted.contains(next), let parent = try rows.values(next)?[column - rows.definition.keyCount],
        parent != .null
      else {
        rooted.formUnion(visited)
        return false
      }
      var writer = ByteWriter(capacity: 24)
      writer.value(parent)
      next = writer.bytes[...]
    }
    return next == start
  }
}
