import GodwitBase

/// A rule for one property: `.presence`, `.length(1...80)`, or one of your own.
///
/// Rules for properties that may be nil let nil pass, but for `.presence`.
public struct ValidationRule<Root, Property>: Sendable {
  enum Check: Sendable {
    case value(message: String, isValid: @Sendable (Property) -> Bool)
    /// No other row has the value, among those with equal values in the scope.
    case uniqueness(scope: [PartialKeyPath<Root> & Sendable])
    /// The declaration makes no sense.
    case malformed(GodwitError)
  }

  let check: Check

  init(_ check: Check) { self.check = check }

  /// A rule of your own. The message is read after the field's name, as in `must not shout`, and names no value.
  public init(_ message: String, _ isValid: @escaping @Sendable (Property) -> Bool) {
    check = .value(message: message, isValid: isValid)
  }

  /// A rule for the value of an optional property; nil passes.
  public static func ifPresent<Wrapped>(_ rule: ValidationRule<Root, Wrapped>) -> Self where Property == Wrapped? {
    switch rule.check {
    case .value(let message, let isValid): Self(message) { $0.map(isValid) ?? true }
    case .uniqueness(let scope): Self(.uniqueness(scope: scope))
    case .malformed(let error): Self(.malformed(error))
    }
  }
}
