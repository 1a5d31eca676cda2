/// What came of another program's database.
public struct ConversionReport: Sendable {
  /// A table that came along with its rows.
  public struct Table: Sendable {
    /// Its name.
    public let name: String
    /// How many rows it has.
    public let rows: Int
    /// Why it can have no model and cannot be synced: it stays as it was made, and is reached by SQL. Nil for a table
    /// that can.
    public let obstacle: String?
  }

  /// The tables. None is synced yet; see `Replica.startSync(of:asOf:)`.
  public let tables: [Table]
  /// Virtual tables, and those they keep their content in, which did not come along.
  public let leftOut: [String]
}
