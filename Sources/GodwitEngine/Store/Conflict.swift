import GodwitBase

/// A write that lost a merge to one that had not seen it, or that it had not seen. Nothing of it is gone: the
/// losing value is kept here, and `Replica.Conflicts.restore` writes it again.
public struct Conflict: Sendable, Identifiable {
  /// How two writes met.
  public enum Kind: Int, Sendable, CaseIterable {
    /// Two edits of one cell, or an edit of a row that was deleted where deletes win.
    case edit = 0
    /// A delete of a row that was edited, or went to another key.
    case delete = 1
    /// Two rows claim one unique value: the row waits in limbo.
    case unique = 2
    /// A row refers to one that is gone: it waits in limbo, or the reference shows nothing.
    case reference = 3
    /// A row breaks a constraint that its author did not have: it waits in limbo.
    case constraint = 4
  }

  /// Which one on this replica; later ones are greater, and none is given twice.
  public let id: ID
  /// How the writes met.
  public let kind: Kind
  /// The row's table.
  public let table: String
  /// The row's primary key.
  public let key: [Value]
  /// The columns of the cell that was written twice, of the unique index, or of a row that rejoining could not insert
  /// anew; empty when it is about the whole row.
  public let columns: [String]
  /// Those of the ``columns`` that the table does not have any more as they were: a migration dropped them since, or
  /// had no value for the losing one. A column that has such a name now is another one, and nothing is restored to it.
  public let formerColumns: [String]
  /// What the losing write had written to the columns; empty for a delete, for a row that waits since it breaks a
  /// constraint, and for one that has nothing beside its key.
  public let losingValues: [Value]
  /// What the winning write had written to the columns; empty as for ``losingValues``.
  public let winningValues: [Value]
  /// Who lost; nil when the write is older than all that is remembered.
  public let loser: Authorship?
  /// Who won; nil when the write is older than all that is remembered, or is not one write.
  public let winner: Authorship?
  /// Whether it was restored, or nothing was left to restore.
  public let isResolved: Bool

  /// The one column it is about, or nil when that is the whole row, or several columns.
  public var column: String? { columns.count == 1 ? columns[0] : nil }
  /// What the losing write had written to the one column; null for a delete.
  public var losingValue: Value { losingValues.count == 1 ? losingValues[0] : .null }
  /// What the winning write had written to the one column; null for a delete.
  public var winningValue: Value { winningValues.count == 1 ? winningValues[0] : .null }
}

extension Conflict {
  /// Which conflict of a replica; as a text its number.
  public struct ID: Hashable, Comparable, Sendable, LosslessStringConvertible {
    package let number: Int64

    package init(_ number: Int64) { self.number = number }

    /// Nil for a text that is no whole number.
    public init?(_ description: String) {
      guard let number = Int64(description) else { return nil }
      self.number = number
    }

    /// Its number.
    public var description: String { String(number) }

    /// Whether the left one is earlier.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
  }
}
