import GodwitBase

/// The closed language of checks and rules (Specs/expressions.md): one expression over its own column, which costs no
/// more than its value is long, gives the same for the same value on every replica, and reaches nothing else.
///
/// The text is read here and nowhere executed: what this type takes is what SQLite is given to compile.
package enum ExpressionLanguage {
  package static let byteLimit = 1_024
  /// Names, literals and marks.
  package static let wordLimit = 256
  /// How deep parentheses, calls, CASE and signs stand in each other.
  package static let depthLimit = 32
  /// Of LIKE and GLOB patterns, and of what instr and the trims look for.
  package static let patternByteLimit = 64
  /// LIKE, GLOB, instr and trims together: each goes over the value once for every byte of its pattern.
  package static let searchLimit = 8
  /// Each makes a text as long as both its sides.
  package static let concatenationLimit = 8

  /// The functions, with how many arguments each takes.
  package static let functions: [String: ClosedRange<Int>] = [
    "length": 1...1, "typeof": 1...1, "abs": 1...1, "round": 1...2, "lower": 1...1, "upper": 1...1, "trim": 1...2,
    "ltrim": 1...2, "rtrim": 1...2, "substr": 2...3, "instr": 2...2, "coalesce": 2...16, "ifnull": 2...2,
    "nullif": 2...2, "min": 2...16, "max": 2...16, "unicode": 1...1,
  ]
  /// All that SQLite may call for an expression: LIKE and GLOB are functions to it.
  package static let callable = Set(functions.keys).union(["like", "glob"])
  /// What a person who has to write another expression should know.
  package static let hint =
    "use the column's own name, literals, operators, CASE, IN, BETWEEN, LIKE, GLOB and the functions "
    + functions.keys.sorted().joined(separator: ", ")

  /// Words that are never a column without quotation marks around it.
  static let keywords: Set<String> = [
    "and", "or", "not", "is", "in", "like", "glob", "between", "isnull", "notnull", "null", "case", "when", "then",
    "else",
    "end", "cast", "as", "collate", "escape", "current_date", "current_time", "current_timestamp",
  ]
  static let types: Set<String> = ["integer", "int", "real", "text", "blob", "numeric"]
  static let collations: Set<String> = ["binary", "nocase", "rtrim"]

  /// Why the text is no expression over the column; nil when it is one.
  package static func problem(of text: String, over column: String) -> String? {
    guard text.utf8.count <= byteLimit else {
      return "has \(text.utf8.count) bytes, and \(byteLimit) are the limit"
    }
    do throws(ExpressionProblem) {
      var parser = ExpressionParser(try ExpressionScanner.tokens(of: text, limit: wordLimit), column: column)
      try parser.parse()
      return nil
    } catch {
      return error.reason
    }
  }
}

extension ColumnDefinition {
  /// Refuses a text that is no expression of the language over this column.
  ///
  /// - Parameter what: The expression, as the subject of a sentence.
  package func requireExpression(_ text: String, _ what: String, _ code: GodwitError.Code) throws {
    try ExpressionLanguage.require(text, over: name, what, code)
  }
}

extension ExpressionLanguage {
  /// Refuses a text that is no expression over the column.
  ///
  /// - Parameter what: The expression, as the subject of a sentence.
  package static func require(_ text: String, over column: String, _ what: String, _ code: GodwitError.Code) throws {
    guard let problem = problem(of: text, over: column) else { return }
    throw GodwitError(code, "\(what) \(problem)", hint: hint)
  }
}
