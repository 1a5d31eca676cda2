import Godwit

extension RowStory {
  /// Specs/cli.md, "why".
  package var json: JSONValue {
    [
      "table": .string(row.table), "key": .array(row.key.map { JSONValue($0) }),
      "presence": .string(row.presence.rawValue), "deletesWin": .bool(row.deletes == .deleteWins),
      "older": .bool(row.isOlder),
      "touches": .array(
        row.touches.map { touch in
          .object(
            [("kind", .string(touch.kind.rawValue)), ("deleted", .bool(touch.isDeleted))] + names.json(touch.author))
        }),
      "deletions": .array(row.deletions.map { .object(names.json($0)) }),
      "reasons": .array(row.reasons.map { $0.json(names) }),
      "conflicts": .array(row.conflicts.map { $0.json(names) }),
      "cells": .array(row.cells.map(json)),
    ]
  }

  private func json(_ cell: RowExplanation.Cell) -> JSONValue {
    [
      "column": .string(cell.column), "value": JSONValue(cell.value), "hidden": .bool(cell.isHidden),
      "rule": .string(cell.rule.rawValue), "author": cell.author.map { .object(names.json($0)) } ?? nil,
      "parts": .array(cell.parts.map { .object([("value", JSONValue($0.value))] + names.json($0.author)) }),
      "conflicts": .array(cell.conflicts.map { $0.json(names) }),
    ]
  }
}
