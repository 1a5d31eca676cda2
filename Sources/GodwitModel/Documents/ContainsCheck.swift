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

  /// By bytes, as everything else compares text, in time linear in both (Knuth, Morris and Pratt, "Fast pattern
  /// matching in strings", 1977).
  private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard let first = part.first else { return true }
    guard part.count <= text.count, let start = text.firstIndex(of: first) else { return false }
    // Of each beginning of the part: how long its longest border is, which it both begins and ends with.
    var borders = [0]
    var length = 0
    for byte in part.dropFirst() {
      while length > 0, part[length] != byte { length = borders[length - 1] }
      if part[length] == byte { length += 1 }
      borders.append(length)
    }
    var matched = 0
    for byte in text[start...] {
      while matched > 0, part[matched] != byte { matched = borders[matched - 1] }
      if part[matched] == byte { matched += 1 }
      if matched == part.count { return true }
    }
    return false
  }

  /// Makes the function known to a connection, and to the SQL of its program: a request's text calls it.
  package static func register(on connection: Connection) throws {
    try connection.register(ContainsCheck(), as: name, argumentCount: 2, isOpen: true)
  }
}
