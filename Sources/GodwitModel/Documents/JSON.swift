import Foundation
import GodwitBase

/// A JSON value. Literals make one: `["name": "Ada", "tags": ["new"], "price": 3]`.
///
/// A number that is an integer of 64 bits is `integer`, however it was written; `real` is any other.
public enum JSON: Sendable, Hashable {
  /// null
  case null
  /// true or false
  case bool(Bool)
  /// A number without a fraction.
  case integer(Int64)
  /// Any other number; never NaN or infinite.
  case real(Double)
  /// Text.
  case string(String)
  /// Values in order.
  case array([JSON])
  /// Members by name; their order is none.
  case object([String: JSON])
}

extension JSON {
  /// The only value in a text.
  ///
  /// - Throws: `invalidDocument` with line and column.
  public init(text: String) throws {
    var text = text
    self = try text.withUTF8 { buffer in
      var scanner = JSONScanner(UnsafeRawBufferPointer(buffer))
      let value = try scanner.value(depth: 0)
      try scanner.expectEnd()
      return value
    }
  }

  /// The value as text: without spaces, members in the order of their bytes.
  public var text: String {
    var writer = ByteWriter(capacity: 64)
    write(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The member of an object, or nil.
  public subscript(member: String) -> JSON? {
    if case .object(let members) = self { members[member] } else { nil }
  }

  /// True for true, for any number but 0, and for the texts `1`, `yes` and `true` in any case.
  public var boolValue: Bool {
    switch self {
    case .bool(let value): value
    case .integer(let number): number != 0
    case .real(let number): number != 0
    case .string(let text): ["1", "yes", "true"].contains(text.lowercased())
    case .null, .array, .object: false
    }
  }

  /// A number, when it is one without a fraction.
  public var integerValue: Int64? { if case .integer(let number) = self { number } else { nil } }

  /// A number.
  public var realValue: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  /// A text.
  public var stringValue: String? { if case .string(let text) = self { text } else { nil } }

  /// The instant that a text names: a date, or a date and time with `Z` or an offset, in ISO 8601. A date alone is its
  /// midnight in UTC.
  public var dateValue: Date? { stringValue.flatMap(DocumentDate.date) }

  /// The elements of an array.
  public var arrayValue: [JSON]? { if case .array(let elements) = self { elements } else { nil } }

  /// The members of an object.
  public var objectValue: [String: JSON]? { if case .object(let members) = self { members } else { nil } }

  /// A number in its one form.
  static func number(_ value: Double) -> JSON {
    JSONWriter.wholeNumber(value).map { .integer($0) } ?? .real(value)
  }
}

extension JSON {
  /// Whether both are the same JSON. Texts and names are compared by their bytes, as stored ones are.
  public static func == (left: JSON, right: JSON) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)):
      a.count == b.count
        && a.allSatisfy { name, value in
          guard let place = b.index(forKey: name) else { return false }
          return b[place].key.utf8.elementsEqual(name.utf8) && b[place].value == value
        }
    default: false
    }
  }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// null
  public init(nilLiteral: ()) { self = .null }
  /// true or false
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// An object; of members of one name the last counts.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension JSON: Codable {
  /// From any decoder's value.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let elements = try? container.decode([JSON].self) {
      self = .array(elements)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  /// As the value that it is.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let number): try container.encode(number)
    case .real(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .array(let elements): try container.encode(elements)
    case .object(let members): try container.encode(members)
    }
  }
}
