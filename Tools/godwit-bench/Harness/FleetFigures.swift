import Foundation
import GodwitSimulation

/// What one change costs in a large group and in one of two, found once for all rows that ask.
actor FleetFigures {
  static let shared = FleetFigures()

  /// How many members a large group has: 1,000 by default, 64 in a short run.
  static func large(_ context: BenchContext) -> Int { context.rowCount >= 100_000 ? 1_000 : 64 }

  private var found: [Int: [Fleet.Change]] = [:]

  /// The least of some counts: caches are warm then.
  func least(
    among members: Int, _ context: BenchContext, _ value: (Fleet.Change) -> Double
  ) async throws -> Double {
    if found[members] == nil { found[members] = try await Self.changes(members, context) }
    return found[members]?.map(value).min() ?? 0
  }

  /// What a large group's syncs take of a processor beside a group's of two. It is no row: decision 0036 says why.
  func line(_ context: BenchContext) async throws -> String {
    let large = Self.large(context)
    let made = try await ratio(large, context) { $0.made.processor }
    let taken = try await ratio(large, context) { $0.taken.processor }
    return String(
      format:
        "one change among %d members: %.1f times the processor time of making its file among 2, %.1f of taking it",
      large, made, taken)
  }

  private func ratio(
    _ large: Int, _ context: BenchContext, _ value: (Fleet.Change) -> Double
  ) async throws -> Double {
    try await least(among: large, context, value) / least(among: 2, context, value)
  }

  private static func changes(_ members: Int, _ context: BenchContext) async throws -> [Fleet.Change] {
    let folder = "\(context.folder)/fleet-\(members)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let fleet = try await Fleet(members: members, folder: folder)
    try await fleet.settle()
    var changes: [Fleet.Change] = []
    for _ in 0..<8 { changes.append(try await fleet.change()) }
    await fleet.close()
    return changes
  }
}
