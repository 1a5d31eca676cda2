/// Finds the words and semicolons of text in SQL, byte by byte. As SQLite does, it steps over texts, quoted names and
/// comments, takes all beyond ASCII for letters, and has no other letter's capital for ASCII's.
package struct SQLLexer {
  package enum Token: Equatable {
    /// A name, keyword or number without quotes, with capitals in the place of a to z.
    case word(String)
    case semicolon
    /// A sign, or the beginning of a text or a quoted name.
    case other
  }

  private enum Place {
    case between, word, dash, slash, lineComment, blockComment, starInComment
    case quoted(until: UInt8)
  }

  private var place = Place.between
  private var word: [UInt8] = []

  package init() {}

  /// Whether the last byte ended what it belonged to: white space, a sign, or the end of a comment or text.
  package var isBetween: Bool {
    if case .between = place { true } else { false }
  }

  /// Takes the next byte, which may end one token and be another.
  package mutating func feed(_ byte: UInt8, _ found: (Token) -> Void) {
    switch place {
    case .between: start(byte, found)
    case .word:
      if Self.isPart(byte) { return word.append(byte) }
      endWord(found)
      start(byte, found)
    case .dash:
      if byte == UInt8(ascii: "-") { return place = .lineComment }
      found(.other)
      start(byte, found)
    case .slash:
      if byte == UInt8(ascii: "*") { return place = .blockComment }
      found(.other)
      start(byte, found)
    case .lineComment: if byte == 0x0A { place = .between }
    case .blockComment: if byte == UInt8(ascii: "*") { place = .starInComment }
    case .starInComment:
      if byte == UInt8(ascii: "/") { place = .between } else if byte != UInt8(ascii: "*") { place = .blockComment }
    case .quoted(let end): if byte == end { place = .between }
    }
  }

  /// Says that there are no more bytes.
  package mutating func finish(_ found: (Token) -> Void) {
    switch place {
    case .word: endWord(found)
    case .dash, .slash: found(.other)
    default: break
    }
    place = .between
  }

  private mutating func start(_ byte: UInt8, _ found: (Token) -> Void) {
    place = .between
    switch byte {
    case 0x20, 0x09, 0x0A, 0x0C, 0x0D: break
    case UInt8(ascii: ";"): found(.semicolon)
    case UInt8(ascii: "-"): place = .dash
    case UInt8(ascii: "/"): place = .slash
    case UInt8(ascii: "["): quote(until: UInt8(ascii: "]"), found)
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): quote(until: byte, found)
    case _ where Self.isPart(byte):
      place = .word
      word.append(byte)
    default: found(.other)
    }
  }

  /// A quote that is doubled ends the text, and another one begins.
  private mutating func quote(until end: UInt8, _ found: (Token) -> Void) {
    place = .quoted(until: end)
    found(.other)
  }

  private mutating func endWord(_ found: (Token) -> Void) {
    let capitals = word.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
    word.removeAll(keepingCapacity: true)
    found(.word(String(decoding: capitals, as: UTF8.self)))
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
    default: false
    }
  }
}
