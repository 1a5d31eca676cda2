/// A text as one word of a POSIX shell's command, for hints that people paste.
package enum ShellWord {
  private static let plain = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,".unicodeScalars)

  /// The text itself when a shell takes nothing in it for its own, else in quotes. Characters that a terminal would not
  /// show as themselves are written by their codes, as `$'...'` takes them (POSIX.1-2024, "Dollar-Single-Quotes").
  package static func quoted(_ text: String) -> String {
    let scalars = text.unicodeScalars
    if !scalars.isEmpty, scalars.allSatisfy(plain.contains) { return text }
    guard scalars.contains(where: Unprintable.contains) else {
      return singleQuoted(text)
    }
    var word = "$'"
    for scalar in scalars {
      switch scalar {
      case "'", "\\": word += "\\\(scalar)"
      case _ where Unprintable.contains(scalar):
        for byte in String(scalar).utf8 { word += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
      default: word.unicodeScalars.append(scalar)
      }
    }
    return word + "'"
  }

  /// The text between single quotes, which every POSIX shell reads alike. A shell looks at bytes: a mark with an accent
  /// upon it is one character to Swift, and still a mark to the shell.
  package static func singleQuoted(_ text: String) -> String {
    let pieces = text.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + pieces.map(String.init).joined(separator: #"'\''"#) + "'"
  }

  /// What ``singleQuoted(_:)`` was given; nil for a text that it does not give.
  package static func unquoted(_ word: String) -> String? {
    let scalars = Array(word.unicodeScalars)
    guard scalars.count >= 2, scalars.first == "'", scalars.last == "'" else { return nil }
    let pieces = scalars.dropFirst().dropLast().split(
      separator: Array(#"'\''"#.unicodeScalars), omittingEmptySubsequences: false)
    var text = ""
    text.unicodeScalars.append(contentsOf: pieces.joined(separator: CollectionOfOne("'" as Unicode.Scalar)))
    return Array(singleQuoted(text).unicodeScalars) == scalars ? text : nil
  }
}

/// Characters that a terminal obeys or that show other text than is there.
package enum Unprintable {
  /// Controls, line separators, and marks that turn the direction of the text around them.
  package static func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
