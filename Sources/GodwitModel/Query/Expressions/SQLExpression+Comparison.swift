import GodwitBase

/// Types whose stored form sorts as their values do, so that SQL can compare them.
public protocol OrderedColumnValue: RankedColumnValue, Comparable {}

extension SQLExpression {
  func compare(_ operation: String, _ right: [SQLPart]) -> SQLExpression<Bool> {
    SQLExpression<Bool>(.joined(operand(of: .comparison), operation, right), .comparison)
  }

  private func compareAsValue<Other>(_ isEqual: Bool, _ right: [SQLPart], _ type: Other.Type) -> SQLExpression<Bool>
  where Other: ColumnValue {
    let isNullable = Value.isNullable || Other.isNullable
    if case .key(let columns)? = parts.first, let values = Self.keyValues(right, count: columns.count) {
      let same = SQLExpression<Bool>(keys: columns, values, isNullable ? "IS" : "=")
      return isEqual ? same : !same
    }
    return compare(isNullable ? (isEqual ? "IS" : "IS NOT") : (isEqual ? "=" : "<>"), right)
  }

  /// The values of a key's columns, of which nil stands for all.
  private static func keyValues(_ parts: [SQLPart], count: Int) -> [SQLPart]? {
    switch parts.first {
    case .key(let values)?: values
    case .value(.null)? where parts.count == 1: Array(repeating: .value(.null), count: count)
    default: nil
    }
  }

  /// Holds the value.
  public static func == (left: Self, right: Value) -> SQLExpression<Bool> {
    left.compareAsValue(true, [.stored(right)], Value.self)
  }

  /// Holds another value.
  public static func != (left: Self, right: Value) -> SQLExpression<Bool> {
    left.compareAsValue(false, [.stored(right)], Value.self)
  }

  /// Both hold the same value. One may be optional, the other not.
  public static func == <Other>(left: Self, right: SQLExpression<Other>) -> SQLExpression<Bool>
  where Other._Present == Value._Present {
    left.compareAsValue(true, right.operand(of: .comparison), Other.self)
  }

  /// They hold different values. One may be optional, the other not.
  public static func != <Other>(left: Self, right: SQLExpression<Other>) -> SQLExpression<Bool>
  where Other._Present == Value._Present {
    left.compareAsValue(false, right.operand(of: .comparison), Other.self)
  }

  /// Holds one of the values, of which there may be any number. Up to some hundreds an index serves the question; for
  /// more, each row is asked.
  public func isIn(_ values: some Sequence<Value>) -> SQLExpression<Bool> {
    let stored = values.map { SQLPart.stored($0) }
    if case .key(let columns)? = parts.first { return isIn(stored, columns) }
    let list: ValueList
    switch stored.listed {
    case .success(let values): list = values
    case .failure(let error): return SQLExpression<Bool>([.failure(error)])
    }
    let found: [SQLPart] = [.list(operand(of: .comparison), list)]
    guard Value.isNullable else { return SQLExpression<Bool>(found, .comparison) }
    // IN never finds NULL, and gives NULL rather than false for it, which NOT would keep.
    let isPresent = operand(of: .comparison) + [.text(" IS NOT NULL AND ")] + found
    guard list.values.count < stored.count else { return SQLExpression<Bool>(isPresent, .and) }
    return SQLExpression<Bool>(
      isPresent + [.text(" OR ")] + operand(of: .comparison) + [.text(" IS NULL")], .or)
  }

  /// Holds none of the values.
  public func isNotIn(_ values: some Sequence<Value>) -> SQLExpression<Bool> { !isIn(values) }

  /// Holds one of the values that the query selects; nil is never one of them. The selection stands by itself: to name
  /// columns of the query around it, use `exists`.
  public func isIn<Other>(_ selection: Selection<Other>) -> SQLExpression<Bool>
  where Other: ColumnValue, Other._Present == Value._Present {
    let found = operand(of: .comparison) + [.text(" IN ("), .subquery(selection.statement.parts), .text(")")]
    guard Value.isNullable || Other.isNullable else { return SQLExpression<Bool>(found, .comparison) }
    // With NULL on either side IN may be NULL, which NOT would keep.
    return SQLExpression<Bool>([.text("coalesce(")] + found + [.text(", 0)")])
  }
}

