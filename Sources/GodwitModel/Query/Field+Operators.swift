import GodwitBase

/// Types whose stored form sorts as their values do, so that SQL can compare them.
public protocol OrderedColumnValue: ColumnValue, Comparable {}

// Equality. NULL is a value like any other, as nil is in Swift: IS and IS NOT.
extension Field {
  /// Holds the value.
  public static func == (field: Field, value: Property) -> Predicate<Root> {
    field.compare(Property.isNullable ? "IS" : "=", value)
  }

  /// Holds another value.
  public static func != (field: Field, value: Property) -> Predicate<Root> {
    field.compare(Property.isNullable ? "IS NOT" : "<>", value)
  }

  /// Holds one of the values.
  public func isIn(_ values: some Sequence<Property>) -> Predicate<Root> {
    predicate { name in
      let stored = try values.map { try $0.storedValue() }
      let present = stored.filter { $0 != .null }
      let list = "\(name) IN (\(present.map { _ in "?" }.joined(separator: ", ")))"
      guard Property.isNullable else { return (list, present) }
      // IN never finds NULL, and gives NULL rather than false for it, which NOT would keep.
      let isNull = present.count < stored.count ? " OR \(name) IS NULL" : ""
      return ("((\(name) IS NOT NULL AND \(list))\(isNull))", present)
    }
  }

  /// Holds none of the values.
  public func isNotIn(_ values: some Sequence<Property>) -> Predicate<Root> { !isIn(values) }
}

extension Field {
  /// Holds no value.
  public func isNull<Wrapped>() -> Predicate<Root> where Property == Wrapped? {
    predicate { ("\($0) IS NULL", []) }
  }
}

// Order.
extension Field where Property: OrderedColumnValue {
  /// Is less than the value.
  public static func < (field: Field, value: Property) -> Predicate<Root> { field.compare("<", value) }
  /// Is at most the value.
  public static func <= (field: Field, value: Property) -> Predicate<Root> { field.compare("<=", value) }
  /// Is greater than the value.
  public static func > (field: Field, value: Property) -> Predicate<Root> { field.compare(">", value) }
  /// Is at least the value.
  public static func >= (field: Field, value: Property) -> Predicate<Root> { field.compare(">=", value) }

  /// Lies in the range, both ends included.
  public func isIn(_ range: ClosedRange<Property>) -> Predicate<Root> {
    predicate { ("\($0) BETWEEN ? AND ?", [try range.lowerBound.storedValue(), try range.upperBound.storedValue()]) }
  }
}

// Text, compared by its bytes: by case, and past a NUL, where SQL's own length and substr stop.
extension Field where Property == String {
  /// Begins with the text.
  public func hasPrefix(_ prefix: String) -> Predicate<Root> {
    guard !prefix.isEmpty else { return predicate { _ in ("1", []) } }
    let count = Value.integer(Int64(prefix.utf8.count))
    return predicate { name in
      ("(\(name) >= ? AND substr(CAST(\(name) AS BLOB), 1, ?) = CAST(? AS BLOB))", [.text(prefix), count, .text(prefix)])
    }
  }

  /// Ends with the text.
  public func hasSuffix(_ suffix: String) -> Predicate<Root> {
    guard !suffix.isEmpty else { return predicate { _ in ("1", []) } }
    let count = Value.integer(Int64(suffix.utf8.count))
    return predicate { ("substr(CAST(\($0) AS BLOB), -?) = CAST(? AS BLOB)", [count, .text(suffix)]) }
  }

  /// Holds the text somewhere.
  public func contains(_ part: String) -> Predicate<Root> { predicate { ("instr(\($0), ?) > 0", [.text(part)]) } }

  /// Fits a pattern of SQL's LIKE: `%` for any text, `_` for one character, `\` before either to mean itself;
  /// ASCII letters match in both cases.
  public func like(_ pattern: String) -> Predicate<Root> {
    predicate { ("\($0) LIKE ? ESCAPE '\\'", [.text(pattern)]) }
  }
}
