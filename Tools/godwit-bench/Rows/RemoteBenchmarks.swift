import Foundation
import Godwit
import GodwitSimulation

/// What remotes cost (Specs/remotes.md).
let remoteBenchmarks =
  fleetBenchmarks + storeBenchmarks + hostBenchmarks + stateBenchmarks

/// What a large group costs.
private let fleetBenchmarks = [
  fleetRow("bytes of one change, large group", "2 members", budget: 1.1, unit: "bytes") { Double($0.bytes) },
  fleetRow("making its file, large group", "2 members", budget: 1.5, unit: "ms") { $0.made.processor * 1_000 },
  fleetRow("taking it, large group", "2 members", budget: 1.5, unit: "ms") { $0.taken.processor * 1_000 },
  requestRow("a poll without news", 1) { Double($0.idle.requests) },
  requestRow("a poll with news", 2) { Double($0.taken.requests - ($0.made.requests - $0.idle.requests)) },
  requestRow("a publication", 1) { Double($0.made.requests - $0.idle.requests) },
]

/// A row of a large group beside a group of two.
private func fleetRow(
  _ name: String, _ baseline: String, budget: Double, unit: String,
  _ value: @escaping @Sendable (Fleet.Change) -> Double
) -> Benchmark {
  Benchmark(group: "remotes", name: name, baseline: baseline, budget: budget, unit: unit) { context in
    (
      try await FleetFigures.shared.least(among: FleetFigures.large(context), context, value),
      try await FleetFigures.shared.least(among: 2, context, value)
    )
  }
}

/// Requests to the store, of which there may be so many.
private func requestRow(
  _ name: String, _ count: Double, _ value: @escaping @Sendable (Fleet.Change) -> Double
) -> Benchmark {
  Benchmark(group: "remotes", name: name, baseline: "\(Int(count))", budget: 1, unit: "req") { context in
    (try await FleetFigures.shared.least(among: FleetFigures.large(context), context, value), count)
  }
}
