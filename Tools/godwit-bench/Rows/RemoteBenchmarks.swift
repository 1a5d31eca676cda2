import Foundation
import Godwit
import GodwitSimulation

/// What remotes cost (Specs/remotes.md).
let remoteBenchmarks =
  fleetBenchmarks + storeBenchmarks + hostBenchmarks + stateBenchmarks

/// What a large group costs.
let fleetBenchmarks = [
  fleetRow("bytes of one change, large group", "2 members", budget: 1.1, unit: "bytes", beside: { _ in 2 }) {
    Double($0.bytes)
  },
  proportionRow("making its file, large group") { $0.made.processor * 1_000 },
  proportionRow("taking it, large group") { $0.taken.processor * 1_000 },
  requestRow("a poll without news", 1) { Double($0.idle.requests) },
  requestRow("a poll with news", 2) { Double($0.taken.requests - ($0.made.requests - $0.idle.requests)) },
  requestRow("a publication", 1) { Double($0.made.requests - $0.idle.requests) },
]

/// A row of a large group beside a small one.
private func fleetRow(
  _ name: String, _ baseline: String, budget: Double, unit: String,
  beside small: @escaping @Sendable (BenchContext) -> Int,
  _ value: @escaping @Sendable (Fleet.Change) -> Double
) -> Benchmark {
  Benchmark(group: "remotes", name: name, baseline: baseline, budget: budget, unit: unit) { context in
    (
      try await FleetFigures.shared.least(among: FleetFigures.large(context), context, value),
      try await FleetFigures.shared.least(among: small(context), context, value)
    )
  }
}

/// A row of what may grow with the group, and no more than in proportion (decision 0036).
private func proportionRow(
  _ name: String, _ value: @escaping @Sendable (Fleet.Change) -> Double
) -> Benchmark {
  fleetRow(
    name, "a tenth of the members", budget: 10, unit: "ms", beside: { FleetFigures.large($0) / 10 }, value)
}

/// Requests to the store, of which there may be so many.
private func requestRow(
  _ name: String, _ count: Double, _ value: @escaping @Sendable (Fleet.Change) -> Double
) -> Benchmark {
  Benchmark(group: "remotes", name: name, baseline: "\(Int(count))", budget: 1, unit: "req") { context in
    (try await FleetFigures.shared.least(among: FleetFigures.large(context), context, value), count)
  }
}
