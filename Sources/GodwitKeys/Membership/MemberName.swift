import GodwitBase

/// What a member's name may be: at most 64 bytes of UTF-8 that can be printed on a terminal as they are.
package enum MemberName {
  static let byteCountMax = 64

  /// Throws `invalidArgument` for what cannot be a name.
  package static func check(_ name: String) throws {
    guard !isAcceptable(name) else { return }
    throw GodwitError(
      .invalidArgument, "a member's name has control characters or more than \(byteCountMax) bytes",
      hint: "choose a short name of printable characters")
  }

  /// What a text becomes where a name is made of it: without what cannot be printed, cut to what a name may have.
  package static func fitting(_ text: String) -> String {
    var name = ""
    for character in text where character.unicodeScalars.allSatisfy(isPrintable) {
      guard name.utf8.count + character.utf8.count <= byteCountMax else { break }
      name.append(character)
    }
    return name.isEmpty ? "replica" : name
  }

  static func read(_ reader: inout ByteReader) throws -> String {
    let name = try reader.string(limit: byteCountMax)
    guard isAcceptable(name) else { throw ByteReader.malformed("a member's name has control characters") }
    return name
  }

  static func isAcceptable(_ name: String) -> Bool {
    name.utf8.count <= byteCountMax && name.unicodeScalars.allSatisfy(isPrintable)
  }

  /// No control characters, no line breaks, and none that turn the direction of the text around them.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
    }
  }
}
