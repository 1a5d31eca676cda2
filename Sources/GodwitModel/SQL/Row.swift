import GodwitBase

/// One row of a raw query, detached from the database.
public struct Row: Sendable {
  /// The column names, in the order of the query.
  public let columns: [String]
  /// The values, in the same order.
  public let values: [Value]

  package init(columns: [String], values: [Value]) {
    self.columns = columns
    self.values = values
  }

  /// The value of the first column of that name, or nil when there is none.
  public subscript(column: String) -> Value? {
    columns.firstIndex(of: column).map { values[$0] }
  }
}
