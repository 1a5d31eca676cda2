/// Reads an expression of the closed language by the precedence that SQLite gives its operators.
struct ExpressionParser {
  private let tokens: [ExpressionToken]
  private let column: [UInt8]
  private let columnName: String
  private var place = 0
  private var depth = 0
  private var searches = 0
  private var concatenations = 0

  /// Operators of two sides, the loosest first. Between the second and the third stand those of ``comparison()``.
  private static let binary: [Set<String>] = [
    ["<", "<=", ">", ">="], ["&", "|", "<<", ">>"], ["+", "-"], ["*", "/", "%"], ["||"],
  ]

  init(_ tokens: [ExpressionToken], column: String) {
    self.tokens = tokens
    self.column = column.utf8.map(ExpressionScanner.smallLetter)
    columnName = column
  }

  mutating func parse() throws(ExpressionProblem) {
    guard !tokens.isEmpty else { throw ExpressionProblem("is empty") }
    try expression()
    guard place == tokens.count else { throw unexpected() }
  }

  // MARK: Levels

  private mutating func expression() throws(ExpressionProblem) {
    try deeper { parser throws(ExpressionProblem) in
      try parser.negation()
      while parser.takeWord("or") || parser.takeWord("and") { try parser.negation() }
    }
  }

  private mutating func negation() throws(ExpressionProblem) {
    guard takeWord("not") else { return try comparison() }
    try deeper { parser throws(ExpressionProblem) in try parser.negation() }
  }

  /// Equality, IS, IN, LIKE, GLOB, BETWEEN and the tests for NULL, which SQLite gives one precedence.
  private mutating func comparison() throws(ExpressionProblem) {
    try operation(0)
    while place < tokens.count {
      if takeMark("=") || takeMark("==") || takeMark("<>") || takeMark("!=") {
        try operation(0)
      } else if takeWord("is") {
        _ = takeWord("not")
        try operation(0)
      } else if takeWord("isnull") || takeWord("notnull") {
        continue
      } else if takeWord("not") {
        if takeWord("null") { continue }
        guard try negatable() else { throw unexpected() }
      } else if try !negatable() {
        return
      }
    }
  }

  /// What NOT may stand before.
  private mutating func negatable() throws(ExpressionProblem) -> Bool {
    if takeWord("like") {
      try pattern(anyText: "%", afterSearch: true)
    } else if takeWord("glob") {
      try pattern(anyText: "*", afterSearch: false)
    } else if takeWord("between") {
      try operation(0)
      guard takeWord("and") else { throw unexpected() }
      try operation(0)
    } else if takeWord("in") {
      try list()
    } else {
      return false
    }
    return true
  }

  private mutating func operation(_ level: Int) throws(ExpressionProblem) {
    guard level < Self.binary.count else { return try signed() }
    try operation(level + 1)
    while case .mark(let mark)? = next, Self.binary[level].contains(mark) {
      place += 1
      if mark == "||" {
        concatenations += 1
        guard concatenations <= ExpressionLanguage.concatenationLimit else {
          throw ExpressionProblem("has more than \(ExpressionLanguage.concatenationLimit) of ||")
        }
      }
      try operation(level + 1)
    }
  }

  private mutating func signed() throws(ExpressionProblem) {
    if takeMark("-") || takeMark("+") || takeMark("~") {
      return try deeper { parser throws(ExpressionProblem) in try parser.signed() }
    }
    try primary()
    while takeWord("collate") {
      guard case .word(let name)? = next, ExpressionLanguage.collations.contains(name) else { throw unexpected() }
      place += 1
    }
  }

  private mutating func primary() throws(ExpressionProblem) {
    guard let token = next else { throw ExpressionProblem("ends where something should follow") }
    place += 1
    switch token {
    case .number, .text, .blob: return
    case .quoted(let name):
      guard isColumn(name) else {
        throw ExpressionProblem("names \(SchemaName.shown(name)), which is not its own column")
      }
    case .mark("("):
      try expression()
      try take(mark: ")")
    case .word("null"): return
    case .word("case"): try choice()
    case .word("cast"): try cast()
    case .word(let name):
      if case .mark("(")? = next { return try call(name) }
      guard !ExpressionLanguage.keywords.contains(name) else {
        place -= 1
        throw unexpected()
      }
      guard isColumn(name) else {
        throw ExpressionProblem("names \(SchemaName.shown(name)), which is not its own column")
      }
    case .mark:
      place -= 1
      throw unexpected()
    }
  }

  // MARK: Forms

  private mutating func choice() throws(ExpressionProblem) {
    try deeper { parser throws(ExpressionProblem) in
      if case .word("when")? = parser.next {} else { try parser.expression() }
      guard case .word("when")? = parser.next else { throw parser.unexpected() }
      while parser.takeWord("when") {
        try parser.expression()
        guard parser.takeWord("then") else { throw parser.unexpected() }
        try parser.expression()
      }
      if parser.takeWord("else") { try parser.expression() }
      guard parser.takeWord("end") else { throw parser.unexpected() }
    }
  }

