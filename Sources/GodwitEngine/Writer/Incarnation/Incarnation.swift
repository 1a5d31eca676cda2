import Foundation
import GodwitBase

/// A life of a member's database: a copy and a restored backup start a new one by themselves.
public struct Incarnation: Sendable, Hashable, Identifiable {
  /// The member.
  public let replica: ReplicaID
  /// 8 hexadecimal digits.
  public let id: String
  /// Whether it is the one that writes here.
  public let isOwn: Bool
  /// Whether it is known to write no more. What all others hold is not forgotten while one that has not ended may lack
  /// it, and files continue to carry it.
  public let hasEnded: Bool
  /// How many of its transactions are held here.
  public let transactions: UInt64
  /// When it last said of itself what it holds, by its own clock; nil for one that never did here.
  public let lastHeard: Date?

  package init(replica: ReplicaID, id: String, isOwn: Bool, hasEnded: Bool, transactions: UInt64, lastHeard: Date?) {
    self.replica = replica
    self.id = id
    self.isOwn = isOwn
    self.hasEnded = hasEnded
    self.transactions = transactions
    self.lastHeard = lastHeard
  }
}
