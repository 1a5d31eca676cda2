import GodwitBase

// Comparisons with the value on the left, as `3 < $0.views`.
extension SQLExpression {
  /// Holds the value.
  public static func == (left: Value, right: Self) -> SQLExpression<Bool> { right == left }
  /// Holds another value.
  public static func != (left: Value, right: Self) -> SQLExpression<Bool> { right != left }
}

extension SQLExpression where Value._Present: OrderedColumnValue {
  /// Is greater than the value.
  public static func < (left: Value._Present, right: Self) -> SQLExpression<Bool> { right > left }
  /// Is at least the value.
  public static func <= (left: Value._Present, right: Self) -> SQLExpression<Bool> { right >= left }
  /// Is less than the value.
  public static func > (left: Value._Present, right: Self) -> SQLExpression<Bool> { right < left }
  /// Is at most the value.
  public static func >= (left: Value._Present, right: Self) -> SQLExpression<Bool> { right <= left }
}

extension Sequence where Element: ColumnValue {
  /// Whether the column holds one of these values: `[1, 2].contains($0.views)`, the same as `$0.views.isIn([1, 2])`.
  @_disfavoredOverload  // a range is a sequence, too
  public func contains(_ expression: SQLExpression<Element>) -> SQLExpression<Bool> { expression.isIn(self) }

  /// Whether the column holds one of these values; nil is none of them.
  @_disfavoredOverload
  public func contains(_ expression: SQLExpression<Element?>) -> SQLExpression<Bool> { expression.isIn(self) }
}

extension ClosedRange where Bound: OrderedColumnValue {
  /// Whether what the column holds lies in the range; nil does not.
  public func contains<Value>(_ expression: SQLExpression<Value>) -> SQLExpression<Bool>
  where Value._Present == Bound { expression.isIn(self) }
}

extension Range where Bound: OrderedColumnValue {
  /// Whether what the column holds lies in the range, its upper end excluded; nil does not.
  public func contains<Value>(_ expression: SQLExpression<Value>) -> SQLExpression<Bool>
  where Value._Present == Bound { expression.isIn(self) }
}

extension PartialRangeFrom where Bound: OrderedColumnValue {
  /// Whether what the column holds is at least where the range begins; nil is not.
  public func contains<Value>(_ expression: SQLExpression<Value>) -> SQLExpression<Bool>
  where Value._Present == Bound { expression.isIn(self) }
}

extension PartialRangeThrough where Bound: OrderedColumnValue {
  /// Whether what the column holds is at most where the range ends; nil is not.
  public func contains<Value>(_ expression: SQLExpression<Value>) -> SQLExpression<Bool>
  where Value._Present == Bound { expression.isIn(self) }
}

extension PartialRangeUpTo where Bound: OrderedColumnValue {
  /// Whether what the column holds is less than where the range ends; nil is not.
  public func contains<Value>(_ expression: SQLExpression<Value>) -> SQLExpression<Bool>
  where Value._Present == Bound { expression.isIn(self) }
}