// Order. An optional column that holds nil is neither less nor greater than anything, another nil included.
extension SQLExpression where Value._Present: OrderedColumnValue {
  private func order(_ operation: String, _ value: Value._Present) -> SQLExpression<Bool> {
    whenPresent(compare(operation, [.stored(value)]))
  }

  private func order<Other>(_ operation: String, _ other: SQLExpression<Other>) -> SQLExpression<Bool> {
    whenPresent(other.whenPresent(compare(operation, other.operand(of: .comparison))))
  }

  /// Is less than the value.
  public static func < (left: Self, right: Value._Present) -> SQLExpression<Bool> { left.order("<", right) }
  /// Is at most the value.
  public static func <= (left: Self, right: Value._Present) -> SQLExpression<Bool> { left.order("<=", right) }
  /// Is greater than the value.
  public static func > (left: Self, right: Value._Present) -> SQLExpression<Bool> { left.order(">", right) }
  /// Is at least the value.
  public static func >= (left: Self, right: Value._Present) -> SQLExpression<Bool> { left.order(">=", right) }

  /// Is less than the other.
  public static func < <Other>(left: Self, right: SQLExpression<Other>) -> SQLExpression<Bool>
  where Other._Present == Value._Present { left.order("<", right) }
  /// Is at most the other.
  public static func <= <Other>(left: Self, right: SQLExpression<Other>) -> SQLExpression<Bool>
  where Other._Present == Value._Present { left.order("<=", right) }
  /// Is greater than the other.
  public static func > <Other>(left: Self, right: SQLExpression<Other>) -> SQLExpression<Bool>
  where Other._Present == Value._Present { left.order(">", right) }
  /// Is at least the other.
  public static func >= <Other>(left: Self, right: SQLExpression<Other>) -> SQLExpression<Bool>
  where Other._Present == Value._Present { left.order(">=", right) }

  /// Lies in the range, both ends included.
  public func isIn(_ range: ClosedRange<Value._Present>) -> SQLExpression<Bool> {
    whenPresent(compare("BETWEEN", [.stored(range.lowerBound), .text(" AND "), .stored(range.upperBound)]))
  }

  /// Lies in the range, its upper end excluded.
  public func isIn(_ range: Range<Value._Present>) -> SQLExpression<Bool> {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Is at least where the range begins.
  public func isIn(_ range: PartialRangeFrom<Value._Present>) -> SQLExpression<Bool> { self >= range.lowerBound }

  /// Is at most where the range ends.
  public func isIn(_ range: PartialRangeThrough<Value._Present>) -> SQLExpression<Bool> { self <= range.upperBound }

  /// Is less than where the range ends.
  public func isIn(_ range: PartialRangeUpTo<Value._Present>) -> SQLExpression<Bool> { self < range.upperBound }

  /// Lies outside the range, both ends of which belong to it, or is nil.
  public func isNotIn(_ range: ClosedRange<Value._Present>) -> SQLExpression<Bool> { !isIn(range) }

  /// Lies outside the range, to which its upper end does not belong, or is nil.
  public func isNotIn(_ range: Range<Value._Present>) -> SQLExpression<Bool> { !isIn(range) }

  /// Is less than where the range begins, or nil.
  public func isNotIn(_ range: PartialRangeFrom<Value._Present>) -> SQLExpression<Bool> { !isIn(range) }
}

extension SQLExpression {
  /// A condition on the value; false, never NULL, where an optional column holds none.
  fileprivate func whenPresent(_ condition: SQLExpression<Bool>) -> SQLExpression<Bool> {
    guard Value.isNullable else { return condition }
    return SQLExpression<Bool>(operand(of: .comparison) + [.text(" IS NOT NULL")], .comparison) && condition
  }
}

// Logic.
extension SQLExpression where Value == Bool {
  /// Both hold.
  public static func && (left: Self, right: Self) -> Self {
    Self(.joined(left.grouped(under: .and), "AND", right.grouped(under: .and)), .and)
  }
  /// At least one holds.
  public static func || (left: Self, right: Self) -> Self {
    Self(.joined(left.grouped(under: .or), "OR", right.grouped(under: .or)), .or)
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
