import Foundation
import Godwit
import GodwitReports

/// How an agent is: what its keepers have seen, and what the databases say now.
package struct AgentStatus: Sendable {
  /// A replica that is open.
  package struct Standing: Sendable {
    package let status: Replica.Status
    package let identity: PublicIdentity
    package let names: ReplicaNames
    /// For each other active member how many transactions of those that are held here it is not known to hold.
    package let lags: [ReplicaID: Int]
  }

  package struct RemoteState: Sendable {
    package let name: String
    /// Nil while the replica is not open.
    package let url: String?
    /// What its syncs have come to; of none, before the first.
    package let tally: RemoteTally
    /// When a sync was last whole, also before the agent was started.
    package let syncedAt: Date?
  }

  package struct State: Sendable {
    package let folder: String
    /// Why it is not open, or does not answer.
    package let failure: AgentFailure?
    /// Nil while it is not open, or does not answer.
    package let standing: Standing?
    /// While it is open all remotes that it has, otherwise those that it was synced with.
    package let remotes: [RemoteState]

    /// Whether it is open, its last sync with every remote was whole, and no history is forked.
    package var isWell: Bool {
      guard let standing else { return false }
      return standing.status.forks.isEmpty && remotes.allSatisfy { $0.tally.failure == nil }
    }
  }

  package let startedAt: Date
  package let replicas: [State]

  /// Reads each open database once, which costs as much as what its group has to say of itself, and no table's rows.
  /// One that does not answer costs five seconds, the first time, and holds up no other.
  package init(of board: AgentBoard) async {
    startedAt = board.startedAt
    replicas = await withTaskGroup(of: (Int, State).self) { group in
      let entries = board.entries
      for (index, entry) in entries.enumerated() { group.addTask { (index, await State(entry)) } }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  package var isWell: Bool { replicas.allSatisfy(\.isWell) }
}

extension AgentStatus.State {
  fileprivate init(_ entry: AgentBoard.Entry) async {
    var failure = entry.failure
    var standing: AgentStatus.Standing?
    do {
      if let replica = entry.replica { standing = try await entry.reading.value { try await replica.agentStanding() } }
    } catch {
      failure = failure ?? AgentFailure(error, since: Date())
    }
    self.init(
      folder: entry.folder, failure: failure, standing: standing,
      remotes: standing?.status.remotes.map { AgentStatus.RemoteState($0, entry.remotes[$0.name] ?? RemoteTally()) }
        ?? entry.remotes.sorted { $0.key < $1.key }.map(AgentStatus.RemoteState.init))
  }
}

extension AgentStatus.RemoteState {
  fileprivate init(_ remote: Replica.Remote, _ tally: RemoteTally) {
    self.init(name: remote.name, url: remote.url, tally: tally, syncedAt: tally.lastSuccess ?? remote.syncedAt)
  }

  fileprivate init(_ name: String, _ tally: RemoteTally) {
    self.init(name: name, url: nil, tally: tally, syncedAt: tally.lastSuccess)
  }
}

extension Replica {
  fileprivate func agentStanding() async throws -> AgentStatus.Standing {
    AgentStatus.Standing(
      status: try await status(countsRows: false), identity: identity,
      names: ReplicaNames(try await members.list()), lags: try await lags())
  }
}
