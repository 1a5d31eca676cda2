import Foundation
import GodwitBase
import GodwitModel
import GodwitCore

/// Reads conditions and orders from text (Specs/documents.md, "Queries"). What does not parse is `invalidArgument` with
/// its column.
struct DocumentConditionParser {
  private var tokens: ArraySlice<Token>
  private let end: Int
  private var depth = 0
  private static let depthLimit = 64
  /// Far beyond what a person writes, and within what SQLite takes.
  private static let conditionLimit = 200
  private var conditionCount = 0

  private struct Token {
    enum Kind: Equatable {
      /// Letters; names and words of the language.
      case word(String)
      /// In double quotes: a name, or a text where a value belongs.
      case quoted(String)
      /// In single quotes: a text.
      case text(String)
      case number(JSON)
      case symbol(String)
    }

    let kind: Kind
    let column: Int
  }

  static func condition(_ text: String) throws -> Document.Condition {
    var parser = try DocumentConditionParser(text)
    let node = try parser.alternatives()
    try parser.expectEnd()
    return Document.Condition(node)
  }

  static func orders(_ text: String) throws -> [Document.Order] {
    var parser = try DocumentConditionParser(text)
    var orders: [Document.Order] = []
    repeat {
      let name = try parser.name()
      let isDescending = parser.takeWord("desc")
      if !isDescending { _ = parser.takeWord("asc") }
      orders.append(.by(name, isDescending: isDescending))
    } while parser.takeSymbol(",")
    try parser.expectEnd()
    return orders
  }

  // MARK: Grammar

  private mutating func alternatives() throws -> Document.Condition.Node {
    var node = try set()
    while takeWord("or") { node = .or(node, try set()) }
    return node
  }

  private mutating func set() throws -> Document.Condition.Node {
    var node = try factor()
    while takeWord("and") { node = .and(node, try factor()) }
    return node
  }

  private mutating func factor() throws -> Document.Condition.Node {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else { throw failure("is nested too deep") }
    if takeWord("not") { return .not(try factor()) }
    guard takeSymbol("(") else { return try comparison() }
    let node = try alternatives()
    try expectSymbol(")")
    return node
  }

  private mutating func comparison() throws -> Document.Condition.Node {
    conditionCount += 1
    guard conditionCount <= Self.conditionLimit else {
      throw failure("has more than \(Self.conditionLimit) conditions")
    }
    let name = try name()
    let reference: MemberReference = name == CollectionTable.keyColumn ? .key : .member(name)
    if takeWord("contains") { return .contains(reference, try value()) }
    if takeWord("in") { return .isIn(reference, try list()) }
    if takeWord("is") {
      let isNegated = takeWord("not")
      guard takeWord("null") else { throw failure("has no null after is") }
      return isNegated ? .exists(reference) : .not(.exists(reference))
    }
    for (symbol, comparison) in Self.comparisons where takeSymbol(symbol) {
      return .compare(reference, comparison, try value())
    }
    throw failure("has no comparison after a name")
  }

  private static let comparisons: [(String, Document.Condition.Comparison)] = [
    ("=", .equal), ("==", .equal), ("<>", .notEqual), ("!=", .notEqual), ("<", .less), ("<=", .lessOrEqual),
    (">", .greater), (">=", .greaterOrEqual),
  ]

  private mutating func list() throws -> [JSON] {
    try expectSymbol("(")
    var values = [try value()]
    while takeSymbol(",") { values.append(try value()) }
    try expectSymbol(")")
    return values
  }

  private mutating func name() throws -> String {
    switch tokens.first?.kind {
    case .word(let name) where name.contains("."):
      throw failure("has a name with a dot, and sees no members of members; a member that is called so is quoted")
    case .word(let name), .quoted(let name):
      tokens.removeFirst()
      return name
    default: throw failure("has no name where one belongs")
    }
  }

  private mutating func value() throws -> JSON {
    switch tokens.first?.kind {
    case .text(let text), .quoted(let text):
      tokens.removeFirst()
      return .string(text)
    case .number(let number):
      tokens.removeFirst()
      return number
    case .word:
      if takeWord("true") { return .bool(true) }
      if takeWord("false") { return .bool(false) }
    default: break
    }
    throw failure("has no value where one belongs", hint: "texts stand in quotes: name = 'Ada'")
  }

  private mutating func takeWord(_ word: String) -> Bool {
    guard case .word(let next)? = tokens.first?.kind, next.lowercased() == word else { return false }
    tokens.removeFirst()
    return true
  }

