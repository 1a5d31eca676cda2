import Foundation
import GodwitBase

/// What a check of the whole replica found.
public struct VerificationReport: Sendable {
  /// What is wrong, in words; empty when nothing is.
  public private(set) var problems: [String]
  /// Transactions whose hash chain was recomputed.
  public let transactions: Int
  /// Rows in synced tables.
  public let rows: Int
  /// A hash of the synced tables' content, as 64 hexadecimal digits: equal on replicas that hold the same changes.
  public let digest: String
  /// The hash of the state that is kept with every change, as 32 hexadecimal digits: equal on replicas of one schema
  /// that hold the same changes.
  public let stateHash: String
  /// Members who state another state than this replica's for the same changes; see
  /// ``MergeReport/Attention/differing``. That alone makes no replica unsound: it does not show who errs.
  public let differing: [ReplicaID]

  /// When an opening found the tables to hold something else than was noted beside the keyring; nil for never. See
  /// `Replica.acceptState()`.
  public private(set) var alteredAt: Date?

  package init(
    problems: [String], transactions: Int, rows: Int, digest: String, stateHash: String, differing: [ReplicaID],
    alteredAt: Date? = nil
  ) {
    self.problems = problems
    self.transactions = transactions
    self.rows = rows
    self.digest = digest
    self.stateHash = stateHash
    self.differing = differing
    self.alteredAt = alteredAt
  }

  /// Whether nothing is wrong.
  public var isSound: Bool { problems.isEmpty }

  /// The same of a replica whose tables were found to hold something else than was noted beside the keyring.
  package func altered(at date: Date?) -> VerificationReport {
    guard let date else { return self }
    var report = self
    report.alteredAt = date
    report.problems.append(
      "state: the tables hold something else than was noted beside the keyring: pages were put back or altered")
    return report
  }
}
