import GodwitBase
import GodwitCore

/// What a replica remembers of one row: who wrote what it shows, what that won over, and why it is there or not.
///
/// Writes that every member is known to hold are forgotten in time; what is older than that has no author.
public struct RowExplanation: Sendable {
  /// Where the row is.
  public enum Presence: String, Sendable {
    /// In its table.
    case shown
    /// Alive, but held back by a rule of the schema.
    case limbo
    /// Deleted.
    case deleted
    /// Not in its table, and the row itself is not remembered: there are conflicts about it, or writes that wait.
    case unknown
  }

  /// The latest insert or update of the row by one replica.
  public struct Touch: Sendable, Hashable {
    /// What it did.
    public enum Kind: String, Sendable {
      /// It made the row, or made it anew.
      case insert
      /// It changed cells.
      case update
    }
    /// What it did.
    public let kind: Kind
    /// Who wrote it.
    public let author: Authorship
    /// Whether some delete had seen it. A touch that no delete had seen keeps the row, unless deletes win.
    public let isDeleted: Bool
  }

  /// The row's table.
  public let table: String
  /// The row's primary key.
  public let key: [Value]
  /// Where the row is.
  public let presence: Presence
  /// Whether edits keep a row that was deleted meanwhile, or the delete wins.
  public let deletes: DeletePolicy
  /// The columns beside the key; none of a row that is ``Presence/unknown``.
  public let cells: [RowExplanation.Cell]
  /// The inserts and updates that are remembered.
  public let touches: [Touch]
  /// Whether the row was also written before all that is remembered.
  public let isOlder: Bool
  /// The deletes that are remembered.
  public let deletions: [Authorship]
  /// What holds the row back, or hides its references.
  public let reasons: [LimboRow.Reason]
  /// The conflicts about the row as a whole, several of its columns or a former one, newest first; of a row that is
  /// ``Presence/unknown`` all of them.
  public let conflicts: [Conflict]
}

extension RowExplanation {
  /// Where a cell's value comes from.
  public struct Cell: Sendable {
    /// How concurrent writes of the column become one value.
    public enum Rule: String, Sendable {
      /// The later write.
      case lastWriterWins
      /// All differences add up.
      case counter
      /// The union of what was added and not removed.
      case addWinsSet
      /// The greatest.
      case max
      /// The least.
      case min
      /// The program's own function.
      case custom
    }

    /// What one write brought to a value that is made of several.
    public struct Part: Sendable, Hashable {
      /// Who wrote it.
      public let author: Authorship
      /// A counter's difference, a set's element as JSON, a value to choose from.
      public let value: Value
    }

    /// The column.
    public let column: String
    /// What the cell holds.
    public let value: Value
    /// Whether the table shows NULL in its place, because what it refers to is not shown.
    public let isHidden: Bool
    /// How concurrent writes become one value.
    public let rule: Rule
    /// Who wrote the value; nil when that is older than all that is remembered,
    /// and when it is made of ``parts``.
    public let author: Authorship?
    /// What the value is made of, unless the last writer wins. What is not in here is older than all that is
    /// remembered.
    public let parts: [Part]
    /// The writes of this cell that lost, newest first.
    public let conflicts: [Conflict]
  }
}
