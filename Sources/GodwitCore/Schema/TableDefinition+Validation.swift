import GodwitBase

extension TableDefinition {
  /// What a collection may have; other tables have at most as many columns as SQLite binds values to a statement.
  package static let columnLimit = CollectionTable.ownColumnCount + CollectionTable.heldMemberLimit
  private static let declaredColumnLimit = 999
  package static let indexLimit = 64
  /// The columns of an index. SQLite's planner weighs each against each.
  package static let indexColumnLimit = 16
  /// The columns of all indexes of a table: every value is written once for each.
  package static let indexedColumnLimit = 128
  /// All defaults of a table together: every row that does not say otherwise has them, so that few bytes of a file
  /// become as many as there are rows.
  package static let defaultByteLimit = 1_024
  package static let nameByteLimit = SchemaName.byteLimit

  func validate() throws {
    try SchemaName.checkTable(name)
    guard !name.lowercased().hasPrefix("godwit_"), !name.lowercased().hasPrefix("sqlite_") else {
      throw GodwitError(.invalidSchema, "table name \(name) is reserved", hint: "choose another name")
    }
    guard !name.lowercased().hasPrefix("index_") else {
      throw GodwitError(.invalidSchema, "table name \(name) is kept for indexes", hint: "choose another name")
    }
    guard !isCollection || CollectionTable.isWellFormed(self) else {
      throw GodwitError(
        .invalidSchema, "table name \(name) is kept for a collection of documents", hint: "choose another name")
    }
    let limit = isCollection ? Self.columnLimit : Self.declaredColumnLimit
    guard (1...limit).contains(columns.count) else {
      throw GodwitError(.invalidSchema, "table \(name) has \(columns.count) columns; 1 to \(limit) are allowed")
    }
    guard (1...columns.count).contains(keyCount) else {
      throw GodwitError(.invalidSchema, "table \(name) has no primary key")
    }
    var seen: Set<String> = []
    var defaultByteCount = 0
    for column in columns {
      try SchemaName.checkColumn(column.name, of: name)
      guard seen.insert(column.name.lowercased()).inserted else {
        throw GodwitError(.invalidSchema, "table \(name) names column \(column.name) twice")
      }
      defaultByteCount += column.defaultValue?.byteCount ?? 0
      guard defaultByteCount <= Self.defaultByteLimit else {
        throw GodwitError(
          .invalidSchema, "the defaults of table \(name), up to column \(column.name), have \(defaultByteCount) bytes",
          hint: "\(Self.defaultByteLimit) are allowed; make the column optional")
      }
      if let reference = column.reference { try SchemaName.checkTable(reference.table) }
      try validateForm(of: column, isKey: seen.count <= keyCount)
      try validateMerge(column)
      if let check = column.check {
        try column.requireExpression(check, "the check of column \(column.name) of table \(name)", .invalidSchema)
      }
    }
    for column in columns.prefix(keyCount) where column.merge != .lastWriterWins {
      throw GodwitError(.invalidSchema, "key column \(column.name) of table \(name) has a merge policy")
    }
    for column in columns.prefix(keyCount) where column.isNullable {
      throw GodwitError(.invalidSchema, "key column \(column.name) of table \(name) is nullable")
    }
    if numbersKeys { try validateNumbering() }
    try validateIndexes()
  }

