import Godwit
import Synchronization
import ToolSupport

/// What a sync did, as text and as JSON.
struct SyncView {
  private let report: Replica.SyncReport
  private let names: ReplicaNames

  init(_ report: Replica.SyncReport, _ names: ReplicaNames) {
    self.report = report
    self.names = names
  }

  /// `home: 3 applied (5 rows) from laptop, 1 published (1.2 KiB)`.
  var lines: [String] { report.remotes.filter { $0.error == nil }.map { Format.printable(line($0)) } }

  private func line(_ remote: Replica.SyncReport.Remote) -> String {
    let sums = Sums(remote)
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
    report.remotes.flatMap { remote -> [String] in
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

  /// Specs/cli.md, "JSON": one for each remote.
  var json: [JSONValue] { report.remotes.map(json) }

  private func json(_ remote: Replica.SyncReport.Remote) -> JSONValue {
    let sums = Sums(remote)
    return [
      "remote": .string(remote.name),
      "applied": .number(sums.applied), "rows": .number(sums.rows), "conflicts": .number(sums.conflicts),
      "waiting": .number(sums.waiting), "stateTaken": .bool(sums.hasState),
      "files": .number(remote.taken.count), "fetchedBytes": .number(remote.fetchedBytes),
      "published": remote.published.map { .number($0.transactions) } ?? .null,
      "publishedBytes": .number(
        [remote.published, remote.publishedLog, remote.publishedState].reduce(remote.publishedBaseBytes) {
          $0 + ($1?.bytes ?? 0)
        }),
      "logged": remote.publishedLog.map { .number($0.transactions) } ?? .null,
      "statePublished": .bool(remote.publishedState != nil),
      "findings": .array(remote.findings.map(\.rawValue).sorted().map { .string($0) }),
      "refused": .array(
        remote.refused.map {
          ["file": .string($0.name), "code": .string($0.error.code.rawValue), "message": .string($0.error.message)]
        }),
      "leftOut": .array(remote.taken.flatMap(\.attention.leftOut).map { $0.json(names) }),
      "error": remote.error.map { ["code": .string($0.code.rawValue), "message": .string($0.message)] } ?? .null,
    ]
  }
}

/// What was taken at a remote, in numbers.
private struct Sums {
  var applied = 0
  var rows = 0
  var conflicts = 0
  var waiting = 0
  var hasState = false

  init(_ remote: Replica.SyncReport.Remote) {
    for report in remote.taken {
      applied += report.applied.transactions
      rows += report.applied.rows + (report.applied.state?.rows ?? 0)
      conflicts += report.attention.conflicts
      waiting = report.waiting.transactions
      hasState = hasState || report.applied.state != nil
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
