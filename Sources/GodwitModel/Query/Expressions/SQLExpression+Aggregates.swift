import GodwitBase

// Over the rows of a group, or of the whole query without one.
extension SQLExpression {
  /// How many rows hold a value here. Of a key: how many rows there are.
  public func count() -> SQLExpression<Int> { function("count") }
  /// How many different values the rows hold here.
  public func countDistinct() -> SQLExpression<Int> {
    SQLExpression<Int>([.text("count(DISTINCT ")] + parts + [.text(")")])
  }
}

extension SQLExpression where Value: OrderedColumnValue {
  /// The least value; nil without rows.
  public func min() -> SQLExpression<Value?> { function("min") }
  /// The greatest value; nil without rows.
  public func max() -> SQLExpression<Value?> { function("max") }
}

extension SQLExpression where Value: SQLNumber {
  /// The sum; nil without rows. An integer sum beyond 64 bits fails the query.
  public func sum() -> SQLExpression<Value?> { function("sum") }
  /// The mean; nil without rows.
  public func average() -> SQLExpression<Double?> { function("avg") }
}

// Of optional columns; rows without a value do not count.
extension SQLExpression {
  /// The least value; nil when no row holds one.
  public func min<Wrapped: OrderedColumnValue>() -> Self where Value == Wrapped? { function("min") }
  /// The greatest value; nil when no row holds one.
  public func max<Wrapped: OrderedColumnValue>() -> Self where Value == Wrapped? { function("max") }
  /// The sum; nil when no row holds a value.
  public func sum<Wrapped: SQLNumber>() -> Self where Value == Wrapped? { function("sum") }
  /// The mean; nil when no row holds a value.
  public func average<Wrapped: SQLNumber>() -> SQLExpression<Double?> where Value == Wrapped? { function("avg") }
}
