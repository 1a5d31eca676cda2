import GodwitEngine

extension Replica {
  /// Bounds that a program has no need to change; tests and simulations do.
  package struct Tuning: Sendable {
    /// How many transactions the log may hold before imports forget by themselves.
    package var keptTransactions = Forgetting.keptTransactions
    /// From how many active members on a group is large: its files at remotes do not grow with it any more
    /// (Specs/remotes.md, "Large groups").
    package var largeGroup = 16
    /// What a change of another member's adds to a header that builds on an earlier base, in bytes: how soon another
    /// base is made.
    package var baseGrowth = BaseChoice.growth
    /// How long the import of a file from a remote may take for each 64 MiB of it that are begun. It keeps the
    /// program's own writes waiting.
    package var importTime = Duration.seconds(600)
    /// How long it may take until the first file of who connects at a socket has come: until then it may be anybody.
    package var introductionTime = Duration.seconds(60)
    /// The most bytes of a file that is fetched from a remote or another replica.
    package var remoteFileSize = 1 << 30
    /// The most bytes of a collector's file, as far as transactions can be cut.
    package var logFileSize = 32 << 20

    package init() {}
  }
}
