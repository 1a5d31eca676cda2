import ArgumentParser
import Foundation
import GodwitSimulation
import Synchronization

/// Runs worlds whose members reach each other by a store that goes wrong.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Run members that sync by a simulated store with faults.",
    discussion: """
      Examples:
        godwit-sim store --seeds 1000
        godwit-sim store --first 4711 --seeds 1
      """)

  @OptionGroup var queue: SeedQueue

  private struct Report {
    var seeds = 0
    var failures = 0
    var transactions = 0
    var syncs = 0
    var requests = 0
  }

  private final class Total: Sendable { let report = Mutex(Report()) }

  func run() async throws {
    let start = Date()
    let report = try await queue.withFolder { root in
      let simulation = StoreSimulation(root: root)
      try await simulation.prepare()
      let total = Total()
      try await queue.forEach { seed in
        let outcome = try await simulation.run(seed: seed)
        total.report.withLock {
          $0.seeds += 1
          $0.transactions += outcome.transactions
          $0.syncs += outcome.syncs
          $0.requests += outcome.requests
          if outcome.failure != nil { $0.failures += 1 }
        }
        if let failure = outcome.failure { print("seed \(seed): \(failure)") }
        return outcome.failure == nil
      }
      return total.report.withLock { $0 }
    }
    let seconds = Date().timeIntervalSince(start)
    print(
      "\(report.seeds) seeds of stores, \(report.transactions) transactions, \(report.syncs) syncs, "
        + "\(report.requests) requests, \(report.failures) failures in \(Int(seconds)) s")
    if report.failures > 0 { throw ExitCode.failure }
  }
}
