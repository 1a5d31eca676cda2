/// What may wait for transactions that have not come (Specs/limits.md, "What waits").
enum WaitingLimits {
  /// Of one origin.
  static let origin = Amount(transactions: 16_384, bytes: 32 << 20)
  /// Of all incarnations of one member.
  static let member = Amount(transactions: 32_768, bytes: 64 << 20)
  /// Of all members together.
  static let all = Amount(transactions: 131_072, bytes: 256 << 20)

  /// So many transactions and bytes.
  struct Amount {
    var transactions = 0
    /// Of change sets and contexts, and 128 for each transaction.
    var bytes = 0

    static func + (left: Amount, right: Amount) -> Amount {
      Amount(transactions: left.transactions + right.transactions, bytes: left.bytes + right.bytes)
    }

    func exceeds(_ limit: Amount) -> Bool { transactions > limit.transactions || bytes > limit.bytes }
  }
}
