import GodwitEngine

extension Replica {
  /// Bounds that a program has no need to change; tests and simulations do.
  package struct Tuning: Sendable {
    /// How many transactions the log may hold before imports forget by themselves.
    package var keptTransactions = Forgetting.keptTransactions
    /// From how many active members on a group is large: its files at remotes do not grow with it any more
    /// (Specs/remotes.md, "Large groups").
    package var largeGroup = 16

    package init() {}
  }
}
