import GodwitBase
import GodwitModel
import GodwitReplication
import GodwitStorage

/// Runs the conversions of migrations on single values.
struct ValueConverter {
  let connection: Connection

  /// What the conversions make of a value, one after another; nil when one gives NULL where its column takes none. Says
  /// whether the outcome no longer tells which value it was.
  func apply(_ conversions: [Conversion], to value: Value) throws -> (value: Value?, loses: Bool) {
    var value = value
    var loses = false
    for conversion in conversions {
      loses = loses || conversion.loses(value)
      guard let converted = try conversion.apply(value, evaluate: evaluate) else { return (nil, loses) }
      value = converted
    }
    return (value, loses)
  }

  /// What a row holds after the conversions whose value was this one; nil stands for a row that lacks a value. Where a
  /// conversion has nothing for the value, the row lacks one until a column has a default or takes NULL. Nil when it still
  /// does in the end.
  func carry(_ value: Value?, by conversions: [Conversion]) throws -> Value? {
    try conversions.reduce(value) { value, conversion in
      let empty = conversion.fallback ?? (conversion.isNullable ? .null : nil)
      guard let value else { return empty }
      return try attempt([conversion], on: value)?.value ?? empty
    }
  }

  /// The same as ``apply(_:to:)``, also where an expression fails: nil then.
  func attempt(_ conversions: [Conversion], on value: Value) throws -> (value: Value, loses: Bool)? {
    do {
      let (converted, loses) = try apply(conversions, to: value)
      return converted.map { ($0, loses) }
    } catch let error as GodwitError where error.code == .sql || error.code == .constraint {
      return nil
    }
  }

  /// The value stands for itself, without a column's affinity, so that it is the same wherever it comes from.
  private func evaluate(_ expression: String, _ name: String, _ value: Value) throws -> Value {
    let sql = "SELECT (\(expression)) FROM (SELECT ?1 AS \(SQLName.quoted(name)))"
    return try connection.withStatement(sql, authority: .user) { statement in
      try statement.bind(value, at: 1)
      return try statement.step() ? statement.value(at: 0) : .null
    }
  }

  /// What gives another value on another day, replica or version of SQLite.
  private static func changingPart(of expression: String) -> String? {
    let text = expression.lowercased()
    let patterns: [Regex<Substring>] = [
      /\b(?:random|randomblob|changes|total_changes|last_insert_rowid|sqlite_version|sqlite_source_id)\s*\(/,
      /\b(?:current_time|current_date|current_timestamp)\b/,
      /'(?:now|localtime|utc)'/,
      /\b(?:date|time|datetime|julianday)\s*\(\s*\)/,
      /\bstrftime\s*\(\s*'[^']*'\s*\)/,
    ]
    return patterns.lazy.compactMap { text.firstMatch(of: $0) }.first.map { String($0.0) }
  }

  /// Compiles the expression of a step that has one: it may be another replica's.
  static func check(_ step: SchemaStep, on connection: Connection) throws {
    switch step {
    case .addColumn(_, _, let derivation?):
      if case .expression(let text) = derivation.rule { try check(text, over: derivation.column, on: connection) }
    case .changeColumn(let column, _, .expression(let text)): try check(text, over: column.name, on: connection)
    default: break
    }
  }

  /// Compiles an expression as a check is compiled: over its own column, without subqueries, and the
  /// same every time.
  static func check(_ expression: String, over name: String, on connection: Connection) throws {
    if let part = changingPart(of: expression) {
      throw GodwitError(
        .invalidMigration, "the expression over \(name) uses \(part), which is not the same on every replica",
        hint: "nothing was altered; use what gives the same for the same value")
    }
    do {
      let column = ColumnDefinition(
        name: name, type: .any, isNullable: true, check: "(\(expression)) IS NOT NULL")
      let key = ColumnDefinition(name: name == "id" ? "key" : "id", type: .integer, isNullable: false)
      let table = try TableDefinition(name: "conversion", keyCount: 1, columns: [key, column])
      try CheckTrial.run(column, of: table, on: connection)
    } catch let error as GodwitError {
      throw GodwitError(
        .invalidMigration, "an expression over column \(name) does not compile",
        hint: "nothing was altered; write SQL over the column's own name", underlying: error)
    }
  }
}
