import Foundation
import GodwitBase
import GodwitCore

/// A Codable type stored as JSON text with sorted keys, so that equal values have equal text. Only a set inside it, or
/// a dictionary whose keys are neither texts nor Int, has another order each time: an update compares the values where
/// they are Equatable, a query the texts.
public protocol JSONColumnValue: ColumnValue, Codable {}

extension JSONColumnValue {
  /// TEXT.
  public static var storageType: StorageType { .text }
  /// Binds JSON with sorted keys; throws `valueNotStorable` when the value does not encode.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(JSONText.encode(self)) }
  /// Reads JSON; throws `valueMismatch` when it does not decode.
  public static func read(from reader: borrowing ColumnReader) throws -> Self { try JSONText.decode(from: reader) }
  /// JSON with sorted keys; throws `valueNotStorable` when the value does not encode.
  public func storedValue() throws -> Value { .text(try JSONText.encode(self)) }
}

extension Array: ColumnValue where Element: Codable {}
extension Array: JSONColumnValue where Element: Codable {}
extension Dictionary: ColumnValue where Key: Codable, Value: Codable {}
extension Dictionary: JSONColumnValue where Key: Codable, Value: Codable {}

/// Elements are stored in the order of their JSON's bytes, so that equal sets have equal text.
extension Set: ColumnValue where Element: Codable {}
extension Set: JSONColumnValue where Element: Codable {
  /// Equal sets have equal text.
  public static var hasConstantDefault: Bool { true }

  private func text() throws -> String {
    let elements = try map { try JSONText.encode($0) }
    let text = "[\(elements.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: ","))]"
    if Element.self == String.self || Element.self == Int.self { return text }
    // Foundation writes numbers and the names of members in forms of its own. What is no JSON that documents may hold,
    // such as a number beyond 64 bits, stays as it is, and a set that merges refuses it.
    guard let known = SetElements.parse(.text(text)), case .text(let text) = SetElements.value(of: known) else {
      return text
    }
    return text
  }
  /// Binds a JSON array, sorted by its elements' text; throws `valueNotStorable` when one does not encode.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(text()) }
  /// A JSON array, sorted by its elements' text; throws `valueNotStorable` when one does not encode.
  public func storedValue() throws -> GodwitBase.Value { .text(try text()) }
}

/// JSON as it is stored.
enum JSONText {
  static func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      throw GodwitError(.valueNotStorable, "a value does not encode to JSON", underlying: error)
    }
  }

  static func decode<Target: Decodable>(
    _ type: Target.Type = Target.self, from reader: borrowing ColumnReader
  ) throws -> Target {
    let text = try reader.text()
    do {
      return try JSONDecoder().decode(Target.self, from: Data(text.utf8))
    } catch {
      throw reader.mismatch("JSON of \(Target.self)")
    }
  }

  /// Whether a text is of the same value as a stored one: equal where the type is Equatable, and the stored one is
  /// encoded anew as the same JSON, but for the order in its arrays, for what the type takes for equal may be spelt
  /// otherwise. No for a type that cannot say, and for what does not decode.
  static func areSame<Target: Codable>(_ text: String, _ stored: String, as type: Target.Type) -> Bool {
    func areEqual<Known: Equatable>(_ known: Known.Type, _ first: Target, _ second: Target) -> Bool {
      (first as? Known).map { $0 == second as? Known } ?? false
    }
    guard let equatable = type as? any Equatable.Type,
      let new = try? JSONDecoder().decode(type, from: Data(text.utf8)),
      let old = try? JSONDecoder().decode(type, from: Data(stored.utf8)), areEqual(equatable, new, old),
      let again = try? encode(old)
    else { return false }
    // The bytes as well: a number may be read as another one that is equal to it.
    return again.utf8.sorted() == text.utf8.sorted() && ordered(again).map { $0 == ordered(text) } == true
  }

  /// The JSON's bytes with the elements of each array in the order of their bytes.
  private static func ordered(_ text: String) -> [UInt8]? {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)).flatMap(ordered)
  }

  private static func ordered(_ node: Any) -> [UInt8]? {
    switch node {
    case let members as [String: Any]:
      var bytes: [UInt8] = []
      for name in members.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
        guard let key = ordered(name as Any), let value = members[name].flatMap(ordered) else { return nil }
        bytes += key + [UInt8(ascii: ":")] + value + [UInt8(ascii: ",")]
      }
      return [UInt8(ascii: "{")] + bytes + [UInt8(ascii: "}")]
    case let elements as [Any]:
      let all = elements.compactMap(ordered)
      guard all.count == elements.count else { return nil }
      let sorted = all.sorted { $0.lexicographicallyPrecedes($1) }
      return [UInt8(ascii: "[")] + sorted.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    default:
      return (try? JSONSerialization.data(withJSONObject: node, options: .fragmentsAllowed)).map(Array.init)
    }
  }
}
