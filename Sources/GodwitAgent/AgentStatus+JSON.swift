import Foundation
import Godwit
import GodwitReports

extension AgentStatus {
  /// Specs/cli.md, "agent status".
  package var json: JSONValue {
    [
      "well": .bool(isWell), "version": .string(GodwitVersion.current), "started": .string(Format.time(startedAt)),
      "replicas": .array(replicas.map(\.json)),
    ]
  }
}

extension AgentStatus.State {
  fileprivate var json: JSONValue {
    let status = standing?.status
    func number(_ count: Int?) -> JSONValue { count.map { .number($0) } ?? .null }
    return [
      "path": .string(folder), "open": .bool(standing != nil), "error": failure?.json ?? .null,
      "name": standing.map { .string($0.names.name($0.identity.replica)) } ?? .null,
      "unsent": number(status?.unsent), "waiting": number(status?.staged), "conflicts": number(status?.conflicts),
      "limbo": number(status?.limbo), "forks": number(status?.forks.count),
      "held": number(status.map { $0.heldVersion?.transactions ?? 0 }), "databaseBytes": number(status?.databaseBytes),
      "remotes": .array(remotes.map(\.json)),
    ]
  }
}

extension AgentStatus.RemoteState {
  fileprivate var json: JSONValue {
    func time(_ date: Date?) -> JSONValue { date.map { .string(Format.time($0)) } ?? .null }
    return [
      "name": .string(name), "url": url.map { .string($0) } ?? .null, "synced": time(syncedAt),
      "news": time(tally.lastNews), "error": tally.failure?.json ?? .null, "syncs": .number(tally.seconds.count),
      "failed": .number(tally.syncs.reduce(0) { $0 + ($1.key == "ok" ? 0 : $1.value) }),
      "fetchedBytes": .number(tally.fetchedBytes), "publishedBytes": .number(tally.publishedBytes),
      "refused": .number(tally.refusedFiles),
    ]
  }
}
