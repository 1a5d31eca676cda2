import Foundation
import Godwit
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
    let simulation = try await Simulation(seed: seed, replicaCount: 2 + Int(seed % 3), folder: folder)
    for _ in 0..<60 { try await simulation.step() }
    try await simulation.settle()

    var digests: Set<String> = []
    for replica in simulation.replicas {
      let report = try await replica.verify()
      #expect(report.problems.isEmpty)
      digests.insert(report.digest)
      // What still waits needs a transaction that restored backups took away from all who had it.
      let status = try await replica.status()
      #expect(status.staged == 0 || !status.missing.isEmpty)
    }
    #expect(digests.count == 1)
    await simulation.close()
  }
}
