import GodwitBase
import GodwitCore
import GodwitStorage

extension RowStates {
  private static let batchSize = 1_000

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

  /// Forgets the states of a table that is gone.
  func removeAll(of table: Int) throws {
    let (first, end) = RowKey.prefix(of: table)
    try connection.run("DELETE FROM godwit_row WHERE key >= ? AND key < ?", [.blob(first), .blob(end)])
  }

  /// Calls the body with the states of a table's rows, in the order of their keys.
  func forEach(of table: Int, _ body: (RowKey, RowState) throws -> Void) throws {
    var (first, end) = RowKey.prefix(of: table)
    let prefixLength = first.count
    let sql = "SELECT key, state FROM godwit_row WHERE key >= ? AND key < ? ORDER BY key LIMIT \(Self.batchSize)"
    while true {
      let batch: [(key: [UInt8], state: RowState)] = try connection.withStatement(sql) { statement in
        try statement.bind([.blob(first), .blob(end)])
        var rows: [(key: [UInt8], state: RowState)] = []
        while try statement.step() {
          var reader = ByteReader(statement.blob(at: 1))
          rows.append((statement.blob(at: 0), try RowState(reading: &reader, origins: origins)))
        }
        return rows
      }
      for row in batch { try body(RowKey(table: table, key: row.key[prefixLength...]), row.state) }
      guard batch.count == Self.batchSize, let last = batch.last else { return }
      first = last.key + [0]
    }
  }
}
