import GodwitBase

/// What a change set may say of a counter or a set (Specs/change-log.md, "Change set"). It does not say which of the
/// two a column is; so a difference that comes to a set, or a change of a set to a counter, says nothing there.
package enum RelativeValue {
  /// Throws `corruptFile` for another value than a transaction of this kind can have in a column of a counter or set.
  package static func check(_ value: Value, in kind: OperationKind) throws {
    switch value {
    case .integer: return
    case .text where kind == .update: if SetChange.isCanonical(value) { return }
    case .text: if SetElements.isCanonical(value) { return }
    default: break
    }
    throw ByteReader.malformed("a value that is neither a counter's nor a set's")
  }

  /// How many elements of a set a value in its one form names: what each takes in memory is many times what it takes in
  /// a file (Specs/limits.md, "Sync files").
  package static func elementCount(_ value: Value) -> Int {
    guard case .text(let text) = value, let first = text.utf8.first else { return 0 }
    // A change has a line for each; JSON in its one form has no line ends.
    guard first == UInt8(ascii: "[") else { return text.utf8.reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) } }
    var (depth, commas, isText, isEscaped) = (0, 0, false, false)
    for byte in text.utf8 {
      if isEscaped {
        isEscaped = false
      } else if isText {
        isEscaped = byte == UInt8(ascii: "\\")
        isText = byte != UInt8(ascii: "\"")
      } else {
        switch byte {
        case UInt8(ascii: "\""): isText = true
        case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        case UInt8(ascii: ",") where depth == 1: commas += 1
        default: break
        }
      }
    }
    return text.utf8.count > 2 ? commas + 1 : 0
  }
}
