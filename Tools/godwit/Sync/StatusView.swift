import Godwit
import ToolSupport

/// A replica's status as text.
struct StatusView {
  private let report: StatusReport

  init(_ report: StatusReport) { self.report = report }

  private var identity: PublicIdentity { report.identity }
  private var status: Replica.Status { report.status }
  private var names: ReplicaNames { report.names }

  var lines: [String] {
    var fields = [
      ("replica", "\(names.name(identity.replica)) (\(identity.replica), incarnation \(status.incarnation))"),
      ("group", "\(report.group)"),
      ("folder", report.path),
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
    for replica in status.copied { fields.append(("copied", names.copied(replica))) }
    for remote in status.remotes { fields.append(("remote", remote.text)) }
    for replica in status.differing { fields.append(("state", names.differing(replica))) }
    let lines = fields.map { name, value in
      Format.printable(name + String(repeating: " ", count: 11 - name.count) + value)
    }
    return lines + [""] + memberTable.lines + (status.tables.isEmpty ? [] : [""] + tableTable.lines)
  }

  private var memberTable: TextTable {
    var table = TextTable([("MEMBER", .left), ("STATE", .left), ("APPLIED", .right)])
    for member in report.members {
      let state = member.isOwn ? "this replica" : member.isActive ? "active" : "removed"
      table.add([member.name, state, "\(applied(member.identity.replica))"])
    }
    return table
  }

  private var tableTable: TextTable {
    var table = TextTable([("TABLE", .left), ("ROWS", .right)])
    for entry in status.tables { table.add([entry.name, "\(entry.rows)"]) }
    return table
  }

  private func applied(_ replica: ReplicaID) -> UInt64 {
    status.applied.filter { $0.replica == replica }.map(\.sequence).max() ?? 0
  }
}
