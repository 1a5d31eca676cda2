import Foundation
import Godwit

/// What memory a whole state takes that goes by a remote: streamed both ways, whatever its size.
let stateBenchmarks = [
  stateRow("memory of publishing a state file") { $0.publishing },
  stateRow("memory of taking a state file") { $0.taking },
]

private func stateRow(_ name: String, _ value: @escaping @Sendable (StateFigures.Found) -> Double) -> Benchmark {
  var row = Benchmark(group: "remotes", name: name, baseline: "64 MiB", budget: 1, unit: "MiB") { context in
    (value(try await StateFigures.shared.found(context)), 64)
  }
  row.size = { StateFigures.isLarge($0) ? "1 GiB" : "64 MiB" }
  return row
}

/// What a state costs that is published in a folder and taken from there, found once for both rows.
private actor StateFigures {
  static let shared = StateFigures()

  /// By how many MiB the process grew that did it.
  struct Found {
    let publishing: Double
    let taking: Double
  }

  static func isLarge(_ context: BenchContext) -> Bool { context.rowCount >= 1_000_000 }

  /// A file of more than 1 GiB is not fetched, so that one is a little smaller.
  private static func rows(_ context: BenchContext) -> Int { isLarge(context) ? 1_440_000 : 90_000 }

  private var known: Found?

  func found(_ context: BenchContext) async throws -> Found {
    if let known { return known }
    let found = try await Self.find(context)
    known = found
    return found
  }

  private static func find(_ context: BenchContext) async throws -> Found {
    let pair = try await SyncPair(context, "state-memory")
    let count = rows(context)
    for start in stride(from: 0, to: count, by: 10_000) {
      try await insert(largeRows(10_000, seed: UInt64(start)), into: pair.sender, batch: 1_000)
    }
    try await pair.sender.maintenance.compact()
    try expect(try await pair.sender.history.log(limit: 1).count, 0)
    let remote = "\(pair.folder)/remote"
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    let receiver = try await pair.makeReceiver()
    for replica in [pair.sender, receiver] {
      try await replica.remotes.add("stick", at: remote)
      await replica.close()
    }
    let publishing = try await ResidentMemory.ofSync(at: pair.sender.path)
    let goal = isLarge(context) ? 1 << 30 : 64 << 20
    guard (goal * 15 / 16...goal).contains(publishing.publishedStateBytes) else {
      throw GodwitError(.invalidArgument, "the state file has \(publishing.publishedStateBytes) bytes, not \(goal)")
    }
    let taking = try await ResidentMemory.ofSync(at: receiver.path)
    try expect(taking.takenRows, count)
    try FileManager.default.removeItem(atPath: pair.folder)
    return Found(publishing: publishing.mebibytes, taking: taking.mebibytes)
  }
}
