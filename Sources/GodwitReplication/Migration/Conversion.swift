import GodwitBase

/// What becomes of a column's values on the way to another definition. It looks at one value alone, so that it gives
/// the same on a row, on an image of a deleted row and on a change that is still under way.
package struct Conversion: Hashable, Sendable {
  /// The name that the expression calls the value by.
  package let name: String
  package let rule: SchemaStep.ValueRule
  package let isNullable: Bool
  /// Stands in for NULL where the column takes none.
  package let fallback: Value?

  package init(name: String, _ rule: SchemaStep.ValueRule, to column: ColumnDefinition) {
    self.name = name
    self.rule = rule
    isNullable = column.isNullable
    fallback = column.defaultValue
  }

  /// Runs the expression, or widens; nil when what comes out is NULL and the column takes none.
  package func apply(_ value: Value, evaluate: (String, _ name: String, Value) throws -> Value) rethrows -> Value? {
    let converted =
      switch rule {
      case .widen(let type): Self.widened(value, to: type)
      case .expression(let text): try evaluate(text, name, value)
      }
    guard converted == .null, !isNullable else { return converted }
    return fallback
  }

  /// Whether every value of the one type has a place in the other; an expression must say how otherwise.
  package static func widens(_ old: ColumnType, to new: ColumnType) -> Bool {
    switch (old, new) {
    case _ where old == new: true
    case (_, .any), (.integer, .real), (.integer, .text), (.real, .text), (.text, .blob): true
    default: false
    }
  }

  /// Whether values may be others afterwards.
  package static func converts(_ old: ColumnType, by rule: SchemaStep.ValueRule) -> Bool {
    switch rule {
    case .widen(let type): type != old && type != .any
    case .expression: true
    }
  }

  /// The value in the storage class of the type. Numbers become the shortest decimal text that reads back as they were.
  package static func widened(_ value: Value, to type: ColumnType) -> Value {
    switch (value, type) {
    case (.integer(let number), .real): .real(Double(number))
    case (.integer(let number), .text): .text(String(number))
    case (.real(let number), .text): .text("\(number)")
    case (.text(let text), .blob): .blob(Array(text.utf8))
    default: value
    }
  }

  /// Whether the widened value no longer says which one it was: integers beyond 2⁵³ as REAL.
  package func loses(_ value: Value) -> Bool {
    guard rule == .widen(to: .real), case .integer(let number) = value else { return false }
    return Int64(exactly: Double(number)) != number
  }
}
