/// What forgetting did.
public struct CompactionReport: Sendable, Hashable {
  /// Transactions dropped from the change log.
  public let transactions: Int
  /// Rows of which no more than their columns is kept now.
  public let rows: Int
  /// Bytes by which the database file has shrunk.
  public let bytes: Int

  package init(transactions: Int, rows: Int, bytes: Int) {
    self.transactions = transactions
    self.rows = rows
    self.bytes = bytes
  }
}
