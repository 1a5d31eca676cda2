import GodwitBase
import GodwitReplication
import GodwitStorage

// What is remembered of a table's rows besides the rows.
extension SchemaRebuild {
  /// Row states know columns by number, and the images in them hold values.
  func renumber(_ work: Work) throws {
    guard work.new.definition.isSynced else { return }
    let old = work.old.definition
    let oldDefaults = old.columns.map { $0.defaultValue ?? .null }
    let sources = work.new.sources.map { $0.column.flatMap(old.number) }
    let lacked = try zip(work.new.sources, sources).map { source, number in
      try number.flatMap { old.columns[$0].isNullable ? nil : try converter.carry(nil, by: source.conversions) }
    }
    let names = work.new.definition.columns.map(\.name)
    defaults[work.new.definition.name] = Dictionary(
      uniqueKeysWithValues: zip(names, lacked).compactMap { name, value in value.map { (name, $0) } })
    try states.renumber(table: work.old.id, sources: sources, brought: { try brought($0, $2, to: $1, work) }) { image, state in
      let isAlive = state.isAlive(old.deletes)
      // An image from before a column was added lacks it.
      let cells = oldDefaults.prefix(old.keyCount) + image + oldDefaults.dropFirst(old.keyCount + image.count)
      return try zip(work.new.sources, zip(sources, lacked)).dropFirst(old.keyCount).map { source, place in
        let start = place.0.map { cells[$0] } ?? source.value
        // A row in limbo that lacks a value goes on without it: it may come yet.
        if start == .null, let number = place.0, !old.columns[number].isNullable { return isAlive ? .null : place.1 ?? .null }
        return try converter.carry(start, by: source.conversions) ?? .null
      }
    }
  }

  /// What a value that a write brought to a column is in the column as it is now; nil when that takes none.
  private func brought(_ what: RowStates.Brought, _ value: Value, to number: Int, _ work: Work) throws -> Value? {
    let column = work.new.definition.columns[number]
    guard column.merge.isContributed == (what == .contribution) else { return nil }
    return try converter.carry(value, by: work.new.sources[number].conversions) ?? .null
  }
}

extension TableDefinition {
  /// The number of the column of that name.
  func number(of column: String) -> Int? { columns.firstIndex { $0.name.isSameName(as: column) } }
}
