import Godwit
import GodwitFiles

/// A JSON value whose objects keep the order they are written in, and whose integers keep all 64 bits.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  /// The value as text without line breaks.
  public var text: String {
    var text = ""
    append(to: &text)
    return text
  }

  private func append(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .real(let value): text += Self.number(value)
    case .string(let value): Self.append(value, to: &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.append(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        Self.append(member.0, to: &text)
        text += ":"
        member.1.append(to: &text)
      }
      text += "}"
    }
  }

  /// The shortest digits that read back as the same number. JSON has no infinities, so they are strings.
  private static func number(_ value: Double) -> String {
    if value.isInfinite { return value < 0 ? "\"-Infinity\"" : "\"Infinity\"" }
    return value.isNaN ? "null" : "\(value)"
  }

  private static func append(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where Unprintable.contains(scalar): text += Format.jsonEscape(scalar)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByNilLiteral {
  /// An object with its members in the order written.
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Null.
  public init(nilLiteral: ()) { self = .null }
}

extension JSONValue {
  /// A count.
  public static func number(_ value: Int) -> JSONValue { .integer(Int64(value)) }
  /// A sequence number; they stay below 2⁶³.
  public static func number(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }
  /// The number of a conflict.
  public static func number(_ id: Conflict.ID) -> JSONValue { .integer(id.number) }

  /// A stored value: a blob is `{"$blob":"HEX"}`, the other storage classes are JSON's own.
  public init(_ value: Godwit.Value) {
    self =
      switch value {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .string(text)
      case .blob(let bytes): ["$blob": .string(Format.hexadecimal(bytes))]
      }
  }
}
