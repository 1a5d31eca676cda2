import Foundation

/// Runs worlds whose members reach each other by a store, in folders of their own.
package struct StoreSimulation: Sendable {
  private let root: String
  private let template: FolderTemplate

  /// - Parameter root: A folder that the caller owns, best in memory.
  package init(root: String) {
    self.root = root
    template = FolderTemplate(root: root)
  }

  /// What a seed did.
  package struct Outcome: Sendable, Equatable {
    package let failure: SimulationFailure?
    package let transactions: Int
    package let syncs: Int
    package let requests: Int
  }

  /// Makes the folders that worlds are copied from, so that workers need not wait for each other.
  package func prepare() async throws {
    for count in StoreWorld.members { try await template.prepare(count, isHostile: false) }
  }

  /// Throws only when the folder cannot be used.
  ///
  /// - Parameter onStep: Is called with a line for each step of the world.
  package func run(seed: UInt64, onStep: (@Sendable (String) -> Void)? = nil) async throws -> Outcome {
    let folder = "\(root)/store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = try await StoreWorld(seed: seed, folder: folder, template: template, onStep: onStep)
    var failure: SimulationFailure?
    do {
      try await world.run()
    } catch let found as SimulationFailure {
      failure = found
    } catch {
      failure = SimulationFailure(.error, "\(error)")
    }
    await world.close()
    return Outcome(
      failure: failure, transactions: world.transactions, syncs: world.syncs, requests: world.counters.requests)
  }
}
