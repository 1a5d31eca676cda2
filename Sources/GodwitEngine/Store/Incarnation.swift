import Foundation
import GodwitBase
import GodwitCore

/// A life of a member's database: a copy and a restored backup start a new one by themselves.
public struct Incarnation: Sendable, Hashable, Identifiable {
  /// The member.
  public let replica: ReplicaID
  /// Which of the member's.
  public let id: ID
  /// Whether it is the one that writes here.
  public let isOwn: Bool
  /// Whether it is known to write no more. What all others hold is not forgotten while one that has not ended may lack
  /// it, and files continue to carry it.
  public let hasEnded: Bool
  /// How many of its transactions are held here.
  public let transactions: UInt64
  /// When it last said of itself what it holds, by its own clock; nil for one that never did here.
  public let lastStated: Date?

  package init(replica: ReplicaID, id: ID, isOwn: Bool, hasEnded: Bool, transactions: UInt64, lastStated: Date?) {
    self.replica = replica
    self.id = id
    self.isOwn = isOwn
    self.hasEnded = hasEnded
    self.transactions = transactions
    self.lastStated = lastStated
  }
}

extension Incarnation {
  /// Which incarnation of its replica; as a text 8 hexadecimal digits.
  public struct ID: Hashable, Sendable, LosslessStringConvertible {
    private let number: UInt32

    init(_ number: UInt32) { self.number = number }

    /// Nil for a text that is not 8 hexadecimal digits, of any case.
    public init?(_ description: String) {
      let isForm = description.utf8.count == 8 && description.allSatisfy(\.isHexDigit)
      guard isForm, let number = UInt32(description, radix: 16) else { return nil }
      self.number = number
    }

    /// 8 hexadecimal digits in small letters.
    public var description: String {
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
  }
}

extension Origin {
  /// The incarnation, as programs name it.
  package var incarnationID: Incarnation.ID { Incarnation.ID(incarnation) }
}
