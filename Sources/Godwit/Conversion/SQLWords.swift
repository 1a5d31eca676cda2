import GodwitModel

/// The words of a SQL statement, in capitals: no texts, quoted names, numbers or comments.
struct SQLWords {
  private let words: [String]

  init(_ sql: String) {
    var words: [String] = []
    var lexer = SQLLexer()
    let add: (SQLLexer.Token) -> Void = { if case .word(let word) = $0 { words.append(word) } }
    for byte in sql.utf8 { lexer.feed(byte, add) }
    lexer.finish(add)
    self.words = words
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
