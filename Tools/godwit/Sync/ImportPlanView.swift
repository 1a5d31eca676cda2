import Godwit
import ToolSupport

/// What an import would do, as text and as JSON.
struct ImportPlanView {
  private let file: String
  private let plan: ImportPlan
  private let names: ReplicaNames
  private let replica: Replica

  init(_ file: String, _ plan: ImportPlan, _ names: ReplicaNames, on replica: Replica) {
    self.file = file
    self.plan = plan
    self.names = names
    self.replica = replica
  }

  /// The import's own line, then a line for each table, conflict and row in limbo.
  var lines: [String] {
    var lines = plan.state.map { "  \(text($0))" }
    lines += plan.changes.map { "  would write     \($0.text)" }
    lines += plan.conflicts.map { "  would conflict  \(text($0))" }
    for row in plan.limbo {
      lines += row.reasons.map { "  would hold      \(row.table) \(Format.values(row.key)), \($0.kind.text)" }
    }
    let conflictsLeft = plan.report.attention.conflicts - plan.conflicts.count
    let rowsLeft = plan.limboCount - plan.limbo.count
    if conflictsLeft > 0 { lines.append("  and \(Format.count(conflictsLeft, "more conflict"))") }
    if rowsLeft > 0 { lines.append("  and \(Format.count(rowsLeft, "more row")) to hold") }
    return ["planned, not applied: \(plan.report.text(file, names))"] + lines.map(Format.printable)
  }

  /// `would replace   note: 5 rows by 3`.
  private func text(_ state: ImportPlan.TableState) -> String {
    guard state.rowsBefore > 0 else { return "would bring     \(state.table): \(Format.count(state.rows, "row"))" }
    return "would replace   \(state.table): \(Format.count(state.rowsBefore, "row")) by \(state.rows)"
  }

  /// `note k title: x by laptop, transaction 7, … would lose to y`.
  private func text(_ conflict: Conflict) -> String {
    let row = "\(conflict.table) \(Format.values(conflict.key))"
    let loser = names.text(conflict.loser)
    guard !conflict.columns.isEmpty else {
      let what = conflict.kind == .delete ? "the delete" : "the row"
      return "\(row): \(what) by \(loser) would lose"
    }
    let columns = conflict.columns.joined(separator: ", ")
    let (lost, won) = (Format.values(conflict.losingValues), Format.values(conflict.winningValues))
    return "\(row) \(columns): \(lost) by \(loser) would lose to \(won)"
  }

  private func json(_ state: ImportPlan.TableState) -> JSONValue {
    ["table": .string(state.table), "before": .number(state.rowsBefore), "rows": .number(state.rows)]
  }

  /// Specs/cli.md, "import --plan".
  var json: JSONValue {
    .object(
      plan.report.fields(file, names, on: replica) + [
        ("planned", .bool(true)), ("state", .array(plan.state.map(json))),
        ("changes", .array(plan.changes.map(\.json))),
        ("conflictEntries", .array(plan.conflicts.map { $0.json(names) })), ("limbo", .number(plan.limboCount)),
        ("limboEntries", .array(plan.limbo.map { $0.json(names) })),
      ])
  }
}
