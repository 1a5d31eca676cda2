import GodwitBase

/// The text form of an age file (C2SP age, section "ASCII armor"): strict PEM (RFC 7468), base64 with padding in lines
/// of 64 characters.
package enum AgeArmor {
  static let firstLine = "-----BEGIN AGE ENCRYPTED FILE-----"
  static let lastLine = "-----END AGE ENCRYPTED FILE-----"
  static let columnCount = 64
  /// The bytes of a whole line.
  static let lineByteCount = 48
  /// Space before and after the armor that a reader passes over, in bytes.
  static let whitespaceCountMax = 1_024

  static func malformed(_ reason: String) -> GodwitError {
    GodwitError(.corruptFile, "the age armor is malformed: \(reason)", hint: "copy the file again from its source")
  }

  static func truncated() -> GodwitError {
    GodwitError(.truncatedFile, "the age armor has no end line", hint: "copy the file again from its source")
  }

  package static func isSpace(_ character: UInt8) -> Bool { character == 0x20 || (0x09...0x0D).contains(character) }
}
