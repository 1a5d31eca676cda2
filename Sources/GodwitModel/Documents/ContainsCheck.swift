import GodwitBase
import GodwitStorage

/// The SQL function behind `contains`: whether a stored member holds a part or an element (Specs/documents.md,
/// "Queries"). Its arguments are the member's value and the stored form of what is looked for.
package final class ContainsCheck: SQLPredicate {
  package static let name = "godwit_contains"

  package func holds(_ arguments: borrowing FunctionArguments) throws -> Bool {
    let wanted = DocumentCell.json(of: try arguments.value(1))
    switch DocumentCell.json(of: try arguments.value(0)) {
    case .array(let elements): return elements.contains(wanted)
    case .string(let text):
      guard case .string(let part) = wanted else { return false }
      return Self.contains(Array(text.utf8), Array(part.utf8))
    default: return false
    }
  }

  /// By bytes, as everything else compares text.
  private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard let first = part.first else { return true }
    guard part.count <= text.count else { return false }
    for start in 0...(text.count - part.count) where text[start] == first {
      if text[start..<start + part.count].elementsEqual(part) { return true }
    }
    return false
  }

  /// Makes the function known to a connection, and to the SQL of its program: a request's text calls it.
  package static func register(on connection: Connection) throws {
    try connection.register(ContainsCheck(), as: name, argumentCount: 2, isOpen: true)
  }
}
