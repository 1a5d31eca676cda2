/// How long a keeper waits before it opens a replica again, as a function of how long it was open (Specs/agent.md, "The
/// agent").
package struct RetryPause: Sendable {
  /// The pause after the first failure; it doubles with each.
  package static let shortest = Duration.seconds(10)
  package static let longest = Duration.seconds(900)
  /// One that was well for so long is not asked as rarely as one that never is.
  private static let isWellAfter = longest * 2

  package private(set) var length = shortest

  package init() {}

  /// To be called once an attempt has ended, its pause included.
  ///
  /// - Parameters:
  ///   - lasted: How long the attempt and its pause took.
  ///   - isNew: Whether somebody asked to begin anew.
  package mutating func attemptEnded(lasted: Duration, isNew: Bool) {
    length = isNew || lasted > Self.isWellAfter ? Self.shortest : min(length * 2, Self.longest)
  }

  /// The pause, a fifth longer or shorter at random, so that machines that fail together do not come together.
  package var scattered: Duration { length * Double.random(in: 0.8...1.2) }
}
