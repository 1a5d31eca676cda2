import GodwitBase
import GodwitCore

extension RowHistory {
  /// Conflicts of one row that an explanation shows; more say nothing more.
  private static let conflictLimit = 1_000

  /// Everything remembered of a row; of its cells one column's alone when that is named.
  package func explain(_ table: MergeTable, key values: [Value], column: Int?) throws -> RowExplanation {
    let definition = table.definition
    let key = RowKey(table: table.number, key: values.encoded[...])
    let shown = try table.rows.values(key.key)
    let conflicts = try ConflictLog(connection, origins: log.origins)
      .list(.init(table: table.number, key: values), limit: Self.conflictLimit)
    guard let state = try fold.state(of: key) ?? (shown == nil ? nil : .stable) else {
      return try unknown(definition, values, conflicts)
    }
    var cells = shown ?? table.completed(state.hiddenCells ?? [])
    if shown != nil { for (column, value) in state.hiddenReferences { cells[column - definition.keyCount] = value } }
    let columns = column.map { $0..<$0 + 1 } ?? definition.keyCount..<definition.columns.count
    let presence: RowExplanation.Presence =
      shown != nil
      ? .shown : state.isAlive(definition.deletes) ? .limbo : state.isInserted ? .deleted : .unknown
    return RowExplanation(
      table: definition.name, key: values, presence: presence, deletes: definition.deletes,
      cells: try columns.map { number in
        let name = definition.columns[number].name
        return try cell(
          number, of: table, state, value: cells[number - definition.keyCount],
          conflicts.filter { $0.columns == [name] && $0.formerColumns.isEmpty })
      },
      touches: try touches(state), isOlder: state.isStable,
      deletions: state.deletes.sorted().map { Authorship($0) },
      reasons: try limboRow(key)?.reasons ?? [],
      conflicts: conflicts.filter { $0.columns.count != 1 || !$0.formerColumns.isEmpty })
  }

  /// Of a row that is neither shown nor remembered.
  private func unknown(
    _ definition: TableDefinition, _ key: [Value], _ conflicts: [Conflict]
  ) throws -> RowExplanation {
    guard !conflicts.isEmpty else {
      throw GodwitError(
        .notFound, "table \(definition.name) has no row with this key, and none is remembered",
        hint: "what every member is known to hold is forgotten, that a row was deleted, too")
    }
    return RowExplanation(
      table: definition.name, key: key, presence: .unknown, deletes: definition.deletes, cells: [], touches: [],
      isOlder: false, deletions: [], reasons: [], conflicts: conflicts)
  }

  private func touches(_ state: RowState) throws -> [RowExplanation.Touch] {
    func touches(_ kind: RowExplanation.Touch.Kind, _ vector: VersionVector) throws -> [RowExplanation.Touch] {
      try vector.origins.map { origin in
        RowExplanation.Touch(
          kind: kind, author: try author(Dot(origin, vector[origin])),
          isDeleted: state.removed[origin] >= vector[origin])
      }
    }
    return try touches(.insert, state.inserts) + touches(.update, state.updates)
  }

  private func cell(
    _ number: Int, of table: MergeTable, _ state: RowState, value: Value, _ conflicts: [Conflict]
  ) throws -> RowExplanation.Cell {
    let policy = table.rules.policy(of: number)
    let parts = try (state.contributions[number] ?? []).ordered().map {
      RowExplanation.Cell.Part(author: try author($0.dot), value: $0.value)
    }
    return RowExplanation.Cell(
      column: table.definition.columns[number].name, value: value, isHidden: state.hiddenReferences[number] != nil,
      rule: RowExplanation.Cell.Rule(policy),
      author: policy.isContributed ? nil : state.stamp(of: number).map { Authorship($0) }, parts: parts,
      conflicts: conflicts)
  }
}

extension RowExplanation.Cell.Rule {
  fileprivate init(_ policy: MergePolicy) {
    switch policy {
    case .lastWriterWins: self = .lastWriterWins
    case .counter: self = .counter
    case .addWinsSet: self = .addWinsSet
    case .maximum: self = .max
    case .minimum: self = .min
    case .custom: self = .custom
    }
  }
}
