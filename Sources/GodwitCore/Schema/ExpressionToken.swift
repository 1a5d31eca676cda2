/// A word of the closed language of expressions (Specs/expressions.md, "Language").
enum ExpressionToken: Equatable {
  /// A number, a text, a blob; a text's content is what it says.
  case number
  case text(String)
  case blob
  /// A name without quotation marks, in small letters as far as SQLite knows a case.
  case word(String)
  /// A name between double quotation marks.
  case quoted(String)
  /// An operator or a mark.
  case mark(String)
}

/// Cuts a text into the words of the language. It knows fewer characters than SQLite does: what it does not know is
/// refused, so that both see the same words.
struct ExpressionScanner {
  private let text: [UInt8]
  private var place = 0

  private static let marks = [
    "||", "<<", "<=", "<>", ">>", ">=", "==", "!=", "(", ")", ",", "*", "/", "%", "+", "-", "&", "|", "<", ">", "=",
    "~",
  ].map { Array($0.utf8) }

  init(_ text: String) { self.text = Array(text.utf8) }

  /// Throws ``ExpressionProblem``.
  static func tokens(of text: String, limit: Int) throws(ExpressionProblem) -> [ExpressionToken] {
    var scanner = ExpressionScanner(text)
    var tokens: [ExpressionToken] = []
    while let token = try scanner.next() {
      guard tokens.count < limit else { throw ExpressionProblem("has more than \(limit) words") }
      tokens.append(token)
    }
    return tokens
  }

  private mutating func next() throws(ExpressionProblem) -> ExpressionToken? {
    while place < text.count, text[place] == 0x20 { place += 1 }
    guard place < text.count else { return nil }
    let byte = text[place]
    if byte == UInt8(ascii: "'") { return .text(try quotation(byte)) }
    if byte == UInt8(ascii: "\"") { return .quoted(try quotation(byte)) }
    if Self.isDigit(byte) || byte == UInt8(ascii: ".") { return try number() }
    if (byte | 0x20) == UInt8(ascii: "x"), place + 1 < text.count, text[place + 1] == UInt8(ascii: "'") {
      return try blob()
    }
    if Self.isInWord(byte) { return .word(word()) }
    // `--` and `/*` begin comments.
    if !rest.starts(with: [0x2D, 0x2D]), !rest.starts(with: [0x2F, 0x2A]),
      let mark = Self.marks.first(where: { rest.starts(with: $0) })
    {
      place += mark.count
      return .mark(String(decoding: mark, as: UTF8.self))
    }
    throw ExpressionProblem("has something in it that is no word of the language: \(SchemaName.shown(restText))")
  }

  private var rest: ArraySlice<UInt8> { text[place...] }
  private var restText: String { String(String(decoding: rest, as: UTF8.self).prefix(8)) }

  /// What stands between two marks; a doubled one stands for itself.
  private mutating func quotation(_ mark: UInt8) throws(ExpressionProblem) -> String {
    var content: [UInt8] = []
    place += 1
    while place < text.count {
      let byte = text[place]
      place += 1
      if byte == mark {
        guard place < text.count, text[place] == mark else { return String(decoding: content, as: UTF8.self) }
        place += 1
      }
      guard byte >= 0x20, byte != 0x7F else { throw ExpressionProblem("has a control character in it") }
      content.append(byte)
    }
    throw ExpressionProblem("has a quotation that does not end")
  }

  private mutating func number() throws(ExpressionProblem) -> ExpressionToken {
    let start = place
    if rest.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")])
      || rest.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "X")])
    {
      place += 2
      skip(Self.isHexadecimal)
      guard (1...16).contains(place - start - 2) else { throw ExpressionProblem("has a number that is none") }
    } else {
      var digits = skip(Self.isDigit)
      if place < text.count, text[place] == UInt8(ascii: ".") {
        place += 1
        digits += skip(Self.isDigit)
      }
      guard digits > 0 else { throw ExpressionProblem("has a full stop that belongs to no number") }
      if place < text.count, (text[place] | 0x20) == UInt8(ascii: "e") {
        place += 1
        if place < text.count, text[place] == UInt8(ascii: "+") || text[place] == UInt8(ascii: "-") { place += 1 }
        guard (1...3).contains(skip(Self.isDigit)) else { throw ExpressionProblem("has a number that is none") }
      }
    }
    guard place == text.count || !Self.isInWord(text[place]) else {
      throw ExpressionProblem("has a number that is none")
    }
    return .number
  }

  private mutating func blob() throws(ExpressionProblem) -> ExpressionToken {
    place += 2
    let digits = skip(Self.isHexadecimal)
    guard digits.isMultiple(of: 2), place < text.count, text[place] == UInt8(ascii: "'") else {
      throw ExpressionProblem("has a blob that is none")
    }
    place += 1
    return .blob
  }

  private mutating func word() -> String {
    let start = place
    skip(Self.isInWord)
    return String(decoding: text[start..<place].map(Self.smallLetter), as: UTF8.self)
  }

  @discardableResult
  private mutating func skip(_ belongs: (UInt8) -> Bool) -> Int {
    let start = place
    while place < text.count, belongs(text[place]) { place += 1 }
    return place - start
  }

  /// As SQLite compares names: by the case of ASCII alone.
  static func smallLetter(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  private static func isInWord(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte == UInt8(ascii: "_") || isDigit(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

/// Why a text is no expression of the language, as the end of a sentence about it.
package struct ExpressionProblem: Error, Equatable {
  package let reason: String

  init(_ reason: String) { self.reason = reason }
}
