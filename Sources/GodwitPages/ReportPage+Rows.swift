import Godwit
import GodwitReports

extension ReportPage {
  var conflicts: [HTML] {
    let dropped = status.prunedConflicts == 0 ? "" : " \(Format.count(status.prunedConflicts, "older one")) dropped."
    guard !picture.conflicts.isEmpty else { return [HTML("p", [:], "None open." + dropped)] }
    let names = names.tellingApart(
      picture.conflicts.flatMap(\.authors))
    let more = status.conflicts - picture.conflicts.count
    let rest = more > 0 ? " The \(picture.conflicts.count) newest follow." : ""
    return [HTML("p", [:], "\(status.conflicts) open.\(rest)\(dropped)")]
      + (options.showsValues
        ? picture.conflicts.map { whole($0, names) } : [outlines(picture.conflicts, names)])
  }

  /// Without what rows hold.
  private func outlines(_ conflicts: [Conflict], _ names: ReplicaNames) -> HTML {
    let rows = conflicts.map { conflict in
      [
        HTML("\(conflict.id)"), HTML(ConflictKind(conflict.kind).rawValue), HTML(conflict.table),
        HTML(columns(conflict)), HTML(names.text(conflict.loser)),
        HTML(names.text(conflict.winner)),
      ]
    }
    return PageTable(
      "Open conflicts",
      [.text("Number"), .text("Kind"), .text("Table"), .text("Columns"), .text("Lost"), .text("Won")], rows
    ).element
  }

  private func whole(_ conflict: Conflict, _ names: ReplicaNames) -> HTML {
    let column = conflict.columns.isEmpty ? "" : ", \(columns(conflict))"
    let kind = ConflictKind(conflict.kind).rawValue
    let (lost, won) = conflict.sides
    return HTML(
      "article", ["class": "conflict", "id": "conflict-\(conflict.id)"],
      [
        HTML("h3", [:], "Conflict \(conflict.id), \(kind): \(conflict.table)\(column)"),
        HTML("p", [:], [HTML("Row "), value(Format.values(conflict.key))]),
        HTML(
          "div", ["class": "sides"],
          [
            HTML(
              "div", [:],
              [HTML("h4", [:], "Lost"), side(lost), HTML("p", ["class": "quiet"], "by " + names.text(conflict.loser))]),
            HTML(
              "div", [:],
              [HTML("h4", [:], "Won"), side(won), HTML("p", ["class": "quiet"], "by " + names.text(conflict.winner))]),
          ]),
      ] + actions(conflict))
  }

  /// What it is about. Names of members in documents are what somebody wrote, as their values are.
  private func columns(_ conflict: Conflict) -> String {
    guard CollectionTable.collection(of: conflict.table) != nil else { return conflict.columns.joined(separator: ", ") }
    guard options.showsValues else { return Format.count(conflict.columns.count, "member") }
    return conflict.columns.map { CollectionTable.member(of: $0)?.name ?? $0 }.joined(separator: ", ")
  }

  private func side(_ side: Conflict.Side) -> HTML {
    switch side {
    case .values(let text): value(text)
    case .words(let text): HTML("p", [:], text)
    }
  }

  private func actions(_ conflict: Conflict) -> [HTML] {
    guard options.isLive else { return [] }
    let about = "of conflict \(conflict.id)"
    return [
      HTML(
        "p", ["class": "actions"],
        [
          HTML(
            "button", ["type": "button", "data-restore": "\(conflict.id)", "aria-label": "Restore what lost \(about)"],
            "Restore what lost"), HTML(" "),
          HTML(
            "button", ["type": "button", "data-why": "\(conflict.id)", "aria-label": "Why, row \(about)"],
            "Why is the row so?"),
        ])
    ]
  }

  var limbo: [HTML] {
    guard !picture.limbo.isEmpty else { return [HTML("p", [:], "No row is held back.")] }
    let rows = picture.limbo.flatMap { row in
      row.reasons.map { reason in
        [HTML(row.table)] + (options.showsValues ? [value(Format.values(row.key))] : []) + [
          options.showsValues ? value(reason.kind.text) : HTML(reason.kind.outline),
          HTML(row.isShown ? "yes, with NULL" : "no"), HTML(names.text(reason.author)),
        ]
      }
    }
    let more = status.limbo - picture.limbo.count
    return [
      HTML(
        "p", [:], "\(Format.count(status.limbo, "row"))\(more > 0 ? ", of which \(picture.limbo.count) follow" : "")."),
      PageTable(
        "Rows that are held back, and why",
        [.text("Table")] + (options.showsValues ? [.text("Key")] : []) + [
          .text("Why"), .text("Shown"), .text("Written by"),
        ], rows
      ).element,
    ]
  }

  /// How many of Unicode's characters of a value are shown: one that is drawn may have any number of them.
  private static let valueLimit = 10_000

  /// What a row holds, cut where it is too long.
  private func value(_ text: String) -> HTML {
    let shown = text.unicodeScalars.prefix(Self.valueLimit)
    guard shown.endIndex < text.endIndex else { return .preformatted(["class": "value"], text) }
    return HTML([
      .preformatted(["class": "value"], String(shown)),
      HTML("p", ["class": "quiet"], "… \(text.unicodeScalars.count) characters in all"),
    ])
  }
}
