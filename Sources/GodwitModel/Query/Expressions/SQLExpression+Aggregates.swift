import GodwitBase

// Over the rows of a group, or of the whole query without one.
extension SQLExpression {
  /// How many rows hold a value here. Of a key: how many rows there are.
  public func count() -> SQLExpression<Int> { SQLExpression<Int>([.text("count(")] + present + [.text(")")]) }
  /// How many different values the rows hold here.
  public func countDistinct() -> SQLExpression<Int> {
    SQLExpression<Int>([.text("count(DISTINCT ")] + parts + [.text(")")])
  }
}

// Rows that hold nil in an optional column do not count.
extension SQLExpression where Value._Present: OrderedColumnValue {
  /// The least value; nil when no row holds one.
  public func min() -> SQLExpression<Value._Present?> { function("min") }
  /// The greatest value; nil when no row holds one.
  public func max() -> SQLExpression<Value._Present?> { function("max") }
}

extension SQLExpression where Value._Present: SQLNumber {
  /// The sum; nil when no row holds a value.
  public func sum() -> SQLExpression<Value._Present?> { function("sum") }
  /// The mean; nil when no row holds a value.
  public func average() -> SQLExpression<Double?> { function("avg") }
}

extension SQLExpression where Value._Present: SQLNumber & FixedWidthInteger {
  /// The sum, of whatever width the values are; nil when no row holds one. A sum beyond 64 bits fails the query.
  public func sum() -> SQLExpression<Int?> { function("sum") }
}
