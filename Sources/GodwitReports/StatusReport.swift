import Godwit

/// Where a replica stands, as JSON.
package struct StatusReport: Sendable {
  package let path: String
  package let identity: PublicIdentity
  package let group: GroupID
  package let status: Replica.Status
  package let members: [Member]
  package let names: ReplicaNames

  package init(replica: Replica, status: Replica.Status, members: [Member]) {
    path = replica.path
    identity = replica.identity
    group = replica.group
    self.status = status
    self.members = members
    names = ReplicaNames(members)
  }

  /// Specs/cli.md, "status".
  package var json: JSONValue {
    [
      "path": .string(path), "replica": .string("\(identity.replica)"),
      "incarnation": .string("\(status.incarnation)"),
      "name": .string(names.name(identity.replica)), "group": .string("\(group)"),
      "members": .array(members.map(\.json)),
      "tables": .array(status.tables.map { ["table": .string($0.name), "rows": .number($0.rows)] }),
      "applied": .array(status.applied.map { .object(names.json($0.replica) + [("sequence", .number($0.sequence))]) }),
      "unsent": .number(status.unsent), "waiting": .number(status.staged),
      "waitingOf": .array(status.waiting.map { .object($0.fields(names)) }),
      "missing": .array(status.missing.map { $0.json(names) }), "conflicts": .number(status.conflicts),
      "schemaVersion": .number(status.schemaVersion), "heldVersion": status.heldVersion?.json(names) ?? .null,
      "prunedConflicts": .number(status.prunedConflicts), "limbo": .number(status.limbo),
      "databaseBytes": .number(status.databaseBytes), "cipherVersion": .string(status.cipherVersion),
      "sqliteVersion": .string(GodwitVersion.sqlite),
      "altered": status.alteredAt.map { .string(Format.time($0)) } ?? .null,
      "forks": .array(
        status.forks.map { fork in
          .object(
            names.json(fork.replica) + [
              ("sequence", .number(fork.sequence)), ("shownBy", .object(names.json(fork.shownBy))),
            ])
        }),
      "copied": .array(status.copied.map { .object(names.json($0)) }),
      "remotes": .array(status.remotes.map(\.json)),
      "differing": .array(status.differing.map { .object(names.json($0)) }),
    ]
  }
}
