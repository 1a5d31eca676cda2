import Foundation
import Godwit
import GodwitRemotes
import GodwitReports

/// What the syncs with one remote have come to since the agent was started.
package struct RemoteTally: Sendable {
  /// Syncs by their result: `ok`, or an error's code.
  package private(set) var syncs: [String: Int] = [:]
  /// What a folder or store was asked for.
  package private(set) var requests: [CountedCarrier.Kind: Int] = [:]
  package private(set) var fetchedBytes = 0
  package private(set) var publishedBytes = 0
  package private(set) var refusedFiles = 0
  /// How long syncs took.
  package private(set) var seconds = Histogram()
  /// When a sync was last whole.
  package private(set) var lastSuccess: Date?
  /// When something of others was last taken.
  package private(set) var lastNews: Date?
  /// Nil when the last sync was whole.
  package private(set) var failure: AgentFailure?

  /// Adds a sync that has just ended.
  mutating func add(_ remote: Replica.SyncReport.Remote, at now: Date) {
    syncs[remote.error?.code.rawValue ?? "ok", default: 0] += 1
    requests.merge(remote.requests, uniquingKeysWith: +)
    let sums = SyncSums(remote)
    fetchedBytes += remote.fetchedBytes
    publishedBytes += sums.publishedBytes
    refusedFiles += remote.refused.count
    seconds.add(remote.duration / .seconds(1))
    if sums.applied > 0 || sums.hasState { lastNews = now }
    guard let error = remote.error else {
      (lastSuccess, failure) = (now, nil)
      return
    }
    failure = AgentFailure(error, since: failure?.since ?? now)
  }
}

/// How many values are at most so large.
package struct Histogram: Sendable {
  /// Seconds: from a folder that is near to a first sync over a slow line.
  package static let bounds = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300]

  /// Of each bound, those that the bound before does not count.
  private var counts = [Int](repeating: 0, count: bounds.count + 1)
  package private(set) var sum = 0.0

  package init() {}

  mutating func add(_ value: Double) {
    counts[Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count] += 1
    sum += value
  }

  package var count: Int { counts.reduce(0, +) }

  /// How many values are at most as large as each bound.
  package var cumulative: [(bound: Double, count: Int)] {
    var total = 0
    return zip(Self.bounds, counts).map { bound, count in
      total += count
      return (bound, total)
    }
  }
}
