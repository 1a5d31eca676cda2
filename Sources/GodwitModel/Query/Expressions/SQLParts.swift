import GodwitBase

/// A piece of SQL under construction. Columns stay apart from text, because whether they are named with their table
/// is known only when the statement is whole.
package enum SQLPart: Sendable {
  case text(String)
  case column(table: String, name: String)
  case value(Value)
  /// A statement inside another one: its columns are named with their table.
  case subquery([SQLPart])
  /// Why the expression cannot be written; it shows when the statement is.
  case failure(GodwitError)
}

/// Writes parts as SQL.
struct SQLRenderer {
  private(set) var text = ""
  private(set) var values: [Value] = []
  /// Whether columns are named with their table: with more than one table only.
  private var isQualified: Bool

  init(isQualified: Bool) {
    self.isQualified = isQualified
    text.reserveCapacity(256)
  }

  var sql: SQL { SQL(text: text, values: values) }

  mutating func write(_ parts: [SQLPart]) throws {
    for part in parts {
      switch part {
      case .text(let piece): text += piece
      case .column(let table, let name):
        if isQualified {
          text += SQLName.quoted(table)
          text += "."
        }
        text += SQLName.quoted(name)
      case .value(let value):
        text += "?"
        values.append(value)
      case .subquery(let inner):
        let outer = isQualified
        isQualified = true
        try write(inner)
        isQualified = outer
      case .failure(let error): throw error
      }
    }
  }
}

extension [SQLPart] {
  /// Whether an aggregate stands in it.
  var isAggregate: Bool {
    contains { part in
      guard case .text(let text) = part else { return false }
      return ["count(", "count(DISTINCT ", "sum(", "avg(", "min(", "max("].contains(text)
    }
  }

  static func += (parts: inout [SQLPart], text: String) { parts.append(.text(text)) }

  mutating func append(_ lists: [[SQLPart]], separatedBy separator: String) {
    for (number, list) in lists.enumerated() {
      if number > 0 { self += separator }
      append(contentsOf: list)
    }
  }
}
