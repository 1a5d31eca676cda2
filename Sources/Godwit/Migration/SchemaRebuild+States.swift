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
    try states.renumber(table: work.old.id, sources: sources, contribution: { try contribution($1, to: $0, work) }) { image in
      // An image from before a column was added lacks it.
      let cells = oldDefaults.prefix(old.keyCount) + image + oldDefaults.dropFirst(old.keyCount + image.count)
      let columns = zip(work.new.definition.columns, work.new.sources).dropFirst(old.keyCount)
      return try columns.map { column, source in
        let start = source.column.flatMap(old.number).map { cells[$0] } ?? source.value
        return try converter.apply(source.conversions, to: start).value ?? column.defaultValue ?? .null
      }
    }
  }

  /// What a value that a write brought to a column is in the column as it is now; nil when that takes none.
  private func contribution(_ value: Value, to number: Int, _ work: Work) throws -> Value? {
    let column = work.new.definition.columns[number]
    guard column.merge.isContributed else { return nil }
    return try converter.apply(work.new.sources[number].conversions, to: value).value ?? column.defaultValue ?? .null
  }

  /// Losing values follow their column; those of a dropped one keep its name.
  func renameConflicts(_ work: Work) throws {
    for (column, source) in zip(work.new.definition.columns, work.new.sources) {
      guard let name = source.column, name != column.name || !source.conversions.isEmpty else { continue }
      // A column derived from one that stays is not where its conflicts go.
      let isCopy =
        work.new.sources.filter { $0.column == name }.count > 1 && work.new.definition.number(of: name) != nil
      if isCopy, name != column.name { continue }
      let table = Value.integer(Int64(work.old.id))
      let rows = try connection.withStatement(
        "SELECT id, value FROM godwit_conflict WHERE table_id = ? AND column_name = ?"
      ) { statement in
        try statement.bind([table, .text(name)])
        var rows: [(Int64, [UInt8])] = []
        while try statement.step() { rows.append((statement.integer(at: 0), statement.blob(at: 1))) }
        return rows
      }
      for (id, bytes) in rows {
        var reader = ByteReader(bytes)
        let value = try reader.value()
        var writer = ByteWriter()
        writer.value(try converter.apply(source.conversions, to: value).value ?? value)
        try connection.run(
          "UPDATE godwit_conflict SET column_name = ?, value = ? WHERE id = ?",
          [.text(column.name + "\u{1}"), .blob(writer.bytes), .integer(id)])
      }
    }
    // Two columns may change names; the mark keeps a value from following both.
    try connection.run(
      "UPDATE godwit_conflict SET column_name = rtrim(column_name, char(1)) WHERE table_id = ?",
      [.integer(Int64(work.old.id))])
  }
}

extension TableDefinition {
  /// The number of the column of that name.
  func number(of column: String) -> Int? { columns.firstIndex { $0.name.isSameName(as: column) } }
}
