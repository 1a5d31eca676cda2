import GodwitBase
import GodwitReplication

/// From the column numbers of a change set's origin to those of this replica, by name.
struct ColumnMapping {
  let table: CatalogTable
  private let columns: [Int: Int]

  init(_ remote: ChangeSet.Table, in catalog: Catalog) throws {
    guard let table = catalog[remote.name], table.definition.isSynced else {
      throw Self.needsMigration("table \(remote.name)")
    }
    self.table = table
    let numbers = Dictionary(uniqueKeysWithValues: table.definition.columns.enumerated().map { ($1.name, $0) })
    var columns: [Int: Int] = [:]
    for column in remote.columns {
      guard let number = numbers[column.name] else {
        throw Self.needsMigration("column \(column.name) of table \(remote.name)")
      }
      // A row's key is its values in the order of the columns, so key columns must stand in the same places.
      let isKey = column.index < remote.keyCount
      guard isKey ? number == column.index : number >= table.definition.keyCount else {
        throw Self.needsMigration("the key of table \(remote.name)")
      }
      columns[column.index] = number
    }
    guard remote.keyCount == table.definition.keyCount else {
      throw Self.needsMigration("the key of table \(remote.name)")
    }
    self.columns = columns
  }

  func map(_ cells: [Cell]) throws -> [Cell] {
    try cells.map { cell in
      guard let column = columns[cell.column] else { throw ByteReader.malformed("a column without a name") }
      // What comes to a counter or set is no value of the column's.
      guard !table.definition.columns[column].merge.isRelative else { return Cell(column: column, value: cell.value) }
      return Cell(column: column, value: table.definition.stored(cell.value, in: column))
    }
  }

  private static func needsMigration(_ what: String) -> GodwitError {
    GodwitError(
      .needsMigration, "the changes use \(what), which this replica does not have",
      hint: "update the program that owns this replica; nothing was changed")
  }
}
