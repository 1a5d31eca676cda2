import Godwit
import ToolSupport

/// A replica's status as text and as JSON.
struct StatusView {
  private let path: String
  private let identity: PublicIdentity
  private let group: GroupID
  private let status: Replica.Status
  private let members: [Member]
  private let names: ReplicaNames

  init(replica: Replica, status: Replica.Status, members: [Member]) {
    path = replica.path
    identity = replica.identity
    group = replica.group
    self.status = status
    self.members = members
    names = ReplicaNames(members)
  }

  var lines: [String] {
    var fields = [
      ("replica", "\(names.name(identity.replica)) (\(identity.replica), incarnation \(status.incarnation))"),
      ("group", "\(group)"),
      ("folder", path),
      (
        "size",
        "\(Format.byteSize(status.databaseBytes)), SQLCipher \(status.cipherVersion) on SQLite \(GodwitVersion.sqlite)"
      ),
      ("unsent", Format.count(status.unsent, "transaction")),
      ("waiting", Format.count(status.staged, "transaction")),
    ]
    fields += status.waiting.map { ("", $0.text(names)) }
    if !status.missing.isEmpty {
      fields.append(("missing", status.missing.map { $0.text(names) }.joined(separator: ", ")))
    }
    if let held = status.heldVersion { fields.append(("held", held.text(names))) }
    let pruned = status.prunedConflicts == 0 ? "" : ", and \(status.prunedConflicts) dropped"
    fields.append(("conflicts", "\(status.conflicts)\(pruned)"))
    if status.limbo > 0 { fields.append(("limbo", Format.count(status.limbo, "row"))) }
    if status.alteredAt != nil {
      fields.append(("state", "the tables hold something else than was noted beside the keyring (see: godwit verify)"))
    }
    for fork in status.forks { fields.append(("forked", names.forked(fork))) }
    for remote in status.remotes { fields.append(("remote", remote.text)) }
    for replica in status.differing { fields.append(("state", names.differing(replica))) }
    let lines = fields.map { name, value in
      Format.printable(name + String(repeating: " ", count: 11 - name.count) + value)
    }
    return lines + [""] + memberTable.lines + (status.tables.isEmpty ? [] : [""] + tableTable.lines)
  }

  private var memberTable: TextTable {
    var table = TextTable([("MEMBER", .left), ("STATE", .left), ("HELD", .right)])
    for member in members {
      let state = member.isOwn ? "this replica" : member.isActive ? "active" : "removed"
      table.add([member.name, state, "\(held(member.identity.replica))"])
    }
    return table
  }

  private var tableTable: TextTable {
    var table = TextTable([("TABLE", .left), ("ROWS", .right)])
    for entry in status.tables { table.add([entry.name, "\(entry.rows)"]) }
    return table
  }

  private func held(_ replica: ReplicaID) -> UInt64 {
    status.held.filter { $0.replica == replica }.map(\.sequence).max() ?? 0
  }

  /// Specs/cli.md, "status".
  var json: JSONValue {
    [
      "path": .string(path), "replica": .string("\(identity.replica)"),
      "incarnation": .string("\(status.incarnation)"),
      "name": .string(names.name(identity.replica)), "group": .string("\(group)"),
      "members": .array(members.map(\.json)),
      "tables": .array(status.tables.map { ["table": .string($0.name), "rows": .number($0.rows)] }),
      "held": .array(status.held.map { .object(names.json($0.replica) + [("sequence", .number($0.sequence))]) }),
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
      "remotes": .array(status.remotes.map(\.json)),
      "differing": .array(status.differing.map { .object(names.json($0)) }),
    ]
  }
}