  private mutating func takeSymbol(_ symbol: String) -> Bool {
    guard tokens.first?.kind == .symbol(symbol) else { return false }
    tokens.removeFirst()
    return true
  }

  private mutating func expectSymbol(_ symbol: String) throws {
    guard takeSymbol(symbol) else { throw failure("has no \(symbol) where one belongs") }
  }

  private func expectEnd() throws {
    guard tokens.isEmpty else { throw failure("continues where it should end") }
  }

  private func failure(_ what: String, hint: String? = nil) -> GodwitError {
    Self.failure(what, at: tokens.first?.column ?? end, hint: hint)
  }

  private static func failure(_ what: String, at column: Int, hint: String? = nil) -> GodwitError {
    GodwitError(.invalidArgument, "the condition or order \(what), at column \(column)", hint: hint)
  }

  // MARK: Words

  /// Goes by unicode scalars: a mark or a modifier behind a quote belongs to the text and not to the quote.
  private init(_ text: String) throws {
    let scalars = Array(text.unicodeScalars)
    var tokens: [Token] = []
    var place = 0
    while place < scalars.count {
      let start = place
      let scalar = scalars[place]
      if scalar.properties.isWhitespace {
        place += 1
        continue
      }
      let kind: Token.Kind
      if scalar == "\"" || scalar == "'" {
        let content = try Self.quoted(scalars, &place)
        kind = scalar == "\"" ? .quoted(content) : .text(content)
      } else if Self.isDigit(scalar) || scalar == "-" || scalar == "+" {
        kind = try Self.number(scalars, &place)
      } else if Self.beginsName(scalar) {
        kind = .word(Self.word(scalars, &place))
      } else {
        kind = try Self.symbol(scalars, &place)
      }
      tokens.append(Token(kind: kind, column: start + 1))
    }
    self.tokens = tokens[...]
    end = scalars.count + 1
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar == "." || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
  }

  /// Marks, and what joins letters, continue a name.
  private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    beginsName(scalar) || scalar.properties.isGraphemeExtend || scalar.properties.isJoinControl
      || scalar.properties.generalCategory == .spacingMark
  }

  private static func word(_ scalars: [Unicode.Scalar], from start: Int? = nil, _ place: inout Int) -> String {
    let start = start ?? place
    while place < scalars.count, continuesName(scalars[place]) { place += 1 }
    return text(scalars[start..<place])
  }

  private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }

  private static func quoted(_ scalars: [Unicode.Scalar], _ place: inout Int) throws -> String {
    let start = place
    let quote = scalars[place]
    var content = String.UnicodeScalarView()
    place += 1
    while place < scalars.count {
      if scalars[place] == quote {
        place += 1
        // Doubled, it is one of the text's own.
        guard place < scalars.count, scalars[place] == quote else { return String(content) }
      }
      content.append(scalars[place])
      place += 1
    }
    throw failure("has a quote that is not closed", at: start + 1)
  }

  private static func number(_ scalars: [Unicode.Scalar], _ place: inout Int) throws -> Token.Kind {
    let start = place
    place += 1
    while place < scalars.count {
      let isSign = scalars[place] == "+" || scalars[place] == "-"
      let isPart = isDigit(scalars[place]) || ".eE".unicodeScalars.contains(scalars[place])
      guard isPart || isSign && "eE".unicodeScalars.contains(scalars[place - 1]) else { break }
      place += 1
    }
    let text = text(scalars[start..<place])
    guard let number = try? JSON(text: text.hasPrefix("+") ? String(text.dropFirst()) : text) else {
      // Names may begin with a digit.
      guard isDigit(scalars[start]) else { throw failure("has a number that is none", at: start + 1) }
      return .word(word(scalars, from: start, &place))
    }
    guard place < scalars.count, continuesName(scalars[place]) else { return .number(number) }
    return .word(word(scalars, from: start, &place))
  }

  private static func symbol(_ scalars: [Unicode.Scalar], _ place: inout Int) throws -> Token.Kind {
    for length in [2, 1] where place + length <= scalars.count {
      let symbol = text(scalars[place..<place + length])
      if ["<>", "!=", "<=", ">=", "==", "=", "<", ">", "(", ")", ","].contains(symbol) {
        place += length
        return .symbol(symbol)
      }
    }
    throw failure("has a character that means nothing there", at: place + 1)
  }
}
