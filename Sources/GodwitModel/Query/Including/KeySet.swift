import GodwitBase

/// The keys of the rows that a query found: as the query itself, or, when it has a limit, one by one in portions, since
/// then another run might choose others among equals.
struct KeySet<Key: ColumnValue & Hashable> {
  private let keys: [Key]
  private let subquery: [SQLPart]?
  private static var portion: Int { 500 }

  init(_ statement: SelectStatement, _ keys: [Key]) {
    self.keys = keys
    // Of a group, too, another run might choose another row.
    let isFixed = statement.limit == nil && statement.offset == nil && statement.groups.isEmpty
    subquery = isFixed ? statement.parts : nil
  }

  /// One condition for each statement that is needed.
  func conditions(on column: SQLPart) -> [SQLExpression<Bool>] {
    if keys.isEmpty { return [] }
    if let subquery {
      return [SQLExpression([column, .text(" IN ("), .subquery(subquery), .text(")")], .comparison)]
    }
    var seen: Set<StoredKey<Key>> = []
    let unique = keys.filter { seen.insert(StoredKey($0)).inserted }
    return stride(from: 0, to: unique.count, by: Self.portion).map { start in
      SQLExpression<Key>([column]).isIn(unique[start..<min(start + Self.portion, unique.count)])
    }
  }
}

extension Fields {
  /// The row's number, by the first of SQLite's three names for it that is no column's
  /// (sqlite.org/lang_createtable.html, "ROWIDs and the INTEGER PRIMARY KEY").
  static var rowNumber: SQLPart {
    let (table, columns) = (Root.schema.table, Set(Root.schema.columns.map { $0.name.lowercased() }))
    guard let name = ["_rowid_", "rowid", "oid"].first(where: { !columns.contains($0) }) else {
      return .failure(
        GodwitError(
          .notInSchema, "table \(table) has columns for all of SQLite's names of a row's number",
          hint: "call one of rowid, oid and _rowid_ otherwise"))
    }
    return .column(table: table, name: name)
  }

  /// The key's column.
  var key: SQLPart {
    let schema = Root.schema
    guard schema.keyCount == 1 else {
      return .failure(
        GodwitError(
          .notInSchema, "table \(schema.table) has a key of several columns, which no property of another model holds",
          hint: "join on the columns instead"))
    }
    return .column(table: name, name: schema.columns[0].name)
  }
}

extension SelectStatement {
  func selectingColumn(_ column: SQLPart) -> Self {
    var copy = self
    copy.columns = [[column]]
    if limit == nil, offset == nil { copy.orders = [] }
    return copy
  }
}
