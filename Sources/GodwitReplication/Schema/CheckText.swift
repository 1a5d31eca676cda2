/// The text of a CHECK before any SQL sees it. It may come from another replica's file, so it must be one expression
/// that cannot end the parentheses it is put in; what it may call is judged where it is compiled.
enum CheckText {
  static let byteLimit = 1_024

  static func isContained(_ text: String) -> Bool {
    guard text.utf8.count <= byteLimit else { return false }
    var rest = Array(text.utf8)[...]
    var depth = 0
    var isEmpty = true
    while let byte = rest.popFirst() {
      if byte != 0x20 { isEmpty = false }
      switch byte {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"):
        depth -= 1
        guard depth >= 0 else { return false }
      // A doubled quote reads as two literals side by side, which ends in the same place.
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
        guard skip(through: byte, in: &rest) else { return false }
      case UInt8(ascii: "["):
        guard skip(through: UInt8(ascii: "]"), in: &rest) else { return false }
      case UInt8(ascii: "-") where rest.first == byte, UInt8(ascii: "/") where rest.first == UInt8(ascii: "*"):
        return false  // a comment
      // Parameters, which SQLite lets hold parentheses and quotes; the end of a statement; control characters.
      case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "$"),
        UInt8(ascii: ";"), 0..<0x20, 0x7F:
        return false
      default: break
      }
    }
    return depth == 0 && !isEmpty
  }

  private static func skip(through end: UInt8, in rest: inout ArraySlice<UInt8>) -> Bool {
    guard let place = rest.firstIndex(of: end), !rest[..<place].contains(0) else { return false }
    rest = rest[(place + 1)...]
    return true
  }
}
