/// Finds a small part of a trace that fails in the same way: takes out runs of events, shorter and shorter ones, for as
/// long as the rest still fails (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
package struct Shrinker: Sendable {
  private let simulation: Simulation
  private let trace: Trace
  private let kind: SimulationFailure.Kind
  /// Runs at most.
  private var budget: Int

  package init(_ simulation: Simulation, _ trace: Trace, _ failure: SimulationFailure, budget: Int = 400) {
    self.simulation = simulation
    self.trace = trace
    kind = failure.kind
    self.budget = budget
  }

  /// The numbers of the events that are left, and how they fail.
  package mutating func shrink() async throws -> (kept: [Int], failure: SimulationFailure)? {
    var kept = Array(trace.events.indices)
    guard var failure = try await failure(kept) else { return nil }
    if let event = failure.event { kept = Array(kept.prefix { $0 <= event }) }
    var length = max(1, kept.count / 2)
    while true {
      var start = 0
      var hasShrunk = false
      while start < kept.count, budget > 0 {
        let rest = Array(kept[..<start] + kept[min(start + length, kept.count)...])
        if let found = try await self.failure(rest) {
          (kept, failure, hasShrunk) = (rest, found, true)
        } else {
          start += length
        }
      }
      if length == 1, !hasShrunk || budget <= 0 { return (kept, failure) }
      length = max(1, length / 2)
    }
  }

  private mutating func failure(_ kept: [Int]) async throws -> SimulationFailure? {
    budget -= 1
    guard let found = try await simulation.run(trace, keeping: kept).failure, found.kind == kind else { return nil }
    return found
  }
}
