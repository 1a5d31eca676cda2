import GodwitBase
import GodwitCore
import GodwitStorage

extension ConflictLog {
  /// Which entries are wanted; all of them where nothing is said.
  struct Filter {
    var id: Int64?
    /// Only those with a greater number.
    var after: Int64?
    var table: Int?
    var key: [Value]?
    var kind: Conflict.Kind?
    /// When the later of the two writes was written.
    var since: HLC?

    fileprivate var conditions: [(sql: String, value: Value)] {
      [
        id.map { ("c.id = ?", .integer($0)) }, after.map { ("c.id > ?", .integer($0)) },
        table.map { ("c.table_id = ?", .integer(Int64($0))) },
        key.map { ("c.key = ?", .blob($0.encoded)) }, kind.map { ("c.kind = ?", .integer(Int64($0.rawValue))) },
        since.map { ("max(c.loser_hlc, c.winner_hlc) >= ?", .integer(Int64($0.rawValue))) },
      ].compactMap { $0 }
    }
  }

  /// The entries, newest first.
  func list(_ filter: Filter = Filter(), limit: Int) throws -> [Conflict] {
    let conditions = filter.conditions
    let sql = """
      SELECT c.id, c.kind, t.name, c.key, c.column_name, c.value, c.winning_value, c.resolved,
        c.loser_hlc, c.loser_origin, c.loser_sequence, c.winner_hlc, c.winner_origin, c.winner_sequence
      FROM godwit_conflict c JOIN godwit_table t ON t.id = c.table_id
      WHERE \((["1"] + conditions.map(\.sql)).joined(separator: " AND ")) ORDER BY c.id DESC LIMIT ?
      """
    return try connection.withStatement(sql) { statement in
      try statement.bind(conditions.map(\.value) + [.integer(Int64(limit))])
      var conflicts: [Conflict] = []
      while try statement.step() { conflicts.append(try conflict(statement)) }
      return conflicts
    }
  }

  private func conflict(_ statement: Statement) throws -> Conflict {
    let columns = ConflictColumns(text: try statement.text(at: 4))
    func values(at index: Int32) throws -> [Value] {
      columns.all.isEmpty ? [] : try self.values.values(in: statement.value(at: index))
    }
    return Conflict(
      id: statement.integer(at: 0), kind: Conflict.Kind(rawValue: Int(statement.integer(at: 1))) ?? .edit,
      table: try statement.text(at: 2), key: try [Value](encoded: statement.blob(at: 3)), columns: columns.names,
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
