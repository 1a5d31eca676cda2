import Godwit

extension LimboRow {
  /// Specs/cli.md, "limbo".
  package func json(_ names: ReplicaNames) -> JSONValue {
    [
      "table": .string(table), "key": .array(key.map { JSONValue($0) }), "shown": .bool(isShown),
      "values": .object(zip(values.columns, values.values).map { ($0, JSONValue($1)) }),
      "hidden": .array(hiddenReferences.map { .string($0) }), "reasons": .array(reasons.map { $0.json(names) }),
    ]
  }
}

extension LimboRow.Reason {
  /// Specs/cli.md, "limbo".
  package func json(_ names: ReplicaNames) -> JSONValue {
    let (name, columns, values, table, key): (String, [String], [Value], String?, [Value]) =
      switch kind {
      case .uniqueValue(let columns, let values, let holder): ("unique", columns, values, nil, holder)
      case .missingParent(let column, let table, let key): ("parent", [column], [key], table, [key])
      case .circle(let column): ("circle", [column], [], nil, [])
      case .constraint: ("constraint", [], [], nil, [])
      }
    return [
      "kind": .string(name), "columns": .array(columns.map { .string($0) }),
      "values": .array(values.map { JSONValue($0) }), "table": table.map { .string($0) } ?? nil,
      "key": key.isEmpty ? nil : .array(key.map { JSONValue($0) }), "author": .object(names.json(author)),
    ]
  }
}

extension LimboRow.Kind {
  /// `email: x is held by a`. It quotes what rows hold.
  package var text: String {
    switch self {
    case .uniqueValue(let columns, let values, let holder):
      "\(columns.joined(separator: ", ")): \(Format.values(values)) is held by \(Format.values(holder))"
    case .missingParent(let column, let table, let key): "\(column): \(table) \(Format.value(key)) is not shown"
    case .circle(let column): "\(column): would close a circle"
    case .constraint: "breaks a constraint of this replica"
    }
  }

  /// The same without what rows hold: `email: another row holds the value`.
  package var outline: String {
    switch self {
    case .uniqueValue(let columns, _, _): "\(columns.joined(separator: ", ")): another row holds the value"
    case .missingParent(let column, let table, _): "\(column): the row of \(table) is not shown"
    case .circle, .constraint: text
    }
  }
}
