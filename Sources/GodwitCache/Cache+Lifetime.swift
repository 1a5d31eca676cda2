extension Cache {
  /// How long an entry of a cache lives.
  public enum Lifetime: Hashable, Sendable {
    /// Until it is invalidated or there is no room.
    case unlimited
    /// So long from its write on.
    case fixed(Duration)
    /// So long from its last use on.
    case sliding(Duration)

    /// A century is as good as forever, and far from the end of the numbers.
    private static let longest = 3_200_000_000.0

    /// At least one.
    var milliseconds: Int64? {
      switch self {
      case .unlimited: nil
      case .fixed(let duration), .sliding(let duration):
        Int64(max(0.001, min(Self.longest, duration / .seconds(1))) * 1_000)
      }
    }

    var isSliding: Bool { if case .sliding = self { true } else { false } }
  }
}
