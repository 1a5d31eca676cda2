import GodwitBase

/// Numbers that SQL computes with as Swift does: integers in 64 bits and reals.
public protocol SQLNumber: OrderedColumnValue, Numeric {}

extension Int: SQLNumber {}
extension Int64: SQLNumber {}
extension Int32: SQLNumber {}
extension Int16: SQLNumber {}
extension Int8: SQLNumber {}
extension UInt8: SQLNumber {}
extension UInt16: SQLNumber {}
extension UInt32: SQLNumber {}
extension Double: SQLNumber {}
extension Float: SQLNumber {}

/// An integer sum beyond 64 bits becomes a real in SQLite, which is a `valueMismatch` when it is fetched, and which an
/// update refuses to store (`valueNotStorable`).
extension SQLExpression where Value: SQLNumber {
  private func compute(_ sign: String, _ right: [SQLPart], _ precedence: SQLPrecedence) -> Self {
    let isFirst = self.precedence.rawValue >= precedence.rawValue
    let left = isFirst ? parts : [.text("(")] + parts + [.text(")")]
    return Self(left + [.text(" \(sign) ")] + right, precedence)
  }

  /// The sum.
  public static func + (left: Self, right: Value) -> Self { left.compute("+", [.stored(right)], .sum) }
  /// The sum.
  public static func + (left: Self, right: Self) -> Self { left.compute("+", right.operand(of: .sum), .sum) }
  /// The difference.
  public static func - (left: Self, right: Value) -> Self { left.compute("-", [.stored(right)], .sum) }
  /// The difference.
  public static func - (left: Self, right: Self) -> Self { left.compute("-", right.operand(of: .sum), .sum) }
  /// The product.
  public static func * (left: Self, right: Value) -> Self { left.compute("*", [.stored(right)], .product) }
  /// The product.
  public static func * (left: Self, right: Self) -> Self { left.compute("*", right.operand(of: .product), .product) }

  /// Adds to the column, in an update.
  public static func += (left: inout Self, right: Value) { left = left + right }
  /// Subtracts from the column, in an update.
  public static func -= (left: inout Self, right: Value) { left = left - right }
  /// Multiplies the column, in an update.
  public static func *= (left: inout Self, right: Value) { left = left * right }
}

extension SQLExpression where Value: SQLNumber & FloatingPoint {
  /// The quotient; by zero it is NULL, which a column that is not optional refuses.
  public static func / (left: Self, right: Value) -> Self { left.compute("/", [.stored(right)], .product) }
}

extension SQLExpression where Value: SQLNumber & FixedWidthInteger {
  /// The quotient, rounded towards zero; by zero it is NULL, which a column that is not optional refuses.
  public static func / (left: Self, right: Value) -> Self { left.compute("/", [.stored(right)], .product) }
  /// The remainder, with the sign of the left side.
  public static func % (left: Self, right: Value) -> Self { left.compute("%", [.stored(right)], .product) }
}
