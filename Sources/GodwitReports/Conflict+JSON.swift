import Godwit

/// The kinds by the names they have on the command line and in JSON.
package enum ConflictKind: String, CaseIterable, Sendable {
  case edit, delete, unique, reference, constraint

  package init(_ kind: Conflict.Kind) {
    switch kind {
    case .edit: self = .edit
    case .delete: self = .delete
    case .unique: self = .unique
    case .reference: self = .reference
    case .constraint: self = .constraint
    }
  }

  package var kind: Conflict.Kind {
    switch self {
    case .edit: .edit
    case .delete: .delete
    case .unique: .unique
    case .reference: .reference
    case .constraint: .constraint
    }
  }
}

extension Conflict {
  /// Specs/cli.md, "conflicts".
  package func json(_ names: ReplicaNames) -> JSONValue {
    func side(_ value: Value, _ values: [Value], _ author: Authorship?) -> JSONValue {
      .object(
        [("value", JSONValue(value)), ("values", .array(values.map { JSONValue($0) }))] + names.json(author))
    }
    return [
      "id": .number(id), "kind": .string(ConflictKind(kind).rawValue), "table": .string(table),
      "key": .array(key.map { JSONValue($0) }), "column": column.map { .string($0) } ?? nil,
      "columns": .array(columns.map { .string($0) }),
      "formerColumns": .array(formerColumns.map { .string($0) }), "lost": side(losingValue, losingValues, loser),
      "won": side(winningValue, winningValues, winner), "resolved": .bool(isResolved),
    ]
  }
}
