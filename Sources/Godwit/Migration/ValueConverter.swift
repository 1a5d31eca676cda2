import GodwitBase
import GodwitReplication
import GodwitStorage

/// Runs the conversions of migrations on single values.
struct ValueConverter {
  /// How many bytes longer than a value what a rule makes of it may be: as long as its text may be. Only what repeats the value
  /// makes more, and a few such rules after one another would make gigabytes of kilobytes.
  static let addedByteLimit = ExpressionLanguage.byteLimit

  let connection: Connection

  /// What the conversions make of a value, one after another; nil when one gives NULL where its column takes none. Says
  /// whether the outcome no longer tells which value it was.
  func apply(_ conversions: [Conversion], to value: Value) throws -> (value: Value?, loses: Bool) {
    var value = value
    var loses = false
    for conversion in conversions {
      loses = loses || conversion.loses(value)
      guard let converted = try conversion.apply(value, evaluate: evaluate) else { return (nil, loses) }
      value = converted
    }
    return (value, loses)
  }

  /// What a row holds after the conversions whose value was this one; nil stands for a row that lacks a value. Where a
  /// conversion has nothing for the value, the row lacks one until a column has a default or takes NULL. Nil when it still
  /// does in the end.
  func carry(_ value: Value?, by conversions: [Conversion]) throws -> Value? {
    try conversions.reduce(value) { value, conversion in
      let empty = conversion.fallback ?? (conversion.isNullable ? .null : nil)
      guard let value else { return empty }
      return try attempt([conversion], on: value)?.value ?? empty
    }
  }

  /// The same as ``apply(_:to:)``, also where an expression fails: nil then.
  func attempt(_ conversions: [Conversion], on value: Value) throws -> (value: Value, loses: Bool)? {
    do {
      let (converted, loses) = try apply(conversions, to: value)
      return converted.map { ($0, loses) }
    } catch let error as GodwitError where error.code == .constraint {
      return nil
    }
  }

  /// Throws `constraint` where the expression comes to no result.
  private func evaluate(_ expression: String, _ name: String, _ value: Value) throws -> Value {
    let result = try ExpressionTrial.value(of: expression, over: name, value, on: connection)
    guard result.byteCount <= value.byteCount + Self.addedByteLimit else {
      throw GodwitError(
        .constraint, "the rule of column \(name) makes \(result.byteCount) bytes of a value of \(value.byteCount)",
        hint: "what a rule makes may be \(Self.addedByteLimit) bytes longer than the value")
    }
    return result
  }
}
