/// The first 80 bits of a SHA-256, short enough to read aloud (Specs/membership.md, "Fingerprint").
package struct Fingerprint: Equatable {
  /// Five groups of sixteen bits.
  private let groups: [UInt16]

  private static let groupCount = 5
  private static let consonants = Array("bdfghjklmnprstvz")
  private static let vowels = Array("aiou")

  package init(of bytes: [UInt8]) {
    let hash = bytes.withUnsafeBytes { ContentHash(of: $0) }.bytes
    groups = (0..<Self.groupCount).map { UInt16(hash[2 * $0]) << 8 | UInt16(hash[2 * $0 + 1]) }
  }

  /// Five groups of four hexadecimal digits.
  package var text: String {
    groups.map { group in
      let digits = String(group, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }.joined(separator: "-")
  }

  /// Five words that can be spoken (proquints).
  package var words: String { groups.map(Self.word).joined(separator: "-") }

  private static func word(_ group: UInt16) -> String {
    let number = Int(group)
    return String([
      consonants[number >> 12], vowels[number >> 10 & 3], consonants[number >> 6 & 15], vowels[number >> 4 & 3],
      consonants[number & 15],
    ])
  }

  /// Whether a person means this one, by digits or words.
  package func matches(_ typed: String) -> Bool {
    let letters = Self.letters(typed)
    return letters == Self.letters(text) || letters == Self.letters(words)
  }

  private static func letters(_ text: String) -> String {
    String(text.lowercased().filter { $0 != "-" && !$0.isWhitespace })
  }
}
