import Foundation
import Godwit
import GodwitReports

extension AgentStatus {
  /// A paragraph for each replica.
  package var lines: [String] {
    replicas.flatMap { $0.lines }
  }
}

extension AgentStatus.State {
  fileprivate var lines: [String] {
    guard let standing else { return [Format.printable("\(folder): \(failure?.text ?? "not yet open")")] }
    let status = standing.status
    var counts = ["\(status.unsent) unsent", "\(status.staged) waiting", Format.count(status.conflicts, "conflict")]
    if status.limbo > 0 { counts.append("\(Format.count(status.limbo, "row")) in limbo") }
    var lines = ["\(folder): \(standing.names.name(standing.identity.replica)), \(counts.joined(separator: ", "))"]
    lines += status.forks.map { "  forked: \(standing.names.forked($0))" }
    if let held = status.heldVersion { lines.append("  held: \(held.text(standing.names))") }
    lines += remotes.map { "  \($0.name): \($0.text)" }
    return lines.map(Format.printable)
  }
}

extension AgentStatus.RemoteState {
  fileprivate var text: String {
    if let failure = tally.failure { return failure.text }
    let synced = syncedAt.map { "synced \(Format.time($0))" } ?? "not yet synced"
    let moved = "\(Format.byteSize(tally.fetchedBytes)) fetched, \(Format.byteSize(tally.publishedBytes)) published"
    return "\(synced), \(moved)"
  }
}
