import GodwitBase

// Text, compared by its bytes: by case, and past a NUL, where SQL's own length and substr stop.
extension SQLExpression where Value == String {
  /// Begins with the text.
  public func hasPrefix(_ prefix: String) -> SQLExpression<Bool> {
    guard !prefix.isEmpty else { return .always }
    var bytes: [SQLPart] = []
    bytes.reserveCapacity(parts.count + 6)
    bytes += "substr(CAST("
    bytes.append(contentsOf: parts)
    bytes += " AS BLOB), 1, "
    bytes.append(.value(.integer(Int64(prefix.utf8.count))))
    bytes += ") = CAST("
    bytes.append(.value(.text(prefix)))
    bytes += " AS BLOB)"
    return (self >= prefix) && SQLExpression<Bool>(bytes, .comparison)
  }

  /// Ends with the text.
  public func hasSuffix(_ suffix: String) -> SQLExpression<Bool> {
    guard !suffix.isEmpty else { return .always }
    let count = SQLPart.value(.integer(Int64(suffix.utf8.count)))
    // Of an empty text substr gives NULL, hence IS.
    return SQLExpression<Bool>(
      [.text("substr(CAST(")] + parts + [.text(" AS BLOB), -"), count, .text(") IS CAST("), .value(.text(suffix))]
        + [.text(" AS BLOB)")], .comparison)
  }

  /// Holds the text somewhere.
  public func contains(_ part: String) -> SQLExpression<Bool> {
    SQLExpression<Bool>([.text("instr(")] + parts + [.text(", "), .value(.text(part)), .text(") > 0")], .comparison)
  }

  /// Holds the text somewhere; ASCII letters match in both cases, and `%` and `_` mean themselves.
  public func contains(_ part: String, ignoringCase: Bool) -> SQLExpression<Bool> {
    guard ignoringCase else { return contains(part) }
    return SQLExpression<Bool>(
      [.text("instr(lower(")] + parts + [.text("), lower("), .value(.text(part)), .text(")) > 0")], .comparison)
  }

  /// Fits a pattern of SQL's LIKE: `%` for any text, `_` for one character, `\` before either to mean itself;
  /// ASCII letters match in both cases.
  public func like(_ pattern: String) -> SQLExpression<Bool> {
    compare("LIKE", [.value(.text(pattern)), .text(" ESCAPE '\\'")])
  }

  /// Does not fit the pattern of `like`.
  public func notLike(_ pattern: String) -> SQLExpression<Bool> {
    compare("NOT LIKE", [.value(.text(pattern)), .text(" ESCAPE '\\'")])
  }

  /// With ASCII letters in lower case.
  public func lowercased() -> Self { function("lower") }
  /// With ASCII letters in upper case.
  public func uppercased() -> Self { function("upper") }
  /// How many characters, in Unicode scalars, up to the first NUL.
  public var length: SQLExpression<Int> { function("length") }

  /// One text after the other.
  public static func + (left: Self, right: String) -> Self {
    Self(left.operand(of: .concatenation) + [.text(" || "), .value(.text(right))], .concatenation)
  }
  /// One text after the other.
  public static func + (left: Self, right: Self) -> Self {
    Self(left.operand(of: .concatenation) + [.text(" || ")] + right.operand(of: .concatenation), .concatenation)
  }
}

/// The conditions on text, for optional columns: nil fits none of them.
extension SQLExpression where Value == String? {
  private var text: SQLExpression<String> { SQLExpression<String>(parts, precedence) }

  private func present(_ condition: SQLExpression<Bool>) -> SQLExpression<Bool> { isNotNull() && condition }

  /// How many characters, in Unicode scalars, up to the first NUL; nil of nil.
  public var length: SQLExpression<Int?> { function("length") }

  /// Holds a text that begins with this one.
  public func hasPrefix(_ prefix: String) -> SQLExpression<Bool> { present(text.hasPrefix(prefix)) }
  /// Holds a text that ends with this one.
  public func hasSuffix(_ suffix: String) -> SQLExpression<Bool> { present(text.hasSuffix(suffix)) }
  /// Holds a text with this one in it.
  public func contains(_ part: String) -> SQLExpression<Bool> { present(text.contains(part)) }
  /// Holds a text with this one in it; ASCII letters match in both cases.
  public func contains(_ part: String, ignoringCase: Bool) -> SQLExpression<Bool> {
    present(text.contains(part, ignoringCase: ignoringCase))
  }
  /// Holds a text that fits the pattern, as `like` of columns that are not optional has it.
  public func like(_ pattern: String) -> SQLExpression<Bool> { present(text.like(pattern)) }
  /// Holds no text, or one that does not fit the pattern.
  public func notLike(_ pattern: String) -> SQLExpression<Bool> { !like(pattern) }
}

// `$0.title.count > 3` names the method that counts rows, and compares it with a number. These say what to write.

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func < (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() < right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func <= (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() <= right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func > (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() > right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func >= (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() >= right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func == (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() == right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func != (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() != right }

extension SQLExpression where Value == Bool {
  /// Holds. A number alone would be that of a column where rows are ordered or grouped by it.
  static var always: Self { Self([.text("1 = 1")], .comparison) }
  /// Does not hold.
  static var never: Self { Self([.text("1 = 0")], .comparison) }
}
