extension GodwitError {
  /// A rule that a model breaks. It names the field and the rule, never the value, so it can be logged.
  public struct Violation: Hashable, Sendable {
    /// The field: a column's name, or a path below it such as `address.city` or `lines[2].amount`. Nil when the rule is
    /// about the whole record.
    public let field: String?
    /// What is wrong, to be read after the field's name: `must not be empty`.
    public let message: String

    /// A violation of a field's rule; of one about the whole record without a field.
    public init(field: String? = nil, _ message: String) {
      self.field = field
      self.message = message
    }

    /// The same violation, seen from a value that holds the violating one at `path`.
    package func nested(at path: String) -> GodwitError.Violation {
      guard let field else { return GodwitError.Violation(field: path, message) }
      return GodwitError.Violation(field: field.hasPrefix("[") ? path + field : "\(path).\(field)", message)
    }
  }
}

extension GodwitError.Violation: CustomStringConvertible {
  /// Field and message as one clause.
  public var description: String { field.map { "\($0) \(message)" } ?? message }
}
