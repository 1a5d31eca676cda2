import Foundation

/// What can be compared with a member of a document: texts, numbers, true and false, dates, JSON itself.
public protocol JSONValueConvertible: Sendable {
  /// The value as JSON.
  var json: JSON { get }
}

extension JSON: JSONValueConvertible {
  /// Itself.
  public var json: JSON { self }
}

extension String: JSONValueConvertible {
  /// A text.
  public var json: JSON { .string(self) }
}

extension Bool: JSONValueConvertible {
  /// true or false
  public var json: JSON { .bool(self) }
}

extension Int: JSONValueConvertible {
  /// A number.
  public var json: JSON { .integer(Int64(self)) }
}

extension Int64: JSONValueConvertible {
  /// A number.
  public var json: JSON { .integer(self) }
}

extension Double: JSONValueConvertible {
  /// A number.
  public var json: JSON { .number(self) }
}

extension Date: JSONValueConvertible {
  /// ISO 8601 in UTC with milliseconds. A date that is NaN, or not of the years 0 to 9999, is the number NaN, which
  /// nothing takes.
  public var json: JSON { DocumentDate.text(self).map { .string($0) } ?? .real(.nan) }
}

extension Optional: JSONValueConvertible where Wrapped: JSONValueConvertible {
  /// The value as JSON; null for nil.
  public var json: JSON { self?.json ?? .null }
}

extension Array: JSONValueConvertible where Element: JSONValueConvertible {
  /// An array.
  public var json: JSON { .array(map(\.json)) }
}

extension Dictionary: JSONValueConvertible where Key == String, Value: JSONValueConvertible {
  /// An object.
  public var json: JSON { .object(mapValues(\.json)) }
}

extension JSON {
  /// An object of variables and constants of different types: `JSON(["name": name, "price": 3])`.
  public init(_ members: [String: any JSONValueConvertible]) { self = .object(members.mapValues(\.json)) }

  /// An array of variables and constants of different types: `JSON([name, 3])`.
  public init(_ elements: [any JSONValueConvertible]) { self = .array(elements.map(\.json)) }
}
