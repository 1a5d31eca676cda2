/// Splits text in SQL, which may come in pieces, into its statements.
///
/// A statement ends where sqlite3_complete sees its end: at a semicolon that is in no text, quoted name or comment, and
/// of `CREATE TRIGGER` at the one after `; END`.
package struct SQLSplitter {
  /// One statement, from its first token on and without the semicolon.
  package struct Statement: Equatable, Sendable {
    package let text: String
    /// The line on which it begins, from 1.
    package let line: Int
    /// Its first word in capitals; empty when it begins with something else.
    package let firstWord: String
  }

  /// The states of sqlite3_complete: what a semicolon would end.
  private enum State {
    case start, normal, explain, create, trigger, semicolonInTrigger, endOfTrigger
  }

  private var lexer = SQLLexer()
  private var state = State.start
  private var bytes: [UInt8] = []
  private var firstWord: String?
  private var hasToken = false
  private var firstLine = 1
  private var line: Int

  /// - Parameter line: The number of the first line.
  package init(line: Int = 1) { self.line = line }

  /// Whether a statement, a text or a comment has begun and not ended.
  package var isInside: Bool { !bytes.isEmpty }

  /// How many bytes of that there are.
  package var byteCount: Int { bytes.count }

  /// Takes more text, and returns the statements that end in it.
  package mutating func append(_ text: some Sequence<UInt8>) -> [Statement] {
    var ended: [Statement] = []
    for byte in text {
      if take(byte) {
        if hasToken { ended.append(statement) }
        restart()
      }
      if byte == 0x0A { line += 1 }
    }
    return ended
  }

  /// Says that there is no more text, and returns the statement that no semicolon has ended.
  package mutating func finish() -> Statement? {
    var tokens: [SQLLexer.Token] = []
    lexer.finish { tokens.append($0) }
    for token in tokens { _ = step(token) }
    defer { restart() }
    return hasToken ? statement : nil
  }

  /// Forgets what has begun and not ended.
  package mutating func drop() {
    lexer = SQLLexer()
    restart()
  }

  /// All statements of a text, of which the last needs no semicolon.
  package static func statements(of text: some Sequence<UInt8>) -> [Statement] {
    var splitter = SQLSplitter()
    let ended = splitter.append(text)
    return ended + (splitter.finish().map { [$0] } ?? [])
  }

  private var statement: Statement {
    Statement(text: String(decoding: bytes, as: UTF8.self), line: firstLine, firstWord: firstWord ?? "")
  }

  private mutating func restart() {
    bytes.removeAll(keepingCapacity: true)
    (state, firstWord, hasToken) = (.start, nil, false)
  }

  /// Whether the byte is the semicolon that ends the statement, or stands alone.
  private mutating func take(_ byte: UInt8) -> Bool {
    // A byte ends one token at most, and begins another.
    var (first, second): (SQLLexer.Token?, SQLLexer.Token?) = (nil, nil)
    lexer.feed(byte) { token in
      if first == nil { first = token } else { second = token }
    }
    if let first, step(first) { return true }
    if let second, step(second) { return true }
    if bytes.isEmpty { firstLine = line }
    bytes.append(byte)
    // White space and comments before the first token.
    if !hasToken, lexer.isBetween { bytes.removeAll(keepingCapacity: true) }
    return false
  }

  /// Whether the token ends the statement.
  private mutating func step(_ token: SQLLexer.Token) -> Bool {
    guard token != .semicolon else {
      switch state {
      case .trigger, .semicolonInTrigger: state = .semicolonInTrigger
      default: return true
      }
      return false
    }
    var word = ""
    if case .word(let text) = token { word = text }
    if !hasToken { firstWord = word }
    hasToken = true
    state = next(word)
    return false
  }

  private func next(_ word: String) -> State {
    switch (state, word) {
    case (.start, "EXPLAIN"): .explain
    case (.start, "CREATE"), (.explain, "CREATE"), (.create, "TEMP"), (.create, "TEMPORARY"): .create
    case (.explain, "EXPLAIN"), (.explain, "TEMP"), (.explain, "TEMPORARY"), (.explain, "TRIGGER"), (.explain, "END"):
      .normal
    // QUERY PLAN.
    case (.explain, _): .explain
    case (.create, "TRIGGER"), (.trigger, _): .trigger
    case (.semicolonInTrigger, "END"): .endOfTrigger
    case (.semicolonInTrigger, _), (.endOfTrigger, _): .trigger
    default: .normal
    }
  }
}
