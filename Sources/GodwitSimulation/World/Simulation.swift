import Foundation
import Godwit

/// Runs traces in folders of their own.
package struct Simulation: Sendable {
  private let root: String
  private let template: FolderTemplate
  package let faults: Fault

  /// - Parameter root: A folder that the caller owns, best in memory.
  package init(root: String, faults: Fault = .all) {
    self.root = root
    self.faults = faults
    template = FolderTemplate(root: root)
  }

  /// What a seed did.
  package struct Outcome: Sendable {
    package let trace: Trace
    package let failure: SimulationFailure?
    /// Transactions that were committed.
    package let transactions: Int
    /// Rows in limbo and hidden references at the end, and entries of the first replica's conflict log.
    package var held = 0
    package var conflicts = 0
    /// Of the first replica at the end.
    package var digest: String?

    /// What must be the same whenever the seed runs.
    package var result: String {
      "\(transactions) transactions, \(held) held, \(conflicts) conflicts, digest \(digest ?? "none")"
    }
  }

  /// Makes the folders that worlds are copied from, so that workers need not wait for each other.
  package func prepare() async throws {
    for count in 2...5 {
      for isHostile in [false, true] { try await template.prepare(count, isHostile: isHostile) }
    }
  }

  package func run(seed: UInt64) async throws -> Outcome {
    let trace = Trace(seed: seed, faults: faults)
    return try await run(trace, keeping: Array(trace.events.indices))
  }

  /// Runs some of the trace's events. Throws only when the folder cannot be used.
  package func run(_ trace: Trace, keeping kept: [Int]) async throws -> Outcome {
    let folder = "\(root)/world-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = try await World(trace, kept: kept, folder: folder, template: template)
    var failure: SimulationFailure?
    var current: Int?
    do {
      for number in kept {
        current = number
        try await world.run(trace.events[number])
      }
      current = nil
      try await world.conclude()
    } catch let found as SimulationFailure {
      failure = found
    } catch {
      failure = SimulationFailure(.error, "\(error)")
    }
    failure?.event = current
    let model = MergeModel(world.history.transactions(in: world.history.vector), at: trace.latestVersion)
    let conflicts = (try? await world.actors[0].replica.status().conflicts) ?? 0
    let digest = try? await world.actors[0].replica.maintenance.digest()
    await world.close()
    return Outcome(
      trace: trace, failure: failure, transactions: world.history.transactions.count,
      held: model.limbo.count + model.hiddenReferences.count, conflicts: conflicts,
      digest: digest)
  }
}
