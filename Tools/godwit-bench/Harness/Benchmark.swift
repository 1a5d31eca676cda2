import Foundation

/// What a benchmark may use.
struct BenchContext: Sendable {
  let folder: String
  let rowCount: Int
  let rounds: Int
}

/// One row of the table: work, and how many times what its baseline takes it may cost.
struct Benchmark: Sendable {
  let group: String
  let name: String
  let baseline: String
  let budget: Double
  /// How much a run of these options works on, where that is not the same as with all others: a part of the name.
  var size: (@Sendable (BenchContext) -> String)?
  /// Why there is no such row here; nil when there is.
  var absence: String?
  private let work: Work

  private enum Work: Sendable {
    /// Makes the sides ready and returns them. Each call of a side is one timed run.
    case timed(@Sendable (BenchContext) async throws -> Sides)
    /// Measures something else than time, once.
    case counted(unit: String, @Sendable (BenchContext) async throws -> (subject: Double, baseline: Double))
  }

  struct Sides: Sendable {
    let subject: @Sendable () async throws -> Void
    let baseline: @Sendable () async throws -> Void
    /// Undoes a run, untimed, so that every run starts from the same state.
    var reset: @Sendable () async throws -> Void = {}
    var finish: @Sendable () async -> Void = {}
    /// Units of work in a run, for the time printed per unit.
    let units: Int
  }

  init(
    group: String, name: String, baseline: String, budget: Double,
    prepare: @escaping @Sendable (BenchContext) async throws -> Sides
  ) {
    self.group = group
    self.name = name
    self.baseline = baseline
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
    self.baseline = baseline
    self.budget = budget
    work = .counted(unit: unit, count)
  }

  /// The name with the size.
  private func fullName(_ context: BenchContext) -> String { size.map { "\(name), \($0(context))" } ?? name }

  func measure(_ context: BenchContext) async throws -> Measurement {
    switch work {
    case .timed(let prepare): return try await time(prepare(context), context)
    case .counted(let unit, let count):
      let counted = try await count(context)
      return Measurement(
        group: group, name: fullName(context), unit: unit, subject: counted.subject, baselineName: baseline,
        baseline: counted.baseline, ratio: counted.subject / counted.baseline, budget: budget)
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
    return Measurement(
      group: group, name: fullName(context), subject: Self.median(subjectTimes) / Double(sides.units) * 1e6,
      baselineName: baseline,
      baseline: Self.median(baselineTimes) / Double(sides.units) * 1e6,
      ratio: Self.median(zip(subjectTimes, baselineTimes).map { $0 / $1 }), budget: budget)
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
