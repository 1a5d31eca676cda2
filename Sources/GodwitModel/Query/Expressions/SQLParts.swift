import GodwitBase

/// A piece of SQL under construction. Columns stay apart from text, because whether they are named with their table
/// is known only when the statement is whole.
package enum SQLPart: Sendable {
  case text(String)
  case column(table: String, name: String)
  case value(Value)
  /// A statement inside another one: its columns are named with their table.
  case subquery([SQLPart])
  /// A key of several columns, or the values of one: only compared, column by column.
  indirect case key([SQLPart])
  /// Whether an operand is one of the values.
  indirect case list([SQLPart], ValueList)
  /// Why the expression cannot be written; it shows when the statement is. Indirect, for parts are copied often.
  indirect case failure(GodwitError)

  /// Whether a statement stands in it, however deep.
  var hasStatement: Bool {
    switch self {
    case .subquery: true
    case .key(let operand), .list(let operand, _): operand.contains(where: \.hasStatement)
    case .text, .column, .value, .failure: false
    }
  }
}

/// What a statement is written to: parts of another statement, or text right away.
protocol SQLPartSink {
  associatedtype Failure: Error
  mutating func add(_ text: String)
  mutating func add(_ parts: [SQLPart]) throws(Failure)
}

extension [SQLPart]: SQLPartSink {
  mutating func add(_ text: String) { append(.text(text)) }
  mutating func add(_ parts: [SQLPart]) { append(contentsOf: parts) }
}

extension SQLRenderer: SQLPartSink {
  mutating func add(_ text: String) { self.text += text }
  mutating func add(_ parts: [SQLPart]) throws { try write(parts) }
}

/// Writes parts as SQL.
struct SQLRenderer {
  fileprivate(set) var text = ""
  fileprivate(set) var values: [Value] = []
  /// Whether columns are named with their table: with more than one table only.
  private var isQualified: Bool
  /// So many values of the statement's lists are bound one by one.
  private let listedValueLimit: Int

  /// So many values SQLite binds in one statement (sqlite.org/limits.html, "Maximum Number Of Host Parameters").
  private static let valueLimit = 999

  private init(isQualified: Bool, listedValueLimit: Int) {
    self.isQualified = isQualified
    self.listedValueLimit = listedValueLimit
    text.reserveCapacity(256)
  }

  /// What is written to a renderer, once more with every list as one value where it has too many otherwise.
  ///
  /// Throws `limitExceeded` when it has too many all the same.
  static func sql(isQualified: Bool, _ write: (inout SQLRenderer) throws -> Void) throws -> SQL {
    var renderer = SQLRenderer(isQualified: isQualified, listedValueLimit: 900)
    try write(&renderer)
    if renderer.values.count > valueLimit {
      renderer = SQLRenderer(isQualified: isQualified, listedValueLimit: 0)
      try write(&renderer)
    }
    guard renderer.values.count <= valueLimit else {
      throw GodwitError(
        .limitExceeded, "the statement has \(renderer.values.count) values; \(valueLimit) are allowed",
        hint: "compare with the values of a list: isIn")
    }
    return SQL(text: renderer.text, values: renderer.values)
  }

  /// As ``SQLName/quoted(_:)`` and ``SQLName/column(_:)`` have it, without a text in between.
  private mutating func write(name: String, in mark: Unicode.Scalar) {
    guard !name.unicodeScalars.contains(mark) else { return text += name.enclosed(in: mark) }
    text.unicodeScalars.append(mark)
    text += name
    text.unicodeScalars.append(mark)
  }

  mutating func write(_ parts: [SQLPart]) throws {
    for part in parts {
      switch part {
      case .text(let piece): text += piece
      case .column(let table, let name):
        if isQualified {
          write(name: table, in: "\"")
          text += "."
        }
        write(name: name, in: isQualified ? "\"" : "`")
      case .value(let value):
        text += "?"
        values.append(value)
      case .subquery(let inner):
        let outer = isQualified
        isQualified = true
        try write(inner)
        isQualified = outer
      case .list(let operand, let list): try write(operand, isIn: list)
      case .key: throw GodwitError.keyOfSeveralColumns
      case .failure(let error): throw error
      }
    }
  }
}

extension SQLRenderer {
  /// Value by value as far as they go; an index serves that.
  private mutating func write(_ operand: [SQLPart], isIn list: ValueList) throws {
    guard values.count + list.values.count > listedValueLimit else {
      try write(operand)
      text += " IN ("
      for (number, value) in list.values.enumerated() {
        text += number == 0 ? "?" : ", ?"
        values.append(value)
      }
      return text += ")"
    }
    text += "\(ListCheck.name)("
    try write(operand)
    text += ", ?, ?)"
    values += [.integer(list.number), .blob(list.bytes)]
  }
}

extension [SQLPart] {
  /// The parts as the values of a list, without NULL; or why one of them cannot be one.
  var listed: Result<ValueList, GodwitError> {
    var values: [Value] = []
    values.reserveCapacity(count)
    for part in self {
      switch part {
      case .value(.null): continue
      case .value(let value): values.append(value)
      case .failure(let error): return .failure(error)
      default: return .failure(.keyOfSeveralColumns)
      }
    }
    return .success(ValueList(values))
  }

  /// Whether an aggregate stands in it.
  var isAggregate: Bool {
    contains { part in
      switch part {
      case .text(let text): ["count(", "count(DISTINCT ", "sum(", "avg(", "min(", "max("].contains(text)
      case .list(let operand, _): operand.isAggregate
      default: false
      }
    }
  }

  /// `left operator right`, in one array.
  static func joined(_ left: [SQLPart], _ operation: String, _ right: [SQLPart]) -> [SQLPart] {
    var parts: [SQLPart] = []
    parts.reserveCapacity(left.count + right.count + 1)
    parts.append(contentsOf: left)
    parts.append(.text(" " + operation + " "))
    parts.append(contentsOf: right)
    return parts
  }

  static func += (parts: inout [SQLPart], text: String) { parts.append(.text(text)) }

  mutating func append(_ lists: [[SQLPart]], separatedBy separator: String) {
    for (number, list) in lists.enumerated() {
      if number > 0 { self += separator }
      append(contentsOf: list)
    }
  }
}
