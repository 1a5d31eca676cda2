/// The words of a SQL statement, in capitals: no texts, quoted names, numbers or comments. As SQLite does, it takes all
/// beyond ASCII for letters, and has no other letter's capital for ASCII's.
struct SQLWords {
  private let words: [String]

  init(_ sql: String) {
    var words: [String] = []
    var rest = Substring(sql).utf8[...]
    while let first = rest.first {
      switch first {
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): Self.skip(&rest, to: first)
      case UInt8(ascii: "["): Self.skip(&rest, to: UInt8(ascii: "]"))
      case UInt8(ascii: "-") where rest.dropFirst().first == first: rest = rest.drop { $0 != 0x0A }
      case UInt8(ascii: "/") where rest.dropFirst().first == UInt8(ascii: "*"): Self.skipComment(&rest)
      case _ where Self.isPart(first):
        let word = rest.prefix(while: Self.isPart)
        rest = rest[word.endIndex...]
        words.append(ASCIICase.upper(String(decoding: word, as: UTF8.self)))
      default: rest = rest.dropFirst()
      }
    }
    self.words = words
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  private static func skip(_ rest: inout Substring.UTF8View, to end: UInt8) {
    rest = rest.dropFirst()
    guard let place = rest.firstIndex(of: end) else { return rest = rest[rest.endIndex...] }
    rest = rest[rest.index(after: place)...]
  }

  private static func skipComment(_ rest: inout Substring.UTF8View) {
    rest = rest.dropFirst(2)
    while let place = rest.firstIndex(of: UInt8(ascii: "*")) {
      rest = rest[rest.index(after: place)...]
      if rest.first == UInt8(ascii: "/") { return rest = rest.dropFirst() }
    }
    rest = rest[rest.endIndex...]
  }

  /// Whether these words stand there one after another.
  func contains(_ sequence: String...) -> Bool {
    words.indices.contains { words[$0...].starts(with: sequence) }
  }

  func starts(with sequence: String...) -> Bool { words.starts(with: sequence) }
}

enum ASCIICase {
  /// With capitals in the place of a to z, and nothing else changed.
  static func upper(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { (97...122).contains($0.value) ? Unicode.Scalar(UInt8($0.value - 32)) : $0 }))
  }
}
