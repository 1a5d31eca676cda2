import GodwitBase

// Optional columns, and any column of a row that a join may not have found.
extension SQLExpression {
  /// Holds no value.
  public func isNull<Wrapped>() -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(operand(of: .comparison) + [.text(" IS NULL")], .comparison)
  }

  /// Holds a value.
  public func isNotNull<Wrapped>() -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(operand(of: .comparison) + [.text(" IS NOT NULL")], .comparison)
  }

  /// The value, or another one where there is none.
  public static func ?? <Wrapped>(left: Self, right: Wrapped) -> SQLExpression<Wrapped> where Value == Wrapped? {
    left.function("coalesce", [.stored(right)])
  }

  /// The value, or another expression's where there is none.
  public static func ?? <Wrapped>(left: Self, right: SQLExpression<Wrapped>) -> SQLExpression<Wrapped>
  where Value == Wrapped? {
    left.function("coalesce", right.parts)
  }

  /// What is made of the value; nil where there is none: `$0.pages.map { $0 * 2 }`.
  public func map<Wrapped, Result>(
    _ transform: (SQLExpression<Wrapped>) -> SQLExpression<Result>
  ) -> SQLExpression<Result?> where Value == Wrapped? {
    let present = operand(of: .comparison) + [.text(" IS NOT NULL THEN ")]
    return SQLExpression<Result?>(
      [.text("CASE WHEN ")] + present + transform(SQLExpression<Wrapped>(parts, precedence)).parts + [.text(" END")])
  }

  /// Holds one of the values, none of which is nil.
  @_disfavoredOverload  // a range is a sequence, too
  public func isIn<Wrapped>(_ values: some Sequence<Wrapped>) -> SQLExpression<Bool> where Value == Wrapped? {
    isIn(values.map(Optional.some))
  }

  /// Holds no value, or another one than these.
  @_disfavoredOverload
  public func isNotIn<Wrapped>(_ values: some Sequence<Wrapped>) -> SQLExpression<Bool> where Value == Wrapped? {
    !isIn(values)
  }

  /// Holds one of the values that the query selects; nil is never one of them.
  public func isIn<Wrapped>(_ selection: Selection<Wrapped>) -> SQLExpression<Bool> where Value == Wrapped? {
    isIn(selection.statement, mayBeNull: true)
  }
}

// Order: nil is neither less nor greater than anything.
extension SQLExpression {
  private func present(_ condition: SQLExpression<Bool>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(operand(of: .comparison) + [.text(" IS NOT NULL")], .comparison) && condition
  }

  /// Holds a value, which is less.
  public static func < <Wrapped: OrderedColumnValue>(left: Self, right: Wrapped) -> SQLExpression<Bool>
  where Value == Wrapped? { left.present(left.compare("<", [.stored(right)])) }
  /// Holds a value, which is at most this one.
  public static func <= <Wrapped: OrderedColumnValue>(left: Self, right: Wrapped) -> SQLExpression<Bool>
  where Value == Wrapped? { left.present(left.compare("<=", [.stored(right)])) }
  /// Holds a value, which is greater.
  public static func > <Wrapped: OrderedColumnValue>(left: Self, right: Wrapped) -> SQLExpression<Bool>
  where Value == Wrapped? { left.present(left.compare(">", [.stored(right)])) }
  /// Holds a value, which is at least this one.
  public static func >= <Wrapped: OrderedColumnValue>(left: Self, right: Wrapped) -> SQLExpression<Bool>
  where Value == Wrapped? { left.present(left.compare(">=", [.stored(right)])) }

  /// Holds a value in the range, both ends included.
  public func isIn<Wrapped: OrderedColumnValue>(_ range: ClosedRange<Wrapped>) -> SQLExpression<Bool>
  where Value == Wrapped? {
    present(compare("BETWEEN", [.stored(range.lowerBound), .text(" AND "), .stored(range.upperBound)]))
  }

  /// Holds a value in the range, its upper end excluded.
  public func isIn<Wrapped: OrderedColumnValue>(_ range: Range<Wrapped>) -> SQLExpression<Bool>
  where Value == Wrapped? {
    self >= range.lowerBound && self < range.upperBound
  }
}

// Order between columns of which one or both are optional.
extension SQLExpression {
  private func compare<Other>(_ operation: String, with other: SQLExpression<Other>) -> SQLExpression<Bool> {
    let condition = compare(operation, other.operand(of: .comparison))
    let right = Other.isNullable ? other.present(condition) : condition
    return Value.isNullable ? present(right) : right
  }

  /// Both hold values, of which the left one is less.
  public static func < <Wrapped: OrderedColumnValue>(left: Self, right: Self) -> SQLExpression<Bool>
  where Value == Wrapped? { left.compare("<", with: right) }
  /// Both hold values, of which the left one is less.
  public static func < <Wrapped: OrderedColumnValue>(left: Self, right: SQLExpression<Wrapped>) -> SQLExpression<Bool>
  where Value == Wrapped? { left.compare("<", with: right) }
  /// Both hold values, of which the left one is less.
  public static func < (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool>
  where Value: OrderedColumnValue { left.compare("<", with: right) }
  /// Both hold values, of which the left one is not greater.
  public static func <= <Wrapped: OrderedColumnValue>(left: Self, right: Self) -> SQLExpression<Bool>
  where Value == Wrapped? { left.compare("<=", with: right) }
  /// Both hold values, of which the left one is not greater.
  public static func <= <Wrapped: OrderedColumnValue>(left: Self, right: SQLExpression<Wrapped>) -> SQLExpression<Bool>
  where Value == Wrapped? { left.compare("<=", with: right) }
  /// Both hold values, of which the left one is not greater.
  public static func <= (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool>
  where Value: OrderedColumnValue { left.compare("<=", with: right) }
  /// Both hold values, of which the left one is greater.
  public static func > <Wrapped: OrderedColumnValue>(left: Self, right: Self) -> SQLExpression<Bool>
  where Value == Wrapped? { left.compare(">", with: right) }
  /// Both hold values, of which the left one is greater.
  public static func > <Wrapped: OrderedColumnValue>(left: Self, right: SQLExpression<Wrapped>) -> SQLExpression<Bool>
  where Value == Wrapped? { left.compare(">", with: right) }
  /// Both hold values, of which the left one is greater.
  public static func > (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool>
  where Value: OrderedColumnValue { left.compare(">", with: right) }
  /// Both hold values, of which the left one is not less.
  public static func >= <Wrapped: OrderedColumnValue>(left: Self, right: Self) -> SQLExpression<Bool>
  where Value == Wrapped? { left.compare(">=", with: right) }
  /// Both hold values, of which the left one is not less.
  public static func >= <Wrapped: OrderedColumnValue>(left: Self, right: SQLExpression<Wrapped>) -> SQLExpression<Bool>
  where Value == Wrapped? { left.compare(">=", with: right) }
  /// Both hold values, of which the left one is not less.
  public static func >= (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool>
  where Value: OrderedColumnValue { left.compare(">=", with: right) }
}
