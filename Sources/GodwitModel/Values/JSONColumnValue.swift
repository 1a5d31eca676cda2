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

  /// Whether both are texts of equal values; no for a type that cannot say, and for what does not decode.
  static func areSame<Target: Decodable>(_ one: String, _ other: String, as type: Target.Type) -> Bool {
    func value(_ text: String) -> Target? { try? JSONDecoder().decode(type, from: Data(text.utf8)) }
    func areEqual<Known: Equatable>(_ known: Known.Type) -> Bool {
      guard let first = value(one) as? Known, let second = value(other) as? Known else { return false }
      return first == second
    }
    return (type as? any Equatable.Type).map { areEqual($0) } ?? false
  }
}
