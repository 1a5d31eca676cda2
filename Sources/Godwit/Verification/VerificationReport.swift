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

  /// Whether nothing is wrong.
  public var isSound: Bool { problems.isEmpty }
}
