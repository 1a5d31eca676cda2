import GodwitBase
import GodwitCore
import GodwitStorage

extension RowStates {
  /// Rewrites the states of a table whose columns have other numbers now.
  ///
  /// - Parameters:
  ///   - table: The table's number.
  ///   - sources: By new column number, the old number of the column whose stamp it takes over; nil for one that is new
  ///     and as old as its row.
  ///   - hiddenCells: Makes the cells of a row that is not shown from those it had.
  ///   - hiddenReference: What the column of that new number makes of a value that stands in the place of the NULL
  ///     which the table shows; nil when it refers to nothing.
  func renumber(
    table: Int, sources: [Int?], hiddenCells: (RowKey, [Value], RowState) throws -> [Value],
    hiddenReference: (Int, Value) throws -> Value?
  ) throws {
    try forEach(of: table) { key, old in
      var state = old
      state.overrides = [:]
      state.contributions = [:]
      state.hiddenReferences = [:]
      for (number, source) in sources.enumerated() {
        guard let source else { continue }
        state.overrides[number] = old.overrides[source]
        // What several writes brought to a column is changed by no migration.
        state.contributions[number] = old.contributions[source]
        state.hiddenReferences[number] = try old.hiddenReferences[source].flatMap { try hiddenReference(number, $0) }
      }
      state.hiddenCells = try old.hiddenCells.map { try hiddenCells(key, $0, state) }
      if state != old { try save(state, for: key) }
    }
  }
}
