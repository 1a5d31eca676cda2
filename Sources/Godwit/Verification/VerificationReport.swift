import GodwitBase

/// What a check of the whole replica found.
public struct VerificationReport: Sendable {
  /// What is wrong, in words; empty when nothing is.
  public let problems: [String]
  /// Transactions whose hash chain was recomputed.
  public let transactions: Int
  /// Rows in synced tables.
  public let rows: Int
  /// A hash of the synced tables' content, as 64 hexadecimal digits: equal on replicas that hold the same changes.
  public let digest: String
  /// The hash of the state that is kept with every change, as 32 hexadecimal digits: equal on replicas of one schema
  /// that hold the same changes.
  public let stateHash: String
  /// Members who state another state than this replica's for the same changes; see ``MergeReport/differing``. That
  /// alone makes no replica unsound: nobody can tell from it who errs.
  public let differing: [ReplicaID]

  /// Whether nothing is wrong.
  public var isSound: Bool { problems.isEmpty }
}
