import GodwitBase

/// A typed expression in SQL: a column, or what is computed from columns. Conditions are expressions of Bool.
///
/// ```swift
/// Note.where { $0.title.hasPrefix("Buy") && $0.views > 3 }
/// ```
///
/// NULL is a value like any other, as nil is in Swift: a condition is true or false, and `!=` finds nil.
public struct SQLExpression<Value: ColumnValue>: Sendable {
  package let parts: [SQLPart]
  let precedence: SQLPrecedence

  init(_ parts: [SQLPart], _ precedence: SQLPrecedence = .atom) {
    self.parts = parts
    self.precedence = precedence
  }

  /// A constant, bound where the expression stands.
  public static func value(_ value: Value) -> Self { Self([.stored(value)]) }

  /// What is NULL where there is no value: of a key of several columns, the first.
  var present: [SQLPart] {
    if case .key(let columns)? = parts.first { Array(columns.prefix(1)) } else { parts }
  }

  /// The parts, in parentheses where an operator of that strength would tear them apart.
  func operand(of outer: SQLPrecedence) -> [SQLPart] {
    precedence.rawValue > outer.rawValue ? parts : [.text("(")] + parts + [.text(")")]
  }

  /// A function of this expression: `name(expression, arguments…)`.
  func function<Output>(_ name: String, _ arguments: [SQLPart]...) -> SQLExpression<Output> {
    SQLExpression<Output>([.text("\(name)(")] + parts + arguments.flatMap { [.text(", ")] + $0 } + [.text(")")])
  }
}

/// How strongly an operator binds, weakest first, as SQLite has it.
enum SQLPrecedence: Int, Sendable {
  case or, and, not, comparison, concatenation, sum, product, atom
}

extension SQLPart {
  /// A constant of any column type.
  static func stored(_ value: some ColumnValue) -> SQLPart {
    do {
      return .value(try value.storedValue())
    } catch {
      if let key = value as? any CompositeKey, let values = try? key.keyValues() {
        return .key(values.map { .value($0) })
      }
      return .failure(
        error as? GodwitError ?? GodwitError(.valueNotStorable, "a value cannot be compared", underlying: error))
    }
  }
}
