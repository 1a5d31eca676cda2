import Foundation
import Godwit
import GodwitReports

extension AgentStatus {
  /// Of so many members at most the lag is written, of those that lack most.
  private static let memberLimit = 100

  /// As Prometheus reads it (Specs/agent.md, "How it is").
  package var metrics: String {
    var text = MetricsText()
    text.family("godwit_agent_info", .gauge, "The agent's version.") { $0.add(1, [("version", GodwitVersion.current)]) }
    text.family("godwit_agent_start_time_seconds", .gauge, "When the agent was started, since 1970 UTC.") {
      $0.add(startedAt.timeIntervalSince1970)
    }
    text.family("godwit_replica_open", .gauge, "Whether the replica is open.") { family in
      for state in replicas { family.add(state.standing == nil ? 0 : 1, state.labels) }
    }
    addCounts(to: &text)
    text.family("godwit_replica_member_lag_transactions", .gauge, "Transactions a member is not known to hold.") {
      for state in replicas { $0.addLags(of: state, limit: Self.memberLimit) }
    }
    addRemotes(to: &text)
    return text.text
  }

  private func addCounts(to text: inout MetricsText) {
    let counts: [(String, String, (Replica.Status) -> Int)] = [
      ("unsent_transactions", "Own transactions that some member is not known to hold.", \.unsent),
      ("waiting_transactions", "Transactions that wait for others, or for a migration.", \.staged),
      ("held_transactions", "Transactions that wait for a schema version.", { $0.heldVersion?.transactions ?? 0 }),
      ("conflicts", "Conflicts that are not resolved.", \.conflicts),
      ("limbo_rows", "Rows that are held back, or show NULL for a reference.", \.limbo),
      ("forks", "Members with two histories.", \.forks.count),
      ("database_bytes", "Bytes of the database.", \.databaseBytes),
    ]
    for (name, help, count) in counts {
      text.family("godwit_replica_\(name)", .gauge, help) { family in
        for state in replicas {
          if let standing = state.standing { family.add(Double(count(standing.status)), state.labels) }
        }
      }
    }
  }

  private func addRemotes(to text: inout MetricsText) {
    let tallies = replicas.flatMap { state in
      state.remotes.map { (labels: state.labels + [("remote", $0.name)], tally: $0.tally, syncedAt: $0.syncedAt) }
    }
    text.family("godwit_remote_syncs_total", .counter, "Syncs by their result.") { family in
      for (labels, tally, _) in tallies {
        for (result, count) in tally.syncs.sorted(by: { $0.key < $1.key }) {
          family.add(Double(count), labels + [("result", result)])
        }
      }
    }
    text.family("godwit_remote_requests_total", .counter, "What a folder or store was asked for.") { family in
      for (labels, tally, _) in tallies { family.addRequests(tally.requests, labels) }
    }
    let counters: [(String, String, (RemoteTally) -> Int)] = [
      ("fetched_bytes_total", "Bytes that were fetched.", \.fetchedBytes),
      ("published_bytes_total", "Bytes that were published.", \.publishedBytes),
      ("refused_files_total", "Files of others that were fetched and refused.", \.refusedFiles),
    ]
    for (name, help, count) in counters {
      text.family("godwit_remote_\(name)", .counter, help) { family in
        for (labels, tally, _) in tallies { family.add(Double(count(tally)), labels) }
      }
    }
    text.family("godwit_remote_sync_seconds", .histogram, "How long syncs took.") { family in
      for (labels, tally, _) in tallies { family.add(tally.seconds, labels) }
    }
    text.family("godwit_remote_failing", .gauge, "Whether the last sync failed.") { family in
      for (labels, tally, _) in tallies { family.add(tally.failure == nil ? 0 : 1, labels) }
    }
    text.family("godwit_remote_last_success_timestamp_seconds", .gauge, "When a sync was last whole, since 1970 UTC.") {
      for (labels, _, time) in tallies where time != nil { $0.add(time?.timeIntervalSince1970 ?? 0, labels) }
    }
    text.family("godwit_remote_last_news_timestamp_seconds", .gauge, "When something of others came, since 1970 UTC.") {
      for (labels, tally, _) in tallies {
        if let time = tally.lastNews { $0.add(time.timeIntervalSince1970, labels) }
      }
    }
  }
}

extension AgentStatus.State {
  fileprivate var labels: [(String, String)] { [("replica", folder)] }
}
