import GodwitBase

/// What becomes of a column's values on the way to another definition. It looks at one value alone and has a value for
/// every one, so that it gives the same on a row, on the hidden cells of a row and on a change that is still under way.
package struct Conversion: Hashable, Sendable {
  /// What a value has become.
  package struct Outcome: Hashable, Sendable {
    package var value: Value
    /// Whether it no longer says which value it was.
    package var loses = false
    /// Whether it is the column's default, or NULL, since the rule has nothing for the value.
    package var isFallback = false

    package init(value: Value, loses: Bool = false, isFallback: Bool = false) {
      (self.value, self.loses, self.isFallback) = (value, loses, isFallback)
    }
  }

  /// The name that the rule calls the value by.
  package let name: String
  package let rule: SchemaStep.ValueRule
  private let type: ColumnType
  private let isNullable: Bool
  private let check: String?
  /// The name that the check calls the value by.
  private let checkedName: String
  /// Stands in for what the rule has nothing for.
  private let fallback: Value

  package init(name: String, _ rule: SchemaStep.ValueRule, to column: ColumnDefinition) {
    self.name = name
    self.rule = rule
    type = column.type
    isNullable = column.isNullable
    check = column.check
    checkedName = column.name
    fallback = column.defaultValue ?? .null
  }

  /// Widens, or runs the expression; the default, or NULL, stands in for what the rule fails on, what it makes NULL
  /// where the column takes none, and what the check refuses. What comes of it is in the form in which the column keeps
  /// it: rows are kept so, and what the next rule begins with must be the same of a row and of a change.
  ///
  /// - Parameter evaluate: Works out an expression over a value of that name; nil where it comes to no result.
  package func apply(
    _ value: Value, evaluate: (_ expression: String, _ name: String, Value) throws -> Value?
  ) rethrows -> Outcome {
    let converted: Value? =
      switch rule {
      case .widen(let type): Self.widened(value, to: type)
      case .expression(let text): try evaluate(text, name, value)
      }
    guard let stored = converted?.stored(as: type, isKey: false), try takes(stored, evaluate) else {
      return Outcome(value: fallback, loses: value != .null, isFallback: true)
    }
    return Outcome(value: stored, loses: isInexact(value))
  }

  /// Whether the column takes a value: no REAL beyond 64 bits where integers are, which no program reads again. A check
  /// that comes to no result takes nothing.
  private func takes(_ value: Value, _ evaluate: (String, String, Value) throws -> Value?) rethrows -> Bool {
    guard value != .null || isNullable else { return false }
    if type == .integer, case .real(let number) = value, Int64(exactly: number.rounded()) == nil { return false }
    guard let check else { return true }
    return try evaluate("NOT (\(check))", checkedName, value).map { $0 != .integer(1) } ?? false
  }

  /// Whether every value of the one type has a place in the other; an expression must say how otherwise.
  package static func widens(_ old: ColumnType, to new: ColumnType) -> Bool {
    switch (old, new) {
    case _ where old == new: true
    case (_, .any), (.integer, .real), (.integer, .text), (.real, .text), (.text, .blob): true
    default: false
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
  private func isInexact(_ value: Value) -> Bool {
    guard rule == .widen(to: .real), case .integer(let number) = value else { return false }
    return Int64(exactly: Double(number)) != number
  }
}
