import Foundation
import GodwitBase
import GodwitCore

/// Who wrote something, and when. Replica, incarnation and sequence name the transaction: `Replica.History.transaction`
/// finds it.
public struct Authorship: Hashable, Sendable {
  /// The replica that wrote.
  public let replica: ReplicaID
  /// The replica's incarnation when it wrote.
  public let incarnation: Incarnation.ID
  /// The transaction's sequence number; 0 for what was written while its table was not synced, and never logged.
  public let sequence: UInt64
  /// In milliseconds since 1970 UTC.
  package let milliseconds: Int64?
  /// When, by the writer's clock; nil when the transaction's time has been forgotten.
  public var time: Date? { milliseconds.map(Date.init(milliseconds:)) }

  init(_ dot: Dot, _ hlc: HLC?) {
    replica = dot.origin.replica
    incarnation = dot.origin.incarnationID
    sequence = dot.sequence.rawValue
    milliseconds = hlc?.milliseconds
  }

  init(_ stamp: CellStamp) { self.init(stamp.dot, stamp.hlc) }
}
