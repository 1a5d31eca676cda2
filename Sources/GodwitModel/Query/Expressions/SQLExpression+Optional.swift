import GodwitBase

// Optional columns, and any column of a row that a join may not have found.
extension SQLExpression {
  /// Holds no value.
  public func isNull<Wrapped>() -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(SQLExpression(present, precedence).operand(of: .comparison) + [.text(" IS NULL")], .comparison)
  }

  /// Holds a value.
  public func isNotNull<Wrapped>() -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(
      SQLExpression(present, precedence).operand(of: .comparison) + [.text(" IS NOT NULL")], .comparison)
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
}
