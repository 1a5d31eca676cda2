import GodwitBase
import GodwitKeys

/// A replica of the group.
public struct Member: Sendable, Identifiable {
  /// What it shows others of itself.
  public let identity: PublicIdentity
  /// Its replica's ID, which it keeps for ever.
  public var id: ReplicaID { identity.replica }
  /// What people call it.
  public let name: String
  /// Whether it still belongs to the group.
  public let isActive: Bool
  /// Whether it is this replica.
  public let isOwn: Bool
}

extension Member {
  package init(_ entry: Roster.Entry, own: ReplicaID) {
    self.init(
      identity: entry.identity, name: entry.name, isActive: entry.isActive, isOwn: entry.identity.replica == own)
  }
}
