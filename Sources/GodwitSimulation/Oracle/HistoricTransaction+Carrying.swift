import Godwit

/// What was written under one schema version in the terms of a later one, by the rules of Specs/migrations.md.
extension HistoricTransaction {
  func carried(to later: Int) -> HistoricTransaction {
    HistoricTransaction(
      dot: dot, hlc: hlc, context: context, version: version,
      operations: operations.map { $0.carried(from: version, to: later) })
  }
}

extension HistoricOperation {
  func carried(from version: Int, to later: Int) -> HistoricOperation {
    guard version < later else { return self }
    let shape = TableShape.all[row.table]
    var kind = kind
    for step in (version + 1)...later { kind = kind.carried(to: step, shape) }
    return HistoricOperation(row: row, kind: kind)
  }

  /// A cell as it is at a later version.
  static func carry(_ value: Value, of column: TableShape.ColumnShape, from version: Int, to later: Int) -> Value {
    column.conversions.filter { version < $0.version && $0.version <= later }.reduce(value) { $1.rule($0) }
  }
}

extension HistoricOperation.Kind {
  /// One version further.
  fileprivate func carried(to version: Int, _ shape: TableShape) -> Self {
    switch self {
    case .insert(let row): .insert(Self.carried(row, to: version, shape))
    case .update(let changes): .update(Self.carried(changes, to: version, shape))
    case .delete: self
    }
  }

  /// The columns that a version makes of others.
  private static func made(in version: Int, _ shape: TableShape) -> [(column: Int, source: TableShape.Source)] {
    shape.columns.enumerated().compactMap { number, column in
      column.versions.lowerBound == version ? column.source.map { (number, $0) } : nil
    }
  }

  /// A column that is not there holds its default.
  private static func carried(_ row: [Value], to version: Int, _ shape: TableShape) -> [Value] {
    var row = row
    for (number, source) in made(in: version, shape) { row[number] = source.rule(row[source.column]) }
    for (number, column) in shape.columns.enumerated() {
      row[number] = HistoricOperation.carry(row[number], of: column, from: version - 1, to: version)
      if column.versions.upperBound == version { row[number] = column.defaultValue }
    }
    return row
  }

  private static func carried(
    _ changes: [Int: HistoricOperation.Change], to version: Int, _ shape: TableShape
  ) -> [Int: HistoricOperation.Change] {
    var changes = changes
    for (number, source) in made(in: version, shape) {
      if case .value(let value)? = changes[source.column] { changes[number] = .value(source.rule(value)) }
    }
    for (number, column) in shape.columns.enumerated() {
      if case .value(let value)? = changes[number] {
        changes[number] = .value(HistoricOperation.carry(value, of: column, from: version - 1, to: version))
      }
      if column.versions.upperBound == version { changes[number] = nil }
    }
    return changes
  }
}
