import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

extension ConflictLog {
  /// Takes a table's entries of the conflict log along when its columns change (Specs/explaining.md, "Migrations"). The
  /// log is each replica's own, so nothing it holds may keep a migration from running.
  struct Carrier {
    let connection: Connection
    /// The migration.
    let version: UInt64
    private let values: ConflictValues

    init(connection: Connection, version: UInt64) {
      self.connection = connection
      self.version = version
      values = ConflictValues(connection)
    }

    /// What becomes of a column.
    private struct Target {
      let name: String
      let conversions: [Conversion]
    }

    /// Marks a name that is taken: two columns may change names, and none takes its new one before all old ones are
    /// free.
    private static let mark = "\u{2}"

    func carry(_ old: CatalogTable, to new: SchemaDraft.Table) throws {
      let targets = Self.targets(new)
      for text in try columnTexts(of: old) {
        let before = ConflictColumns(text: text)
        var after = before
        var conversions = before.all.map { _ in [Conversion]() }
        for (place, column) in before.all.enumerated() where column.formerSince == nil {
          if let target = targets[column.name] {
            after.all[place].name = target.name
            conversions[place] = target.conversions
          } else {
            after.all[place].formerSince = version
          }
        }
        if !conversions.allSatisfy(\.isEmpty) {
          try convert(before, to: after, conversions, of: old)
        } else if after != before {
          try connection.run(
            "UPDATE godwit_conflict SET column_name = ? WHERE table_id = ? AND column_name = ?",
            [.text(after.text + Self.mark), .integer(Int64(old.id)), .text(text)])
        }
      }
      try connection.run(
        """
        UPDATE OR REPLACE godwit_conflict SET column_name = rtrim(column_name, ?1)
        WHERE table_id = ?2 AND column_name <> rtrim(column_name, ?1)
        """,
        [.text(Self.mark), .integer(Int64(old.id))])
      try values.sweep()
    }

    /// Removes a table's entries; it is dropped.
    func drop(_ table: CatalogTable) throws {
      try connection.run("DELETE FROM godwit_conflict WHERE table_id = ?", [.integer(Int64(table.id))])
      try values.sweep()
    }

    /// By the columns' names before. What is derived from a column stands behind it, and takes its entries when it
    /// goes.
    private static func targets(_ new: SchemaDraft.Table) -> [String: Target] {
      var targets: [String: Target] = [:]
      for (column, source) in zip(new.definition.columns, new.sources) {
        guard let name = source.column, targets[name] == nil else { continue }
        targets[name] = Target(name: column.name, conversions: source.conversions)
      }
      return targets
    }

    private func columnTexts(of table: CatalogTable) throws -> [String] {
      let sql = "SELECT DISTINCT column_name FROM godwit_conflict WHERE table_id = ? AND column_name <> ''"
      return try connection.withStatement(sql) { statement in
        try statement.bind([.integer(Int64(table.id))])
        var texts: [String] = []
        while try statement.step() { texts.append(try statement.text(at: 0)) }
        return texts
      }
    }

    // MARK: Values

    private struct Entry {
      let id: Int64
      let key: [UInt8]
      var losing: [Value]
      var winning: [Value]
    }

    private func convert(
      _ before: ConflictColumns, to after: ConflictColumns, _ conversions: [[Conversion]], of table: CatalogTable
    ) throws {
      for var entry in try entries(before, of: table) {
        var columns = after
        for (place, conversions) in conversions.enumerated() where !conversions.isEmpty {
          if !(try convert(&entry, place, conversions, before.all[place].name, of: table)) {
            columns.all[place] = .init(name: before.all[place].name, formerSince: version)
          }
        }
        // Entries that the rule makes equal become one.
        try connection.run(
          "UPDATE OR REPLACE godwit_conflict SET column_name = ?, value = ?, winning_value = ? WHERE id = ?",
          [
            .text(columns.text + Self.mark), values.column(of: entry.losing), values.column(of: entry.winning),
            .integer(entry.id),
          ])
      }
    }

    /// Converts both values of one column. Returns false, and leaves them, when the losing one has no place in the
    /// column as it is now.
    private func convert(
      _ entry: inout Entry, _ place: Int, _ conversions: [Conversion], _ column: String, of table: CatalogTable
    ) throws -> Bool {
      guard entry.losing.indices.contains(place) else { return true }
      let lost = entry.losing[place]
      let converter = ValueConverter(connection: connection)
      // A rule may never have met such a value in a row.
      let converted = try converter.convert(lost, by: conversions)
      guard !converted.isFallback else { return false }
      entry.losing[place] = converted.value
      if converted.loses {
        try LossLog(connection).add(
          lost, version: version, table: table.definition.name, key: entry.key, column: column)
      }
      // NULL stands for what has no value, too, such as a delete.
      if entry.winning.indices.contains(place), entry.winning[place] != .null {
        entry.winning[place] = try converter.convert(entry.winning[place], by: conversions).value
      }
      return true
    }

    private func entries(_ columns: ConflictColumns, of table: CatalogTable) throws -> [Entry] {
      let sql = "SELECT id, key, value, winning_value FROM godwit_conflict WHERE table_id = ? AND column_name = ?"
      return try connection.withStatement(sql) { statement in
        try statement.bind([.integer(Int64(table.id)), .text(columns.text)])
        var entries: [Entry] = []
        while try statement.step() {
          entries.append(
            Entry(
              id: statement.integer(at: 0), key: statement.blob(at: 1),
              losing: try values.values(in: statement.value(at: 2)),
              winning: try values.values(in: statement.value(at: 3))))
        }
        return entries
      }
    }
  }
}
