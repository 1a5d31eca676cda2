/// How long a keeper waits before it opens a replica again, as a function of how long it was open (Specs/agent.md, "The
/// agent").
package struct RetryPause: Sendable {
  /// The pause after the first failure; it doubles with each.
  package static let shortest = Duration.seconds(10)
  package static let longest = Duration.seconds(900)
  /// One that was well for so long is not asked as rarely as one that never is.
  private static let isWellAfter = longest * 2

  /// The present pause; nothing before the first.
  package private(set) var length = Duration.zero

  package init() {}

  /// Takes the pause that comes now, once an attempt has ended.
  ///
  /// - Parameter lasted: How long the attempt took.
  package mutating func attemptEnded(lasted: Duration) {
    let isFirst = length == .zero || lasted > Self.isWellAfter
    length = isFirst ? Self.shortest : min(length * 2, Self.longest)
  }

  /// The pause, a fifth longer or shorter at random, so that machines that fail together do not come together.
  package var scattered: Duration { length * Double.random(in: 0.8...1.2) }
}
