import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Adds the columns and indexes that a table lacks. New columns come last, so that the numbers which row states
/// and log entries know the old ones by stay theirs.
struct TableAddition {
  private let table: CatalogTable
  private var columns: [ColumnDefinition] = []
  private var indexes: [IndexDefinition] = []

  init(_ differences: [TableDifference], to table: CatalogTable) {
    self.table = table
    for difference in differences {
      switch difference {
      case .missingColumn(let column): columns.append(column)
      case .missingIndex(let index, _, _): indexes.append(index)
      case .extraColumn, .extraIndex, .changed, .changedColumn, .otherScope: break
      }
    }
  }

  /// Says whether there was anything to add.
  func run(on connection: Connection) throws -> Bool {
    guard !columns.isEmpty || !indexes.isEmpty else { return false }
    let old = table.definition
    let definition = try old.adding(columns, indexes)
    for column in columns {
      try ExpressionTrial.run(column, of: definition, on: connection)
      if let reason = try reasonNotToAdd(column, on: connection) {
        throw GodwitError(
          .schemaMismatch, "column \(column.name) of table \(old.name) cannot be added: \(reason)",
          hint: "nothing was altered; make the property optional or give it another default")
      }
    }
    for column in columns { try connection.execute(definition.additionStatement(column)) }
    for index in indexes { try connection.execute(definition.creationStatement(index)) }
    let extended = CatalogTable(id: table.id, definition: definition)
    try Catalog.update(extended, on: connection)
    if definition.isSynced, !columns.isEmpty { try CaptureTriggers.remake(extended, on: connection) }
    return true
  }

  private func reasonNotToAdd(_ column: ColumnDefinition, on connection: Connection) throws -> String? {
    if column.reference != nil, !column.isNullable || column.defaultValue != nil {
      return "it refers to another table, and old rows would refer to nothing"
    }
    if !column.isNullable, column.defaultValue == nil { return "it is not optional and has no constant default" }
    if !column.startsNeutral {
      return "it merges otherwise than by the last write, and would not start as \(column.merge.neutralStart)"
    }
    return try ExpressionTrial.passesDefault(column, on: connection) ? nil : "its default does not pass its check"
  }
}
