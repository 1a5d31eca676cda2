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
  private let work: Work

  private enum Work: Sendable {
    /// Makes the sides ready and returns them. Each call of a side is one timed run.
    case timed(@Sendable (BenchContext) async throws -> Sides)
    /// Measures something else than time, once.
    case counted(unit: String, @Sendable (BenchContext) async throws -> (subject: Double, baseline: Double))
  }

  struct Sides: Sendable {
    let subject: @Sendable () async throws -> Void
    /// Where the budget is no ratio its time is taken off the subject's; it does nothing then unless it is said.
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
    work = .timed(prepare)
  }

  /// A row of bytes rather than of time.
  init(
    group: String, name: String, baseline: String, budget: Double, unit: String,
    count: @escaping @Sendable (BenchContext) async throws -> (subject: Double, baseline: Double)
  ) {
    self.group = group
    self.name = name
    self.budget = .ratio(budget, to: baseline)
    work = .counted(unit: unit, count)
  }

  init(
    group: String, name: String, baseline: String, budget: Double,
    prepare: @escaping @Sendable (BenchContext) async throws -> Sides
  ) {
    self.init(group: group, name: name, budget: .ratio(budget, to: baseline), prepare: prepare)
  }

  func measure(_ context: BenchContext) async throws -> Measurement {
    switch work {
    case .timed(let prepare): return try await time(prepare(context), context)
    case .counted(let unit, let count):
      let (subject, baseline) = try await count(context)
      guard case .ratio(let limit, let name) = budget else {
        return Measurement(group: group, name: self.name, subject: subject)
      }
      return Measurement(
        group: group, name: self.name, unit: unit, subject: subject, baselineName: name, baseline: baseline,
        ratio: subject / baseline, budget: limit)
    }
  }

  /// Alternates the sides, so that a change in the machine's speed meets both, and takes medians.
  private func time(_ sides: Sides, _ context: BenchContext) async throws -> Measurement {
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
      let beyond = Self.median(zip(subjectTimes, baselineTimes).map { $0 - $1 }) / Double(sides.units) * 1e6
      return Measurement(group: group, name: name, subject: beyond, budgetMicroseconds: limit)
    case .ratio(let limit, let baseline):
      return Measurement(
        group: group, name: name, subject: microseconds, baselineName: baseline,
        baseline: Self.median(baselineTimes) / Double(sides.units) * 1e6,
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
