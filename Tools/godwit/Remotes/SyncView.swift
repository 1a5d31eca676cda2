import Godwit
import Synchronization
import ToolSupport

/// What a sync did, as text.
struct SyncView {
  private let remotes: [Replica.SyncReport.Remote]
  private let names: ReplicaNames

  init(_ remotes: [Replica.SyncReport.Remote], _ names: ReplicaNames) {
    self.remotes = remotes
    self.names = names
  }

  /// `home: 3 applied (5 rows) from laptop, 1 published (1.2 KiB)`.
  var lines: [String] { remotes.filter { $0.error == nil }.map { Format.printable(line($0)) } }

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

  var warnings: [String] {
    remotes.flatMap { remote -> [String] in
      let refused = remote.refused.map {
        "warning: \(remote.name): \($0.name) was refused: \($0.error.message)\($0.error.hint.map { " (\($0))" } ?? "")"
      }
      let findings = remote.findings.map(\.rawValue).sorted().map { "warning: \(remote.name): \(Self.text($0))" }
      let skew = remote.clockSkew.map { skew in
        "warning: \(remote.name): its clock is \(skew / .seconds(1)) s from this machine's; see which is right"
      }
      let files = remote.taken.flatMap { $0.syncWarnings(names) }
      return (refused + findings + [skew].compactMap(\.self)).map(Format.printable) + files
    }
  }

  private static func text(_ finding: String) -> String {
    switch Replica.SyncReport.Finding(rawValue: finding) {
    case .emptied: "this replica's file was gone; it is published again"
    case .rolledBack: "an earlier file of this replica's was there; it is replaced"
    case .cloned:
      "a copy of this replica writes there; this one has begun a new incarnation (godwit member incarnations)"
    case .needsState:
      "this replica lacks what the others have forgotten, or wrote something without it: godwit sync --rejoin"
    case .withheld:
      "members hold what has not come for more than a day; the remote may show earlier files (godwit missing)"
    case nil: finding
    }
  }
}

/// Shows which file moves, how much of it, and how fast.
final class SyncMeter: Sendable {
  private struct State {
    var file: String?
    var start = ContinuousClock.now
    /// How many bytes were through then.
    var before = 0
  }

  /// How many seconds a rate is taken over at least: what a buffer takes at once says nothing.
  private static let span = 0.25

  private let bar: ProgressBar
  private let state = Mutex(State())

  init(_ bar: ProgressBar) { self.bar = bar }

  func show(_ progress: Replica.SyncProgress) {
    let verb = progress.direction == .fetching ? "fetching from" : "publishing to"
    let title = "\(verb) \(progress.remote)"
    let (seconds, before) = state.withLock { state in
      if state.file != title || progress.bytes == 0 {
        state = State(file: title, before: progress.bytes)
      }
      return ((ContinuousClock.now - state.start) / .seconds(1), state.before)
    }
    let rate = seconds < Self.span ? nil : Double(progress.bytes - before) / seconds
    bar.update(
      "\(title): \(Format.byteSize(progress.bytes)) of \(Format.byteSize(progress.total))"
        + (rate.map { ", \(Format.byteSize(Int($0)))/s" } ?? ""))
  }
}
