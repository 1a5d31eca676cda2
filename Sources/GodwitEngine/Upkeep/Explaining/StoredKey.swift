import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// A key as somebody asks for it, made what the row's key is: a column with an affinity converts what is written to it,
/// and the database finds a row by values that its history does not know it by.
package struct StoredKey {
  package let values: [Value]

  /// As many values as the key has columns; others are no row's key and stay as they are.
  package init(_ asked: [Value], of definition: TableDefinition, on connection: Connection) throws {
    guard asked.count == definition.keyCount else {
      values = asked
      return
    }
    let key = try zip(definition.columns, asked).map { column, value in
      try Self.converted(value, to: column.type, on: connection)
    }
    let name = SQLName.quoted(definition.name)
    let sql = "SELECT \(definition.quotedKeyList) FROM \(name) WHERE \(definition.keyCondition)"
    // A column without affinity holds 1 and 1.0 for one key, and keeps either.
    values = try connection.withStatement(sql) { statement in
      try statement.bind(key)
      guard try statement.step() else { return key }
      return try key.indices.map { try statement.value(at: Int32($0)) }
    }
  }

  private static func converted(_ value: Value, to type: ColumnType, on connection: Connection) throws -> Value {
    switch (type, value) {
    case (.text, .integer), (.text, .real): return try connection.scalar("SELECT CAST(? AS TEXT)", [value]) ?? value
    case (.integer, .text(let text)), (.real, .text(let text)):
      // Only what is a number from end to end.
      let number = /\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*/
      guard text.wholeMatch(of: number) != nil else { return value }
      return (try connection.scalar("SELECT CAST(? AS NUMERIC)", [value]) ?? value).asKey(of: type)
    case (.any, _): return value
    default: return value.asKey(of: type)
    }
  }
}
