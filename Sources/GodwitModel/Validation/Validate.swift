import GodwitBase

/// Rules that rows keep: judged before an insert, update or save writes anything.
///
/// ```swift
/// static let schema = Schema<Self>("event") {
///   Column("title", \.title)
///   Column("start", \.start)
///   Column("end", \.end)
///   Validate(\.title, .presence, .length(1...80))
///   Validate(\.title, "must not shout") { $0 != $0.uppercased() }
///   Validate("end must not be before start") { $0.start <= $0.end }
/// }
/// ```
public struct Validate<Root: Model>: Sendable {
  enum Check: Sendable {
    case record(message: String, isValid: @Sendable (Root) -> Bool)
    case uniqueness(scope: [PartialKeyPath<Root> & Sendable])
    case malformed(GodwitError)
  }

  let keyPath: (PartialKeyPath<Root> & Sendable)?
  /// The field's name when it is not that of the property's column.
  let name: String?
  let checks: [Check]

  /// Rules for a column's property; violations have the column's name.
  public init<Property>(
    _ keyPath: KeyPath<Root, Property> & Sendable, _ rules: ValidationRule<Root, Property>...
  ) {
    self.init(nil, keyPath, rules)
  }

  /// Rules for any property, stored or not, under a name of your own.
  public init<Property>(
    _ name: String, _ keyPath: KeyPath<Root, Property> & Sendable, _ rules: ValidationRule<Root, Property>...
  ) {
    self.init(name, keyPath, rules)
  }

  /// A rule of your own for a column's property. The message is read after the column's name and names no value.
  public init<Property>(
    _ keyPath: KeyPath<Root, Property> & Sendable, _ message: String,
    _ isValid: @escaping @Sendable (Property) -> Bool
  ) {
    self.init(nil, keyPath, [ValidationRule(message, isValid)])
  }

  /// A rule about the whole record. The message stands alone and names no value.
  public init(_ message: String, _ isValid: @escaping @Sendable (Root) -> Bool) {
    keyPath = nil
    name = nil
    checks = [.record(message: message, isValid: isValid)]
  }

  private init<Property>(
    _ name: String?, _ keyPath: KeyPath<Root, Property> & Sendable, _ rules: [ValidationRule<Root, Property>]
  ) {
    self.keyPath = keyPath
    self.name = name
    checks = rules.map { rule in
      switch rule.check {
      case .value(let message, let isValid): .record(message: message) { isValid($0[keyPath: keyPath]) }
      case .uniqueness(let scope): .uniqueness(scope: scope)
      case .malformed(let error): .malformed(error)
      }
    }
  }
}
