import Foundation
import GodwitBase

/// A set column's value: a JSON array without repetition, its elements in the order of their JSON's bytes
/// (Specs/merge.md, "Sets").
package enum SetElements {
  /// The elements, each as JSON; nil when the value is no array in that form.
  package static func parse(_ value: Value) -> [String]? {
    if value == .null { return [] }
    guard case .text(let text) = value,
      let array = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any]
    else { return nil }
    return array.compactMap(json)
  }

  /// Whether the value is what ``value(of:)`` writes.
  package static func isCanonical(_ value: Value) -> Bool {
    guard let elements = parse(value) else { return false }
    return value == .null || Self.value(of: elements) == value
  }

  package static func value(of elements: some Sequence<String>) -> Value {
    let sorted = Set(elements).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return .text("[\(sorted.joined(separator: ","))]")
  }

  private static func json(_ element: Any) -> String? {
    let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? JSONSerialization.data(withJSONObject: element, options: options) else { return nil }
    return String(decoding: data, as: UTF8.self)
  }
}

/// What an update does to a set, as it travels: a text of lines, `+` or `-` and an element's JSON. JSON has no line
/// ends of its own in this form.
package struct SetChange: Hashable, Sendable {
  package var added: [String] = []
  package var removed: [String] = []

  package init(from old: [String], to new: [String]) {
    let (old, new) = (Set(old), Set(new))
    added = new.subtracting(old).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    removed = old.subtracting(new).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  package init(_ value: Value) throws {
    guard case .text(let text) = value else { throw ByteReader.malformed("a change of a set") }
    for line in text.split(separator: "\n") {
      switch line.first {
      case "+": added.append(String(line.dropFirst()))
      case "-": removed.append(String(line.dropFirst()))
      default: throw ByteReader.malformed("a change of a set")
      }
    }
  }

  package var value: Value {
    .text((added.map { "+\($0)" } + removed.map { "-\($0)" }).joined(separator: "\n"))
  }

  /// The set after the change, as its author saw it.
  package func applied(to elements: [String]) -> [String] {
    Array(Set(elements).subtracting(removed).union(added))
  }
}