  private func validateIndexes() throws {
    guard indexes.count <= Self.indexLimit, indexes.reduce(0, { $0 + $1.columns.count }) <= Self.indexedColumnLimit
    else {
      throw GodwitError(
        .invalidSchema,
        "table \(name) has more than \(Self.indexLimit) indexes, or more than \(Self.indexedColumnLimit) columns in them"
      )
    }
    // SQLite takes a name that it does not find for a text, and finds those of the same bytes, A to Z aside.
    let names = Set(columns.map { Self.sqliteName($0.name) })
    var seen: Set<[String]> = []
    for index in indexes {
      let columns = index.columns.map { $0.lowercased() }
      guard !columns.isEmpty, index.columns.allSatisfy({ names.contains(Self.sqliteName($0)) }) else {
        throw GodwitError(.invalidSchema, "an index of table \(name) names a column that is not there")
      }
      guard Set(columns).count == columns.count, columns.count <= Self.indexColumnLimit else {
        throw GodwitError(
          .invalidSchema,
          "an index of table \(name) names a column twice, or more than \(Self.indexColumnLimit) columns")
      }
      guard seen.insert(columns).inserted else {
        throw GodwitError(
          .invalidSchema, "table \(name) has two indexes over \(index.columns.joined(separator: ", "))",
          hint: "declare one; a unique index serves queries, too")
      }
    }
  }

  /// What SQLite compares a name by.
  private static func sqliteName(_ name: String) -> [UInt8] {
    name.utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 }
  }

  /// Rows that were written without the column hold its default as the column keeps it; their hash is of the default as
  /// it stands here.
  private func validateForm(of column: ColumnDefinition, isKey: Bool) throws {
    guard let value = column.defaultValue, value.stored(as: column.type, isKey: isKey) != value else { return }
    throw GodwitError(
      .invalidSchema, "column \(column.name) of table \(name) is \(column.type) and keeps its default in another form",
      hint: "give a default of the column's own type")
  }

  private func validateMerge(_ column: ColumnDefinition) throws {
    func refuse(_ what: String, _ hint: String) -> GodwitError {
      GodwitError(.invalidSchema, "column \(column.name) of table \(name) \(what)", hint: hint)
    }
    if column.reference?.isAcyclic == true,
      !column.isNullable || column.reference?.table.lowercased() != name.lowercased()
    {
      throw refuse("is an acyclic reference that is not optional or not to its own table", "make the property optional")
    }
    switch column.merge {
    case .counter where column.type != .integer || column.isNullable:
      throw refuse("counts and is not an integer that is always there", "make the property an Int")
    case .addWinsSet where column.type != .text || column.isNullable:
      throw refuse("is a set and not text that is always there", "make the property a Set")
    case .counter where !column.defaultCounts:
      throw refuse("counts, and its default is no integer", "give it a whole number, or none")
    case .addWinsSet where column.defaultValue.map({ $0 == .null || !SetElements.isCanonical($0) }) ?? false:
      throw refuse(
        "is a set, and its default is not the text of one",
        "write a JSON array without spaces, its elements distinct and in order, such as [\"a\",\"b\"]")
    case .custom(let function): try SchemaName.check(function, "merge function")
    default: break
    }
    let isUnique = indexes.contains {
      $0.isUnique && $0.columns.contains { $0.lowercased() == column.name.lowercased() }
    }
    if column.merge != .lastWriterWins, isUnique || column.reference != nil {
      throw refuse(
        "is unique or a reference, and merged by another rule than the last write",
        "a claim and a reference are one write's; leave out merge:")
    }
  }

  private func validateNumbering() throws {
    guard !isSynced else {
      throw GodwitError(
        .invalidSchema, "table \(name) numbers its rows and cannot be synced: two replicas would give the same number",
        hint: "declare it with sync: .local, or give its model a RecordID")
    }
    guard keyCount == 1, columns[0].type == .integer else {
      throw GodwitError(
        .invalidSchema, "table \(name) numbers its rows, but its key is not one integer",
        hint: "give the model an id of type Int64 or Int")
    }
  }
}

extension ColumnDefinition {
  /// What it holds in a row that was written without it: of a count or a set without a default, none.
  package var beginning: Value {
    switch merge {
    case .counter: defaultValue ?? .integer(0)
    case .addWinsSet: defaultValue ?? SetElements.value(of: [])
    default: defaultValue ?? .null
    }
  }

  /// Whether the default, if there is one, is a count.
  fileprivate var defaultCounts: Bool {
    switch defaultValue {
    case nil, .integer: true
    default: false
    }
  }
}
