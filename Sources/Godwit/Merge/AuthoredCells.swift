import GodwitReplication

/// What the author of a transaction wrote, by its own account: not what stands for values that wait for a schema, nor the
/// defaults of columns that its program had not got.
struct AuthoredCells {
  /// The columns that have a place here.
  private var columns: [RowKey: Set<Int>] = [:]
  /// The rows of which something waits.
  private let waiting: Set<RowKey>

  init(waiting: Set<RowKey>) { self.waiting = waiting }

  mutating func add(_ write: RowWrite, to row: RowKey) {
    columns[row, default: []].formUnion(write.cells.map(\.column))
  }

  /// Whether the author wrote the column of the row.
  func contains(_ column: Int, of row: RowKey) -> Bool { columns[row]?.contains(column) ?? false }

  func isWaiting(for row: RowKey) -> Bool { waiting.contains(row) }
}
