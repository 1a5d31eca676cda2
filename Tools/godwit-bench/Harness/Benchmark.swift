import Foundation

/// What a benchmark may use.
struct BenchContext: Sendable {
  let folder: String
  let rowCount: Int
  let rounds: Int
}

/// What a benchmark may cost.
enum Budget: Sendable {
  /// So many times what its baseline takes.
  case ratio(Double, to: String)
  /// So long for a unit of work on any machine, where nothing does the same work by hand.
  case microseconds(Double)
}

/// One row of the table: work, and how much it may cost, against a baseline that does the same or by the clock.
struct Benchmark: Sendable {
  let group: String
  let name: String
  let budget: Budget
  /// Makes the sides ready and returns them. Each call of a side is one timed run.
  let prepare: @Sendable (BenchContext) async throws -> Sides

  struct Sides: Sendable {
    let subject: @Sendable () async throws -> Void
    /// Does nothing where the budget is no ratio.
    var baseline: @Sendable () async throws -> Void = {}
    /// Undoes a run, untimed, so that every run starts from the same state.
    var reset: @Sendable () async throws -> Void = {}
    var finish: @Sendable () async -> Void = {}
    /// Units of work in a run, for the time printed per unit.
    let units: Int
  }

  init(group: String, name: String, budget: Budget, prepare: @escaping @Sendable (BenchContext) async throws -> Sides) {
    self.group = group
    self.name = name
    self.budget = budget
    self.prepare = prepare
  }

  init(
    group: String, name: String, baseline: String, budget: Double,
    prepare: @escaping @Sendable (BenchContext) async throws -> Sides
  ) {
    self.init(group: group, name: name, budget: .ratio(budget, to: baseline), prepare: prepare)
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
    let microseconds = Self.median(subjectTimes) / Double(sides.units) * 1e6
    switch budget {
    case .microseconds(let limit):
      return Measurement(group: group, name: name, subjectMicroseconds: microseconds, budgetMicroseconds: limit)
    case .ratio(let limit, let baseline):
      return Measurement(
        group: group, name: name, subjectMicroseconds: microseconds, baselineName: baseline,
        baselineMicroseconds: Self.median(baselineTimes) / Double(sides.units) * 1e6,
        ratio: Self.median(zip(subjectTimes, baselineTimes).map { $0 / $1 }), budget: limit)
    }
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
