import GodwitBase
import GodwitCore
import GodwitStorage

extension ConflictLog {
  /// Which entries are wanted; all of them where nothing is said.
  package struct Filter {
    var id: Conflict.ID?
    /// Only those with a greater number.
    var after: Conflict.ID?
    var table: Int?
    var key: [Value]?
    var kind: Conflict.Kind?
    /// When the later of the two writes was written.
    var since: HLC?
    /// Whether those that are resolved are left out.
    var isOpen: Bool

    package init(
      id: Conflict.ID? = nil, after: Conflict.ID? = nil, table: Int? = nil, key: [Value]? = nil,
      kind: Conflict.Kind? = nil, since: HLC? = nil, isOpen: Bool = false
    ) {
      self.id = id
      self.after = after
      self.table = table
      self.key = key
      self.kind = kind
      self.since = since
      self.isOpen = isOpen
    }

    fileprivate var conditions: [(sql: String, value: Value)] {
      [
        id.map { ("id = ?", .integer($0.number)) },
        after.map { ("id > ?", .integer($0.number)) },
        table.map { ("table_id = ?", .integer(Int64($0))) },
        key.map { ("key = ?", .blob($0.encoded)) }, kind.map { ("kind = ?", .integer(Int64($0.rawValue))) },
        isOpen ? ("resolved = ?", .integer(0)) : nil,
        since.map { ("max(loser_hlc, winner_hlc) >= ?", .integer(Int64(clamping: $0.rawValue))) },
      ].compactMap { $0 }
    }
  }

  /// The entries, newest first.
  package func list(_ filter: Filter = Filter(), limit: Int) throws -> [Conflict] {
    let conditions = filter.conditions
    let sql = """
      SELECT id, kind, table_id, key, column_name, value, winning_value, resolved,
        loser_hlc, loser_origin, loser_sequence, winner_hlc, winner_origin, winner_sequence
      FROM godwit_conflict WHERE \((["1"] + conditions.map(\.sql)).joined(separator: " AND ")) ORDER BY id DESC LIMIT ?
      """
    let tables = try StoredTables(connection).names()
    return try connection.withStatement(sql) { statement in
      try statement.bind(conditions.map(\.value) + [.integer(Int64(limit))])
      var conflicts: [Conflict] = []
      while try statement.step() { conflicts.append(try conflict(statement, tables)) }
      return conflicts
    }
  }

  private func conflict(_ statement: Statement, _ tables: [Int: String]) throws -> Conflict {
    guard let table = tables[Int(statement.integer(at: 2))] else {
      throw GodwitError(.damagedLog, "the conflict log names a table that is gone")
    }
    let columns = ConflictColumns(text: try statement.text(at: 4))
    func values(at index: Int32) throws -> [Value] {
      columns.all.isEmpty ? [] : try self.values.values(in: statement.value(at: index))
    }
    return Conflict(
      id: Conflict.ID(statement.integer(at: 0)), kind: Conflict.Kind(rawValue: Int(statement.integer(at: 1))) ?? .edit,
      table: table, key: try [Value](encoded: statement.blob(at: 3)), columns: columns.names,
      formerColumns: columns.all.filter { $0.formerSince != nil }.map(\.name),
      losingValues: try values(at: 5), winningValues: try values(at: 6), loser: try author(statement, at: 8),
      winner: try author(statement, at: 11), isResolved: statement.integer(at: 7) != 0)
  }

  private func author(_ statement: Statement, at index: Int32) throws -> Authorship? {
    let number = Int(statement.integer(at: index + 1))
    guard number != 0 else { return nil }
    let sequence = SequenceNumber(rawValue: UInt64(bitPattern: statement.integer(at: index + 2)))
    let hlc = HLC(rawValue: UInt64(bitPattern: statement.integer(at: index)))
    return Authorship(Dot(try origins.origin(numbered: number), sequence), hlc)
  }
}
