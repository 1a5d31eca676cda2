import Godwit

extension MergeReport {
  /// Specs/cli.md, "import".
  package func fields(_ file: String, _ names: ReplicaNames, on replica: Replica) -> [(String, JSONValue)] {
    [
      ("file", .string(file)), ("sender", .object(names.json(sender))), ("applied", .number(applied.transactions)),
      ("duplicates", .number(applied.duplicates)), ("waiting", .number(waiting.transactions)),
      ("rows", .number(applied.rows)), ("conflicts", .number(attention.conflicts)),
      ("prunedConflicts", .number(attention.prunedConflicts)), ("held", waiting.held?.json(names) ?? .null),
      ("losses", .number(attention.losses)), ("missing", .array(waiting.missing.map { $0.json(names) })),
      ("stateFile", .bool(applied.state != nil)), ("stateRows", .number(applied.state?.rows ?? 0)),
      ("replayed", .number(applied.state?.replayed ?? 0)),
      ("needsStateFile", .bool(attention.fenced.contains(replica.identity.replica))),
      ("forks", .array(attention.forks.map { .object(names.json($0.replica) + [("sequence", .number($0.sequence))]) })),
      ("leftOut", .array(attention.leftOut.map { $0.json(names) })),
      ("members", .array(applied.members.map { $0.json(names) })),
      ("dropped", .array(attention.dropped.map { $0.json(names) })),
      ("differing", .array(attention.differing.map { .object(names.json($0)) })),
    ]
  }
}

extension MissingReport.Waiting {
  /// Specs/cli.md, "missing".
  package func fields(_ names: ReplicaNames) -> [(String, JSONValue)] {
    names.json(replica, sequences) + [
      ("transactions", .number(transactions)), ("bytes", .number(bytes)), ("setAside", .number(setAside)),
    ]
  }
}

extension MergeReport.Missing {
  package func text(_ names: ReplicaNames) -> String { names.text(replica, sequences) }

  /// Specs/cli.md, "missing".
  package func json(_ names: ReplicaNames) -> JSONValue { .object(names.json(replica, sequences)) }
}

extension MergeReport.Dropped {
  /// `laptop 5–9 (limit)`.
  package func text(_ names: ReplicaNames) -> String {
    "\(names.text(replica, sequences)) (\(reason.rawValue)\(message.map { ": \($0)" } ?? ""))"
  }

  /// Specs/cli.md, "import".
  package func json(_ names: ReplicaNames) -> JSONValue {
    .object(
      names.json(replica, sequences) + [
        ("reason", .string(reason.rawValue)), ("message", message.map { .string($0) } ?? nil),
      ])
  }
}

extension MergeReport.LeftOut {
  package func text(_ names: ReplicaNames) -> String { names.text(replica, sequences) }

  /// Specs/cli.md, "import".
  package func json(_ names: ReplicaNames) -> JSONValue {
    .object(names.json(replica, sequences) + [("reason", .string(reason.rawValue))])
  }
}
