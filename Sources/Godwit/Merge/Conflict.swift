import GodwitBase

/// A write that lost a merge to one that had not seen it, or that it had not seen. Nothing of it is gone: the
/// losing value is kept here.
public struct Conflict: Sendable, Identifiable {
  /// How two writes met.
  public enum Kind: Int, Sendable, CaseIterable {
    /// Two edits of one cell, or an edit of a row that was deleted where deletes win.
    case edit = 0
    /// A delete of a row that was edited.
    case delete = 1
    /// Two rows claim one unique value: the row waits in limbo.
    case unique = 2
    /// A row refers to one that is gone: it waits in limbo, or the reference shows nothing.
    case reference = 3
    /// A row breaks a constraint that its author did not have: it waits in limbo.
    case constraint = 4
  }

  /// Who wrote, and when.
  public struct Author: Sendable {
    /// The replica that wrote.
    public let replica: ReplicaID
    /// Milliseconds since 1970 UTC, by the writer's clock.
    public let milliseconds: Int64
  }

  /// Its number on this replica; later ones are greater.
  public let id: Int64
  /// How the writes met.
  public let kind: Kind
  /// The row's table.
  public let table: String
  /// The row's primary key.
  public let key: [Value]
  /// The cell that was written twice, or nil when it is about the whole row.
  public let column: String?
  /// What the losing write had written; null for a delete.
  public let losingValue: Value
  /// What the winning write had written; null for a delete.
  public let winningValue: Value
  /// Who lost; nil when the write is older than all that is remembered.
  public let loser: Author?
  /// Who won; nil when the write is older than all that is remembered, or is not one write.
  public let winner: Author?
}
