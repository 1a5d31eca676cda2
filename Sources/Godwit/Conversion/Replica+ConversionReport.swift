extension Replica {
  /// What came of another program's database, and what did not: its SQL is data here and never runs
  /// (Specs/conversion.md, "Code").
  public struct ConversionReport: Sendable {
    /// A table that came along with its rows.
    public struct Table: Sendable {
      /// Its name.
      public let name: String
      /// How many rows it has.
      public let rows: Int
      /// Why it can have no model and cannot be synced: it is a plain table, without references, and is reached by SQL.
      /// Nil for a table that can.
      public let obstacle: String?
      /// The parts of its definition that it has no more, such as "CHECK"; none for a table that says all that it said.
      public let leftOut: [String]
      /// The statement that made it in the database.
      public let sql: String
    }

    /// A part of the database that did not come along.
    public struct Part: Sendable {
      /// What it is.
      public enum Kind: String, Sendable {
        /// An index of expressions, with a condition, a collation or a falling order.
        case index
        /// A trigger.
        case trigger
        /// A view.
        case view
        /// A virtual table, or one that such a table keeps its content in.
        case virtualTable
      }
      /// What it is.
      public let kind: Kind
      /// Its name.
      public let name: String
      /// The statement that made it there. A program that trusts the database can run it in a `write`.
      public let sql: String
    }

    /// The tables. None is synced yet; see `Replica.Tables.startSync(of:asOf:)`.
    public let tables: [Table]
    /// Indexes, triggers, views and virtual tables that did not come along.
    public let leftOut: [Part]
  }
}
