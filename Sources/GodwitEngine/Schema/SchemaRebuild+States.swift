import GodwitBase
import GodwitCore
import GodwitStorage

// What is remembered of a table's rows besides the rows.
extension SchemaRebuild {
  /// Row states know columns by number, and the hidden cells in them are values. Rows that stay on this replica have
  /// some, too: they may wait.
  func renumber(_ work: Work) throws {
    let old = work.old.definition
    let sources = work.new.sources.map { $0.column.flatMap(old.number) }
    try states.renumber(table: work.old.id, sources: sources) { key, hiddenCells, state in
      // Hidden cells from before a column was added lack it.
      let defaults = old.columns.dropFirst(old.keyCount + hiddenCells.count).map { $0.defaultValue ?? .null }
      let cells = hiddenCells + defaults
      return try work.new.definition.columns.indices.dropFirst(old.keyCount).map { column in
        let start = sources[column].map { cells[$0 - old.keyCount] } ?? work.new.sources[column].value
        let outcome = try converter.convert(start, by: work.new.sources[column].conversions)
        if outcome.loses, state.isAlive(old.deletes), let source = sources[column] {
          try LossLog(connection).add(
            start, version: version, table: old.name, key: Array(key.key), column: old.columns[source].name)
        }
        return outcome.value
      }
    } hiddenReference: { column, value in
      guard work.new.definition.columns[column].reference != nil else { return nil }
      return try converter.convert(value, by: work.new.sources[column].conversions).value
    }
  }
}

extension TableDefinition {
  /// The number of the column of that name.
  func number(of column: String) -> Int? { columns.firstIndex { $0.name.isSameName(as: column) } }
}
