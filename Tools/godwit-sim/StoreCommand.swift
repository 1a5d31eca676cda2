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
        godwit-sim store --first 4711 --seeds 1 --steps
      """)

  @OptionGroup var queue: SeedQueue

  @Flag(help: "Print the steps of each world, of one at a time.")
  var steps = false

  private struct Report {
    var seeds = 0
    var failures = 0
    var transactions = 0
    var syncs = 0
    var requests = 0

    mutating func add(_ outcome: StoreSimulation.Outcome) {
      seeds += 1
      transactions += outcome.transactions
      syncs += outcome.syncs
      requests += outcome.requests
      if outcome.failure != nil { failures += 1 }
    }
  }

  private final class Total: Sendable { let report = Mutex(Report()) }

  private static let printStep: @Sendable (String) -> Void = { print($0) }

  func validate() throws {
    guard !steps || queue.seeds == 1 || queue.workers == 1 else {
      throw ValidationError("--steps of several worlds at a time would mix; add --seeds 1 or --workers 1")
    }
  }

  func run() async throws {
    let start = Date()
    let onStep = steps ? Self.printStep : nil
    let report: Report = try await queue.withFolder { root in
      let simulation = StoreSimulation(root: root)
      try await simulation.prepare()
      let total = Total()
      try await queue.forEach { seed in
        let outcome = try await simulation.run(seed: seed, onStep: onStep)
        total.report.withLock { $0.add(outcome) }
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
