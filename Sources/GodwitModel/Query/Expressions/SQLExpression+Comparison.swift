import GodwitBase

/// Types whose stored form sorts as their values do, so that SQL can compare them.
public protocol OrderedColumnValue: ColumnValue, Comparable {}

extension SQLExpression {
  func compare(_ operation: String, _ right: [SQLPart]) -> SQLExpression<Bool> {
    SQLExpression<Bool>(operand(of: .comparison) + [.text(" \(operation) ")] + right, .comparison)
  }

  private static var equal: String { Value.isNullable ? "IS" : "=" }
  private static var unequal: String { Value.isNullable ? "IS NOT" : "<>" }

  /// Holds the value.
  public static func == (left: Self, right: Value) -> SQLExpression<Bool> { left.compare(equal, [.stored(right)]) }

  /// Holds another value.
  public static func != (left: Self, right: Value) -> SQLExpression<Bool> { left.compare(unequal, [.stored(right)]) }

  /// Both hold the same value.
  public static func == (left: Self, right: Self) -> SQLExpression<Bool> {
    left.compare(equal, right.operand(of: .comparison))
  }

  /// They hold different values.
  public static func != (left: Self, right: Self) -> SQLExpression<Bool> {
    left.compare(unequal, right.operand(of: .comparison))
  }

  /// Both hold the same value.
  public static func == (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    left.compare("IS", right.operand(of: .comparison))
  }

  /// Both hold the same value.
  public static func == (left: SQLExpression<Value?>, right: Self) -> SQLExpression<Bool> {
    left.compare("IS", right.operand(of: .comparison))
  }

  /// They hold different values.
  public static func != (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    left.compare("IS NOT", right.operand(of: .comparison))
  }

  /// They hold different values.
  public static func != (left: SQLExpression<Value?>, right: Self) -> SQLExpression<Bool> {
    left.compare("IS NOT", right.operand(of: .comparison))
  }

  /// Holds one of the values.
  public func isIn(_ values: some Sequence<Value>) -> SQLExpression<Bool> {
    let stored = values.map { SQLPart.stored($0) }
    let present = stored.filter { part in
      if case .value(.null) = part { false } else { true }
    }
    let list = present.enumerated().flatMap { $0.offset == 0 ? [$0.element] : [.text(", "), $0.element] }
    let found = operand(of: .comparison) + [.text(" IN (")] + list + [.text(")")]
    guard Value.isNullable else { return SQLExpression<Bool>(found, .comparison) }
    // IN never finds NULL, and gives NULL rather than false for it, which NOT would keep.
    let isPresent = operand(of: .comparison) + [.text(" IS NOT NULL AND ")] + found
    guard present.count < stored.count else { return SQLExpression<Bool>(isPresent, .and) }
    return SQLExpression<Bool>(
      isPresent + [.text(" OR ")] + operand(of: .comparison) + [.text(" IS NULL")], .or)
  }

  /// Holds none of the values.
  public func isNotIn(_ values: some Sequence<Value>) -> SQLExpression<Bool> { !isIn(values) }

  /// Holds one of the values that the query selects; nil is never one of them.
  public func isIn(_ selection: Selection<Value>) -> SQLExpression<Bool> {
    isIn(selection.statement, mayBeNull: Value.isNullable)
  }

  /// Holds one of the values that the query selects; nil is never one of them.
  public func isIn(_ selection: Selection<Value?>) -> SQLExpression<Bool> { isIn(selection.statement, mayBeNull: true) }

  func isIn(_ selection: SelectStatement, mayBeNull: Bool) -> SQLExpression<Bool> {
    let found = operand(of: .comparison) + [.text(" IN ("), .subquery(selection.parts), .text(")")]
    guard mayBeNull else { return SQLExpression<Bool>(found, .comparison) }
    // With NULL on either side IN may be NULL, which NOT would keep.
    return SQLExpression<Bool>([.text("coalesce(")] + found + [.text(", 0)")])
  }
}

// Order.
extension SQLExpression where Value: OrderedColumnValue {
  /// Is less than the value.
  public static func < (left: Self, right: Value) -> SQLExpression<Bool> { left.compare("<", [.stored(right)]) }
  /// Is at most the value.
  public static func <= (left: Self, right: Value) -> SQLExpression<Bool> { left.compare("<=", [.stored(right)]) }
  /// Is greater than the value.
  public static func > (left: Self, right: Value) -> SQLExpression<Bool> { left.compare(">", [.stored(right)]) }
  /// Is at least the value.
  public static func >= (left: Self, right: Value) -> SQLExpression<Bool> { left.compare(">=", [.stored(right)]) }

  /// Is less than the other.
  public static func < (left: Self, right: Self) -> SQLExpression<Bool> {
    left.compare("<", right.operand(of: .comparison))
  }
  /// Is at most the other.
  public static func <= (left: Self, right: Self) -> SQLExpression<Bool> {
    left.compare("<=", right.operand(of: .comparison))
  }
  /// Is greater than the other.
  public static func > (left: Self, right: Self) -> SQLExpression<Bool> {
    left.compare(">", right.operand(of: .comparison))
  }
  /// Is at least the other.
  public static func >= (left: Self, right: Self) -> SQLExpression<Bool> {
    left.compare(">=", right.operand(of: .comparison))
  }

  /// Lies in the range, both ends included.
  public func isIn(_ range: ClosedRange<Value>) -> SQLExpression<Bool> {
    compare("BETWEEN", [.stored(range.lowerBound), .text(" AND "), .stored(range.upperBound)])
  }

  /// Lies in the range, its upper end excluded.
  public func isIn(_ range: Range<Value>) -> SQLExpression<Bool> {
    self >= range.lowerBound && self < range.upperBound
  }
}

// Logic.
extension SQLExpression where Value == Bool {
  /// Both hold.
  public static func && (left: Self, right: Self) -> Self {
    Self(left.grouped(under: .and) + [.text(" AND ")] + right.grouped(under: .and), .and)
  }
  /// At least one holds.
  public static func || (left: Self, right: Self) -> Self {
    Self(left.grouped(under: .or) + [.text(" OR ")] + right.grouped(under: .or), .or)
  }
  /// Does not hold.
  public static prefix func ! (condition: Self) -> Self {
    Self([.text("NOT ")] + condition.operand(of: .comparison), .not)
  }

  /// AND and OR are associative: only what binds less needs parentheses.
  private func grouped(under outer: SQLPrecedence) -> [SQLPart] {
    precedence.rawValue >= outer.rawValue ? parts : [.text("(")] + parts + [.text(")")]
  }
}
