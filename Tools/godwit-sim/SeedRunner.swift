import Foundation
import GodwitSimulation
import Synchronization

/// Runs seeds one after another on several workers until a number or a time is reached.
struct SeedRunner {
  struct Report {
    var seeds = 0
    var failures = 0
    var transactions = 0
    var conflicts = 0
    var held = 0
    var seconds = 0.0

    var summary: String {
      let pace = seconds > 0 ? Double(seeds) / seconds : 0
      return "\(seeds) seeds, \(transactions) transactions, \(conflicts) conflicts, "
        + "\(held) rows held back, \(failures) failures in \(Int(seconds)) s "
        + "(\(Int(pace)) seeds a second)"
    }
  }

  private let simulation: Simulation
  private let queue: SeedQueue
  private let shrinks: Bool
  private let repeats: Bool
  /// Which kinds of fault are left out or added, which makes a seed another world.
  private let options: [String]

  init(
    _ simulation: Simulation, _ queue: SeedQueue, shrinks: Bool,
    repeats: Bool, options: [String]
  ) {
    self.options = options
    self.simulation = simulation
    self.queue = queue
    self.shrinks = shrinks
    self.repeats = repeats
  }

  func run() async throws -> Report {
    let start = Date()
    let state = SharedState()
    try await simulation.prepare()
    try await queue.forEach { try await run($0, state) }
    var report = state.report.withLock { $0 }
    report.seconds = Date().timeIntervalSince(start)
    return report
  }

  private final class SharedState: Sendable {
    let report = Mutex(Report())
  }

  /// Returns whether the seed ran clean.
  private func run(_ seed: UInt64, _ state: SharedState) async throws -> Bool {
    let outcome = try await simulation.run(seed: seed)
    if repeats, outcome.failure == nil {
      let again = try await simulation.run(seed: seed)
      guard again.result == outcome.result else {
        print("seed \(seed) gave another world: \(outcome.result) and \(again.result)")
        state.report.withLock { $0.failures += 1 }
        return false
      }
    }
    state.report.withLock {
      $0.seeds += 1
      $0.transactions += outcome.transactions
      $0.conflicts += outcome.conflicts
      $0.held += outcome.held
      if outcome.failure != nil { $0.failures += 1 }
    }
    guard let failure = outcome.failure else { return true }
    print("seed \(seed): \(failure)")
    guard shrinks else { return false }
    guard let (kept, smaller) = try await simulation.shrink(outcome.trace, failure) else {
      print("  the failure did not come again")
      return false
    }
    print("  shrunk to \(kept.count) of \(outcome.trace.count) events: \(smaller)")
    print(outcome.trace.description(of: kept))
    let left = options.map { " \($0)" }.joined()
    print("  again: godwit-sim --replay \(seed)\(left) --keep \(kept.map(String.init).joined(separator: ","))")
    return false
  }
}
