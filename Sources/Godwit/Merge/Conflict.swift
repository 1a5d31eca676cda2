import GodwitBase

/// A write that lost a merge to one that had not seen it, or that it had not seen. Nothing of it is gone: the
/// losing value is kept here.
public struct Conflict: Sendable, Identifiable {
  /// Who wrote, and when.
  public struct Author: Sendable {
    /// The replica that wrote.
    public let replica: ReplicaID
    /// Milliseconds since 1970 UTC, by the writer's clock.
    public let milliseconds: Int64
  }

  /// Its number on this replica; later ones are greater.
  public let id: Int64
  /// The row's table.
  public let table: String
  /// The row's primary key.
  public let key: [Value]
  /// The cell that was written twice, or nil when a delete of the whole row lost to an edit.
  public let column: String?
  /// What the losing write had written; null for a delete.
  public let losingValue: Value
  /// Who lost.
  public let loser: Author
  /// Who won.
  public let winner: Author
}
