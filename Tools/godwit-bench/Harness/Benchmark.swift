import Foundation

/// What a benchmark may use.
struct BenchContext: Sendable {
  let folder: String
  let rowCount: Int
  let rounds: Int
}

/// One row of the table: two sides that do the same work, and how much the first may cost against the second.
struct Benchmark: Sendable {
  let group: String
  let name: String
  let baseline: String
  let budget: Double
  /// Makes both sides ready and returns them. Each call of a side is one timed run.
  let prepare: @Sendable (BenchContext) async throws -> Sides

  struct Sides: Sendable {
    let subject: @Sendable () async throws -> Void
    let baseline: @Sendable () async throws -> Void
    /// Undoes a run, untimed, so that every run starts from the same state.
    var reset: @Sendable () async throws -> Void = {}
    var finish: @Sendable () async -> Void = {}
    /// Units of work in a run, for the time printed per unit.
    let units: Int
  }

  /// Alternates the sides, so that a change in the machine's speed meets both, and takes medians.
  func measure(_ context: BenchContext) async throws -> Measurement {
    let sides = try await prepare(context)
    var subjectTimes: [Double] = []
    var baselineTimes: [Double] = []
    for round in 0...context.rounds {
      // What the first side leaves to do in the background falls on the second, so they also take turns at that.
      let order = round.isMultiple(of: 2) ? [sides.baseline, sides.subject] : [sides.subject, sides.baseline]
      var times = [try await Self.time(order[0]), try await Self.time(order[1])]
      if !round.isMultiple(of: 2) { times.reverse() }
      try await sides.reset()
      if round == 0 { continue }  // warms caches and files up
      baselineTimes.append(times[0])
      subjectTimes.append(times[1])
    }
    await sides.finish()
    return Measurement(
      group: group, name: name, baselineName: baseline, budget: budget,
      subjectMicroseconds: Self.median(subjectTimes) / Double(sides.units) * 1e6,
      baselineMicroseconds: Self.median(baselineTimes) / Double(sides.units) * 1e6,
      ratio: Self.median(zip(subjectTimes, baselineTimes).map { $0 / $1 }))
  }

  private static func time(_ body: () async throws -> Void) async throws -> Double {
    let clock = ContinuousClock()
    let duration = try await clock.measure { try await body() }
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}