  private mutating func cast() throws(ExpressionProblem) {
    try take(mark: "(")
    try expression()
    guard takeWord("as"), case .word(let type)? = next, ExpressionLanguage.types.contains(type) else {
      throw unexpected()
    }
    place += 1
    try take(mark: ")")
  }

  private mutating func call(_ name: String) throws(ExpressionProblem) {
    guard let counts = ExpressionLanguage.functions[name] else {
      throw ExpressionProblem("calls \(SchemaName.shown(name)), which is no function of the language")
    }
    try take(mark: "(")
    var count = 0
    repeat {
      count += 1
      if count == 2, name == "instr" || name.hasSuffix("trim") {
        try search()
        _ = try constant()
      } else {
        try expression()
      }
    } while takeMark(",")
    try take(mark: ")")
    guard counts.contains(count) else { throw ExpressionProblem("calls \(name) with \(count) arguments") }
  }

  private mutating func list() throws(ExpressionProblem) {
    try take(mark: "(")
    repeat {
      if takeMark("-") || takeMark("+") {
        guard case .number? = next else { throw unexpected() }
      }
      switch next {
      case .number?, .text?, .blob?, .word("null")?: place += 1
      default: throw unexpected()
      }
    } while takeMark(",")
    try take(mark: ")")
  }

  /// A pattern of LIKE or GLOB. SQLite tries each `%` and `*` at every place of the text, and what follows it anew each
  /// time: one of them that something follows is a walk over the text, two are the square of that.
  private mutating func pattern(anyText: Unicode.Scalar, afterSearch hasEscape: Bool) throws(ExpressionProblem) {
    try search()
    let pattern = try constant()
    let parts = pattern.unicodeScalars.split(separator: anyText, omittingEmptySubsequences: false).dropFirst()
    guard parts.filter({ !$0.isEmpty }).count <= 1 else {
      throw ExpressionProblem(
        "has a pattern with more than one \(anyText) that something follows: use two patterns, with AND between them")
    }
    if hasEscape, takeWord("escape") {
      guard case .text(let mark)? = next, mark.unicodeScalars.count == 1 else { throw unexpected() }
      place += 1
    }
    // What binds tighter would belong to the pattern.
    switch next {
    case .mark(let mark)? where mark != ")" && mark != ",": throw ExpressionProblem("has a pattern that is no constant")
    case .word("collate")?, .word("escape")?: throw ExpressionProblem("has a pattern that is no constant")
    default: return
    }
  }

  /// A text that something is searched for by.
  private mutating func constant() throws(ExpressionProblem) -> String {
    guard case .text(let text)? = next else { throw ExpressionProblem("has a pattern that is no constant") }
    guard text.utf8.count <= ExpressionLanguage.patternByteLimit else {
      throw ExpressionProblem("has a pattern of more than \(ExpressionLanguage.patternByteLimit) bytes")
    }
    place += 1
    return text
  }

  private mutating func search() throws(ExpressionProblem) {
    searches += 1
    guard searches <= ExpressionLanguage.searchLimit else {
      throw ExpressionProblem("searches its value more than \(ExpressionLanguage.searchLimit) times")
    }
  }

  // MARK: Words

  private var next: ExpressionToken? { place < tokens.count ? tokens[place] : nil }

  private func isColumn(_ name: String) -> Bool { name.utf8.map(ExpressionScanner.smallLetter) == column }

  private mutating func takeWord(_ word: String) -> Bool {
    guard next == .word(word) else { return false }
    place += 1
    return true
  }

  private mutating func takeMark(_ mark: String) -> Bool {
    guard next == .mark(mark) else { return false }
    place += 1
    return true
  }

  private mutating func take(mark: String) throws(ExpressionProblem) {
    guard takeMark(mark) else { throw unexpected() }
  }

  private func unexpected() -> ExpressionProblem {
    switch next {
    case nil: ExpressionProblem("ends where something should follow")
    case .word(let word)?: ExpressionProblem("has \(SchemaName.shown(word)) where that is not understood")
    case .mark(let mark)?: ExpressionProblem("has \(mark) where that is not understood")
    case .number?, .text?, .blob?, .quoted?: ExpressionProblem("has a literal where none is understood")
    }
  }

  private mutating func deeper(
    _ body: (inout ExpressionParser) throws(ExpressionProblem) -> Void
  ) throws(ExpressionProblem) {
    depth += 1
    guard depth <= ExpressionLanguage.depthLimit else {
      throw ExpressionProblem("is nested more than \(ExpressionLanguage.depthLimit) deep")
    }
    try body(&self)
    depth -= 1
  }
}
