import Godwit

/// What a sync did, as text.
package struct SyncView {
  private let remotes: [Replica.SyncReport.Remote]
  private let names: ReplicaNames

  package init(_ remotes: [Replica.SyncReport.Remote], _ names: ReplicaNames) {
    self.remotes = remotes
    self.names = names
  }

  /// `home: 3 applied (5 rows) from laptop, 1 published (1.2 KiB)`.
  package var lines: [String] { remotes.filter { $0.error == nil }.map { Format.printable(line($0)) } }

  private func line(_ remote: Replica.SyncReport.Remote) -> String {
    let sums = SyncSums(remote)
    let senders = Set(remote.taken.filter { $0.applied.transactions > 0 || $0.applied.state != nil }.map(\.sender))
    let from = senders.isEmpty ? "" : " from \(senders.map { names.name($0) }.sorted().joined(separator: ", "))"
    var parts = ["\(sums.applied) applied (\(Format.count(sums.rows, "row")))\(from)"]
    if sums.hasState { parts.append("a whole state taken") }
    if sums.waiting > 0 { parts.append("\(sums.waiting) waiting") }
    if sums.conflicts > 0 { parts.append(Format.count(sums.conflicts, "conflict")) }
    parts.append(
      remote.published.map { "\($0.transactions) published (\(Format.byteSize($0.bytes)))" } ?? "nothing to publish")
    if let log = remote.publishedLog { parts.append("\(log.transactions) logged (\(Format.byteSize(log.bytes)))") }
    if let state = remote.publishedState { parts.append("a whole state published (\(Format.byteSize(state.bytes)))") }
    return "\(remote.name): \(parts.joined(separator: ", "))"
  }

  package var warnings: [String] {
    remotes.flatMap { remote -> [String] in
      let refused = remote.refused.map {
        "warning: \(remote.name): \($0.name) was refused: \($0.error.message)\($0.error.hint.map { " (\($0))" } ?? "")"
      }
      let findings = remote.findings.sorted { $0.rawValue < $1.rawValue }.map { "warning: \(remote.name): \($0.text)" }
      let files = remote.taken.flatMap { $0.syncWarnings(names) }
      return (refused + findings).map(Format.printable) + files
    }
  }
}

extension Replica.SyncReport.Finding {
  /// What was found, and what is done about it.
  package var text: String {
    switch self {
    case .emptied: "this replica's file was gone; it is published again"
    case .rolledBack: "an earlier file of this replica's was there; it is replaced"
    case .cloned:
      "a copy of this replica writes there; this one has begun a new incarnation (godwit member incarnations)"
    case .needsState:
      "this replica lacks what the others have forgotten, or wrote something without it: godwit sync --rejoin"
    case .withheld:
      "members hold what has not come for more than a day; the remote may show earlier files (godwit missing)"
    }
  }
}
