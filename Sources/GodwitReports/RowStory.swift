import Godwit

/// A row's explanation as text for people.
package struct RowStory {
  package let row: RowExplanation
  package let names: ReplicaNames

  package init(_ row: RowExplanation, _ names: ReplicaNames) {
    self.row = row
    self.names = names.tellingApart(row.authors.map { ($0.replica, $0.incarnation) })
  }

  package var lines: [String] { head + row.cells.flatMap(lines) }

  private var head: [String] {
    var lines = ["\(row.table) \(Format.values(row.key)) \(presence)"]
    if row.isOlder { lines.append("  written before all that is remembered") }
    for touch in row.touches {
      let fate = touch.isDeleted ? "; deleted since" : row.deletions.isEmpty ? "" : "; no delete had seen it"
      lines.append("  \(touch.kind == .insert ? "inserted" : "updated") by \(names.text(touch.author))\(fate)")
    }
    for author in row.deletions { lines.append("  deleted by \(names.text(author))") }
    for reason in row.reasons { lines.append("  waits: \(reason.kind.text), by \(names.text(reason.author))") }
    return lines + row.conflicts.map { "  \(text($0))" }
  }

  private var presence: String {
    switch row.presence {
    case .shown where row.deletions.isEmpty: "is in its table"
    case .shown: "is in its table: something was written to it that its deletes had not seen"
    case .limbo: "waits in limbo"
    case .unknown: "is not in its table, and of itself nothing is remembered"
    case .deleted where row.deletes == .deleteWins: "is deleted: in this table deletes win"
    case .deleted: "is deleted"
    }
  }

  private func lines(_ cell: RowExplanation.Cell) -> [String] {
    let shown = cell.isHidden ? ", shown as NULL" : ""
    return ["\(cell.column) = \(Format.value(cell.value))\(shown)"] + source(cell).map { "  \($0)" }
      + cell.conflicts.map { "  \(text($0))" }
  }

  private func source(_ cell: RowExplanation.Cell) -> [String] {
    guard cell.rule != .lastWriterWins else { return ["written by \(names.text(cell.author))"] }
    let rule =
      switch cell.rule {
      case .counter: "a sum"
      case .addWinsSet: "a set"
      case .max: "the greatest"
      case .min: "the least"
      case .custom, .lastWriterWins: "merged by the program"
      }
    guard !cell.parts.isEmpty else { return ["\(rule), of writes older than all that is remembered"] }
    return ["\(rule), of what is remembered:"]
      + cell.parts.map { "  \(Format.value($0.value)) by \(names.text($0.author))" }
  }

  /// `won over lost by laptop, transaction 7, … (conflict 12)`.
  private func text(_ conflict: Conflict) -> String {
    switch conflict.kind {
    case .edit where row.presence == .unknown || !conflict.formerColumns.isEmpty:
      let (lost, won) = (Format.values(conflict.losingValues), Format.values(conflict.winningValues))
      let column = conflict.columns.joined(separator: ", ")
      return "\(column): \(lost) by \(names.text(conflict.loser)) lost to \(won) \(number(conflict))"
    case .edit, .delete:
      let what = conflict.kind == .delete ? "a delete" : Format.values(conflict.losingValues)
      let verb = conflict.isResolved ? "won, before that was restored, over" : "won over"
      return
        "\(verb) \(what.isEmpty ? "the row" : what)\(columns(conflict)) by \(names.text(conflict.loser)) \(number(conflict))"
    case .unique, .reference, .constraint:
      // Here it is the row's own write that lost.
      let what = conflict.losingValues.isEmpty ? "the row" : Format.values(conflict.losingValues)
      let winner = conflict.winner.map { " by \(names.text(conflict.loser)) to what \(names.text($0)) wrote" } ?? ""
      let rule =
        conflict.kind == .unique ? "a unique value" : conflict.kind == .reference ? "a reference" : "a constraint"
      return "lost \(what)\(columns(conflict)) over \(rule)\(winner) \(number(conflict))"
    }
  }

  private func columns(_ conflict: Conflict) -> String {
    conflict.columns.count > 1 ? " in \(conflict.columns.joined(separator: ", "))" : ""
  }

  private func number(_ conflict: Conflict) -> String { "(conflict \(conflict.id))" }
}

extension RowExplanation {
  /// Whoever the explanation names.
  fileprivate var authors: [Authorship] {
    touches.map(\.author) + deletions
      + cells.flatMap { [$0.author].compactMap { $0 } + $0.parts.map(\.author) }
      + conflicts.flatMap { [$0.loser, $0.winner].compactMap { $0 } }
  }
}
