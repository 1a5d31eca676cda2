import Foundation
import Godwit

/// The text of a set column: a JSON array of strings in the order of their JSON's bytes.
enum SetText {
  static func text(_ elements: Set<String>) -> Value {
    let quoted = elements.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\"\($0)\"" }
    return .text("[\(quoted.joined(separator: ","))]")
  }

  static func elements(_ value: Value) -> Set<String> {
    guard case .text(let text) = value else { return [] }
    return Set((try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? [])
  }
}
