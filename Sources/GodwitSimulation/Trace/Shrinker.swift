/// Finds a small part of a trace that fails in the same way: takes out runs of events, shorter and shorter ones, for as
/// long as the rest still fails (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
package struct Shrinker<Failure: Sendable> {
  /// How a world of these events fails, if it does in the way looked for.
  private let failure: ([Int]) async throws -> Failure?
  /// Runs at most.
  private var budget: Int

  package init(budget: Int = 400, failure: @escaping ([Int]) async throws -> Failure?) {
    self.failure = failure
    self.budget = budget
  }

  /// The numbers of the events that are left, and how they fail; nil when the events do not fail at all.
  package mutating func shrink(_ events: [Int]) async throws -> (kept: [Int], failure: Failure)? {
    var kept = events
    guard var found = try await failure(kept) else { return nil }
    var length = max(1, kept.count / 2)
    while true {
      var start = 0
      var hasShrunk = false
      while start < kept.count, budget > 0 {
        let rest = Array(kept[..<start] + kept[min(start + length, kept.count)...])
        budget -= 1
        if let smaller = try await failure(rest) {
          (kept, found, hasShrunk) = (rest, smaller, true)
        } else {
          start += length
        }
      }
      if budget <= 0 || (length == 1 && !hasShrunk) { return (kept, found) }
      length = max(1, length / 2)
    }
  }
}

extension Simulation {
  /// The fewest events found that fail in the same way, and how.
  package func shrink(
    _ trace: Trace, _ failure: SimulationFailure
  ) async throws -> (kept: [Int], failure: SimulationFailure)? {
    var shrinker = Shrinker<SimulationFailure> { kept in
      guard let found = try await run(trace, keeping: kept).failure, found.kind == failure.kind else { return nil }
      return found
    }
    let last = failure.event ?? trace.count - 1
    return try await shrinker.shrink(Array(0...max(0, last)))
  }
}
