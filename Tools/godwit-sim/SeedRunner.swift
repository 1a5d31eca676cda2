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
  private let first: UInt64
  private let count: Int?
  private let end: Date?
  private let workers: Int
  private let stops: Bool
  private let shrinks: Bool
  private let repeats: Bool
  /// Which kinds of fault are left out or added, which makes a seed another world.
  private let options: [String]

  init(
    _ simulation: Simulation, first: UInt64, count: Int?, minutes: Double?, workers: Int, stops: Bool, shrinks: Bool,
    repeats: Bool, options: [String]
  ) {
    self.options = options
    self.simulation = simulation
    self.first = first
    self.count = count
    end = minutes.map { Date(timeIntervalSinceNow: $0 * 60) }
    self.workers = workers
    self.stops = stops
    self.shrinks = shrinks
    self.repeats = repeats
  }

  func run() async throws -> Report {
    let start = Date()
    let state = SharedState()
    try await simulation.prepare()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<workers {
        group.addTask { while let seed = self.nextSeed(state) { try await self.run(seed, state) } }
      }
      try await group.waitForAll()
    }
    var report = state.report.withLock { $0 }
    report.seconds = Date().timeIntervalSince(start)
    return report
  }

  private final class SharedState: Sendable {
    let next = Mutex<Int>(0)
    let report = Mutex(Report())
  }

  private func nextSeed(_ state: SharedState) -> UInt64? {
    if Task.isCancelled || stops && state.report.withLock({ $0.failures > 0 }) { return nil }
    if let end, Date() >= end { return nil }
    let number = state.next.withLock { next in
      defer { next += 1 }
      return next
    }
    if let count, number >= count { return nil }
    return first + UInt64(number)
  }

  private func run(_ seed: UInt64, _ state: SharedState) async throws {
    let outcome = try await simulation.run(seed: seed)
    if repeats, outcome.failure == nil {
      let again = try await simulation.run(seed: seed)
      guard again.result == outcome.result else {
        print("seed \(seed) gave another world: \(outcome.result) and \(again.result)")
        return state.report.withLock { $0.failures += 1 }
      }
    }
    state.report.withLock {
      $0.seeds += 1
      $0.transactions += outcome.transactions
      $0.conflicts += outcome.conflicts
      $0.held += outcome.held
      if outcome.failure != nil { $0.failures += 1 }
    }
    guard let failure = outcome.failure else { return }
    print("seed \(seed): \(failure)")
    guard shrinks else { return }
    guard let (kept, smaller) = try await simulation.shrink(outcome.trace, failure) else {
      print("  the failure did not come again")
      return
    }
    print("  shrunk to \(kept.count) of \(outcome.trace.count) events: \(smaller)")
    print(outcome.trace.description(of: kept))
    let left = options.map { " \($0)" }.joined()
    print("  again: godwit-sim --replay \(seed)\(left) --keep \(kept.map(String.init).joined(separator: ","))")
  }
}
