import Foundation
import GodwitSimulation
import Testing

@Suite("Convergence")
struct ConvergenceTests {
  /// Each seed is a run of its own; a seed that ever fails stays here by name.
  @Test("replicas that hold the same changes hold the same state", arguments: UInt64(1)...24)
  func converge(seed: UInt64) async throws {
    let folder = NSTemporaryDirectory() + "godwit-simulation-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let outcome = try await Simulation(root: folder).run(seed: seed)
    #expect(outcome.failure == nil)
    #expect(outcome.transactions > 0)
  }
}
