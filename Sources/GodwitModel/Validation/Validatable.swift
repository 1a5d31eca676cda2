import GodwitBase

/// A type with rules of its own, for properties that hold more than one value.
///
/// A column whose type adopts it is validated with its model, also inside optionals and arrays; a violation's field is
/// then a path such as `address.city` or `lines[2].amount`.
///
/// ```swift
/// struct Address: JSONColumnValue, Validatable {
///   var city = ""
///   var violations: [GodwitError.Violation] { GodwitError.Violation.check("city", city, .presence) }
/// }
/// ```
public protocol Validatable {
  /// The rules this value breaks, their fields named from here.
  var violations: [GodwitError.Violation] { get }
}

extension GodwitError.Violation {
  /// The rules that a field's value breaks, and those of the values in it that are ``Validatable``.
  public static func check<Property>(
    _ field: String, _ value: Property, _ rules: ValidationRule<Never, Property>...
  ) -> [GodwitError.Violation] {
    let broken = rules.compactMap { rule -> GodwitError.Violation? in
      switch rule.check {
      case .value(let message, let isValid): isValid(value) ? nil : GodwitError.Violation(field: field, message)
      case .uniqueness: nil
      case .malformed(let error): GodwitError.Violation(field: field, "cannot be checked: \(error.message)")
      }
    }
    return broken + NestedValidation.violations(of: value, at: field)
  }
}

/// Finds the ``Validatable`` values in a property.
enum NestedValidation {
  /// Whether values of the type can be, or hold, ones with rules. Asked once per column.
  static func applies(to type: Any.Type) -> Bool {
    type is any Validatable.Type || (type as? any ValidatableContainer.Type)?.holdsValidatable ?? false
  }

  static func violations(of value: Any, at path: String) -> [GodwitError.Violation] {
    if let value = value as? any Validatable { return value.violations.map { $0.nested(at: path) } }
    return (value as? any ValidatableContainer)?.violations(at: path) ?? []
  }
}

/// What is looked into for values with rules.
protocol ValidatableContainer {
  static var holdsValidatable: Bool { get }
  func violations(at path: String) -> [GodwitError.Violation]
}

extension Optional: ValidatableContainer {
  static var holdsValidatable: Bool { NestedValidation.applies(to: Wrapped.self) }
  func violations(at path: String) -> [GodwitError.Violation] {
    map { NestedValidation.violations(of: $0, at: path) } ?? []
  }
}

extension Array: ValidatableContainer {
  static var holdsValidatable: Bool { NestedValidation.applies(to: Element.self) }
  func violations(at path: String) -> [GodwitError.Violation] {
    guard Self.holdsValidatable else { return [] }
    return enumerated().flatMap { NestedValidation.violations(of: $1, at: "\(path)[\($0)]") }
  }
}
