import ArgumentParser
import Foundation
import Synchronization

/// Which seeds are run, and how many at a time.
struct SeedQueue: ParsableArguments {
  @Option(help: "How many seeds to run.")
  var seeds = 1000

  @Option(help: "Run for so many minutes instead.")
  var minutes: Double?

  @Option(help: "The first seed.")
  var first: UInt64 = 1

  @Option(
    help: "How many worlds to run at a time. Each waits for its disk now and then, so that two a core are fastest.")
  var workers = 4

  @Option(help: "Where the worlds' files are.")
  var folder = "/dev/shm"

  @Flag(help: "Continue after a failure; report each.")
  var all = false

  func validate() throws {
    guard workers > 0, seeds > 0 else { throw ValidationError("there must be a worker and a seed") }
  }

  /// Hands out the seeds.
  private final class Source: Sendable {
    private let state = Mutex((next: 0, isStopped: false))
    private let first: UInt64
    private let count: Int?
    private let end: Date?

    init(_ queue: SeedQueue) {
      first = queue.first
      count = queue.minutes == nil ? queue.seeds : nil
      end = queue.minutes.map { Date(timeIntervalSinceNow: $0 * 60) }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    func next() -> UInt64? {
      if Task.isCancelled { return nil }
      if let end, Date() >= end { return nil }
      return state.withLock { state in
        guard !state.isStopped, count.map({ state.next < $0 }) ?? true else { return nil }
        defer { state.next += 1 }
        return first + UInt64(state.next)
      }
    }
  }

  /// Runs seeds one after another on several workers until a number or a time is reached, or one fails.
  ///
  /// - Parameter body: Returns whether the seed ran clean.
  func forEach(_ body: @escaping @Sendable (UInt64) async throws -> Bool) async throws {
    let (source, stops) = (Source(self), !all)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<workers {
        group.addTask {
          while let seed = source.next() {
            let isClean = try await body(seed)
            if !isClean, stops { source.stop() }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Lends a folder that goes with the process.
  func withFolder<Output>(_ body: (String) async throws -> Output) async throws -> Output {
    let root = "\(folder)/godwit-sim-\(getpid())"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: root) }
    return try await body(root)
  }
}
