import GodwitBase
import GodwitReplication
import GodwitStorage

// What is remembered of a table's rows besides the rows.
extension SchemaRebuild {
  /// Row states know columns by number, and the images in them hold values.
  func renumber(_ work: Work) throws {
    guard work.new.definition.isSynced else { return }
    let old = work.old.definition
    let sources = work.new.sources.map { $0.column.flatMap(old.number) }
    try states.renumber(table: work.old.id, sources: sources, brought: { try brought($0, $2, to: $1, from: sources[$1], work) }) {
      key, image, state in
      // An image from before a column was added lacks it.
      let defaults = old.columns.dropFirst(old.keyCount + image.count).map { $0.defaultValue ?? .null }
      let cells = image + defaults
      return try work.new.definition.columns.indices.dropFirst(old.keyCount).map { column in
        let start = sources[column].map { cells[$0 - old.keyCount] } ?? work.new.sources[column].value
        return try cell(column, start, from: sources[column], of: key, &state, work)
      }
    }
  }

  /// A cell of a row that is not shown, as it is now.
  private func cell(
    _ column: Int, _ start: Value, from source: Int?, of key: RowKey, _ state: inout RowState, _ work: Work
  ) throws -> Value {
    let conversions = work.new.sources[column].conversions
    let isAlive = state.isAlive(work.old.definition.deletes)
    if Self.isLacking(start, in: source, work) {
      // It goes on without a value, or with the default that there is now: what waits takes the place of either.
      guard let value = try converter.carry(nil, by: conversions) else { return .null }
      return isAlive && value != .null ? try state.complete(column, with: value, work.rules) : value
    }
    let result = try converter.attempt(conversions, on: start)
    if isAlive, result?.loses != false, let source {
      try LossLog(connection).add(
        start, version: version, table: work.old.definition.name, key: Array(key.key),
        column: work.old.definition.columns[source].name)
    }
    return try result?.value ?? converter.carry(start, by: conversions) ?? .null
  }

  /// Whether a row in limbo lacks the value of a column.
  private static func isLacking(_ value: Value, in source: Int?, _ work: Work) -> Bool {
    guard value == .null, let source else { return false }
    return !work.old.definition.columns[source].isNullable
  }

  /// What a value that a write brought to a column is in the column as it is now; nil when that takes none.
  private func brought(
    _ what: RowStates.Brought, _ value: Value, to number: Int, from source: Int?, _ work: Work
  ) throws -> Value? {
    let column = work.new.definition.columns[number]
    switch what {
    case .contribution: guard column.merge.isContributed else { return nil }
    case .mask: guard column.reference != nil else { return nil }
    }
    let start = Self.isLacking(value, in: source, work) ? nil : value
    return try converter.carry(start, by: work.new.sources[number].conversions) ?? .null
  }
}

extension TableDefinition {
  /// The number of the column of that name.
  func number(of column: String) -> Int? { columns.firstIndex { $0.name.isSameName(as: column) } }
}
