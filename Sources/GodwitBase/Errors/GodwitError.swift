/// The one error type of Godwit: what happened, what to do about it, and what lay beneath.
///
/// Messages name tables, columns, paths and value types, never values or keys, so an error can be logged.
public struct GodwitError: Error, Sendable {
  /// What kind of failure this is. Compare against the constants of ``Code``.
  public let code: Code
  /// One sentence saying what failed, without secrets or stored values.
  public let message: String
  /// One sentence saying what to do, when there is something to do.
  public let hint: String?
  /// The failure that caused this one, if any.
  public let underlying: (any Error)?
  /// Every rule that a model breaks when the code is `validationFailed`; empty for other errors.
  public let violations: [GodwitError.Violation]

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, hint: String? = nil, underlying: (any Error)? = nil,
    violations: [GodwitError.Violation] = []
  ) {
    self.code = code
    self.message = message
    self.hint = hint
    self.underlying = underlying
    self.violations = violations
  }
}

extension GodwitError: CustomStringConvertible {
  /// Code, message, hint and cause in one line, without stored values.
  public var description: String {
    var text = "\(code.rawValue): \(message)"
    if let hint { text += " (\(hint))" }
    if let underlying { text += " [\(underlying)]" }
    return text
  }
}
