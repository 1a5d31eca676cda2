import Godwit

extension Replica.SyncReport {
  /// Specs/cli.md, "JSON": one for each remote.
  package func json(_ names: ReplicaNames) -> [JSONValue] { remotes.map { $0.json(names) } }
}

extension Replica.SyncReport.Remote {
  /// Specs/cli.md, "JSON".
  package func json(_ names: ReplicaNames) -> JSONValue {
    let sums = SyncSums(self)
    return [
      "remote": .string(name),
      "applied": .number(sums.applied), "rows": .number(sums.rows), "conflicts": .number(sums.conflicts),
      "waiting": .number(sums.waiting), "stateTaken": .bool(sums.hasState),
      "files": .number(taken.count), "fetchedBytes": .number(fetchedBytes),
      "published": published.map { .number($0.transactions) } ?? .null,
      "publishedBytes": .number(sums.publishedBytes),
      "logged": publishedLog.map { .number($0.transactions) } ?? .null,
      "statePublished": .bool(publishedState != nil),
      "findings": .array(findings.map(\.rawValue).sorted().map { .string($0) }),
      "refused": .array(
        refused.map {
          ["file": .string($0.name), "code": .string($0.error.code.rawValue), "message": .string($0.error.message)]
        }),
      "leftOut": .array(taken.flatMap(\.attention.leftOut).map { $0.json(names) }),
      "error": error.map { ["code": .string($0.code.rawValue), "message": .string($0.message)] } ?? .null,
    ]
  }
}

/// What was taken and published at a remote, in numbers.
package struct SyncSums {
  package private(set) var applied = 0
  package private(set) var rows = 0
  package private(set) var conflicts = 0
  package private(set) var waiting = 0
  package private(set) var hasState = false
  package let publishedBytes: Int

  package init(_ remote: Replica.SyncReport.Remote) {
    publishedBytes = [remote.published, remote.publishedLog, remote.publishedState].reduce(remote.publishedBaseBytes) {
      $0 + ($1?.bytes ?? 0)
    }
    for report in remote.taken {
      applied += report.applied.transactions
      rows += report.applied.rows + (report.applied.state?.rows ?? 0)
      conflicts += report.attention.conflicts
      waiting = report.waiting.transactions
      hasState = hasState || report.applied.state != nil
    }
  }
}

extension Replica.Remote {
  /// Specs/cli.md, "remote list".
  package var json: JSONValue {
    [
      "name": .string(name), "url": .string(url), "added": .string(Format.time(addedAt)),
      "synced": syncedAt.map { .string(Format.time($0)) } ?? .null,
      "problem": problem.map {
        [
          "code": .string($0.code.rawValue), "message": .string($0.message), "since": .string(Format.time($0.since)),
        ]
      } ?? .null,
      "found": found.map {
        [
          "findings": .array($0.findings.map(\.rawValue).sorted().map { .string($0) }),
          "at": .string(Format.time($0.at)),
        ]
      } ?? .null,
      "refused": .array(
        refused.map {
          [
            "name": .string($0.file), "code": .string($0.code.rawValue), "at": .string(Format.time($0.at)),
          ]
        }),
    ]
  }

  /// When it was last in sync, or `never`.
  package var synced: String { syncedAt.map { Format.time($0) } ?? "never" }

  /// `ok`, or what is wrong; what was found last; and what stays refused.
  package var state: String {
    let problem = problem.map { "\($0.code) since \(Format.time($0.since))" } ?? "ok"
    let found = found.map {
      "\($0.findings.map(\.rawValue).sorted().joined(separator: ", ")) at \(Format.time($0.at))"
    }
    let refused = refused.map { "\(Format.printable($0.file)) is refused: \($0.code)" }
    return ([problem] + [found].compactMap(\.self) + refused).joined(separator: "; ")
  }

  /// `home, synced 2026-01-31T09:30:00.250Z: ok`.
  package var text: String { "\(name), synced \(synced): \(state)" }
}
