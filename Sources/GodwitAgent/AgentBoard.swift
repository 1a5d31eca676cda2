import Foundation
import Godwit
import GodwitReports
import Synchronization

/// What the keepers of an agent have seen: written by each, read whenever somebody asks how the agent is.
package final class AgentBoard: Sendable {
  /// A replica of the agent's.
  package struct Entry: Sendable {
    /// Its folder, as the agent was given it.
    package let folder: String
    /// The replica while it is open.
    package fileprivate(set) var replica: Replica?
    /// Why it is not open; nil as well before it was tried.
    package fileprivate(set) var failure: AgentFailure?
    /// By the remotes' names.
    package fileprivate(set) var remotes: [String: RemoteTally] = [:]
    /// Reads how the replica is.
    let reading = BoundedReading<AgentStatus.Standing>()
  }

  package let startedAt: Date
  private let ready = Atomic(false)
  private let state: Mutex<[Entry]>

  package init(_ folders: [String], startedAt: Date = Date()) {
    self.startedAt = startedAt
    state = Mutex(folders.map { Entry(folder: $0) })
  }

  /// Whether the agent has been ready.
  package var wasReady: Bool { ready.load(ordering: .relaxed) }

  func noteReady() { ready.store(true, ordering: .relaxed) }

  /// In the order in which the agent was given them.
  package var entries: [Entry] { state.withLock(\.self) }

  /// `3 replicas, 1 not open, 1 remote fails`, without a look at the databases.
  package var summary: String {
    let entries = entries
    let (closed, tallies) = (entries.count { $0.replica == nil }, entries.flatMap(\.remotes.values))
    let failing = tallies.count { $0.failure != nil }
    var parts = [Format.count(entries.count, "replica")]
    if closed > 0 { parts.append("\(closed) not open") }
    if failing > 0 { parts.append("\(Format.count(failing, "remote")) \(failing == 1 ? "fails" : "fail")") }
    return parts.joined(separator: ", ")
  }

  /// The replicas that are not open, a line each: whether the agent is to be started anew. Without a look at the
  /// databases, one of which may hang.
  package var closed: [String] {
    entries.filter { $0.replica == nil }.map { entry in
      Format.printable("\(entry.folder): \(entry.failure.map { "not open: \($0.text)" } ?? "not yet open")")
    }
  }

  func opened(_ index: Int, _ replica: Replica) {
    state.withLock { ($0[index].replica, $0[index].failure) = (replica, nil) }
  }

  func closed(_ index: Int) { state.withLock { $0[index].replica = nil } }

  /// Returns the failure, unless it failed so before.
  func failed(_ index: Int, _ error: any Error, at now: Date = Date()) -> AgentFailure? {
    state.withLock { entries in
      let former = entries[index].failure
      let failure = AgentFailure(error, since: former?.since ?? now)
      (entries[index].replica, entries[index].failure) = (nil, failure)
      return former?.code == failure.code ? nil : failure
    }
  }

  /// - Parameter remotes: The replica's remotes now; what is known of others is dropped.
  func took(_ report: Replica.SyncReport, _ index: Int, of remotes: [String], at now: Date = Date()) {
    state.withLock { entries in
      entries[index].remotes = entries[index].remotes.filter { remotes.contains($0.key) }
      for remote in report.remotes { entries[index].remotes[remote.name, default: RemoteTally()].add(remote, at: now) }
    }
  }
}
