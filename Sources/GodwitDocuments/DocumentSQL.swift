import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine

/// SQL in the making, for a collection as one connection knows it.
struct DocumentSQL {
  /// Nil when nothing is known of the collection: every member is taken for one with a column.
  let shape: CollectionShape?
  private var text = ""
  private var values: [Value] = []
  /// SQLite takes expressions of 1,000 parts in depth, which a chain of comparisons is when it is halved.
  private static let conditionLimit = 1_000
  /// SQLite's parser has a stack of 100 in old versions. The rest of a statement has its share of it, and so has the
  /// expression for a member that is declared as both a counter and a set, in a comparison of texts.
  private static let depthLimit = 48
  /// SQLite takes statements of a million bytes; something of Godwit's own may stand around this one.
  private static let byteLimit = 990_000
  private var conditionCount = 0
  private var depth = 0

  init(_ shape: CollectionShape?) { self.shape = shape }

  /// What has been written. Throws `limitExceeded` for more values than a statement binds.
  func sql() throws -> SQL {
    guard values.count <= TableRows.boundValueLimit else {
      throw GodwitError(
        .limitExceeded, "the request has \(values.count) values; \(TableRows.boundValueLimit) are allowed",
        hint: "ask for some of them at a time")
    }
    guard text.utf8.count <= Self.byteLimit else { throw Self.tooMany("is longer than SQLite takes, as SQL") }
    return SQL(text: text, values: values)
  }

  mutating func add(_ part: String) { text += part }

  mutating func bind(_ value: Value) {
    text += "?"
    values.append(value)
  }

  /// Writes parts with a word between them. Halved, since SQLite limits how deep an expression is.
  mutating func add<Part>(
    _ parts: ArraySlice<Part>, _ word: String, _ write: (Part, inout DocumentSQL) throws -> Void
  ) throws {
    guard parts.count > 1 else {
      if let part = parts.first { try write(part, &self) }
      return
    }
    let middle = parts.startIndex + parts.count / 2
    // A parenthesis, the left side, the word.
    try nested(3) { sql in
      sql.add("(")
      try sql.add(parts[..<middle], word, write)
      sql.add(" \(word) ")
      try sql.add(parts[middle...], word, write)
      sql.add(")")
    }
  }

  /// Goes down by so many symbols that the parser keeps in mind.
  mutating func nested(_ symbols: Int, _ body: (inout DocumentSQL) throws -> Void) throws {
    depth += symbols
    defer { depth -= symbols }
    guard depth <= Self.depthLimit else { throw Self.tooMany("is nested too deep") }
    try body(&self)
  }

  /// Counts a comparison.
  mutating func beginCondition() throws {
    conditionCount += 1
    guard conditionCount <= Self.conditionLimit else {
      throw Self.tooMany("has more than \(Self.conditionLimit) comparisons")
    }
  }

  private static func tooMany(_ what: String) -> GodwitError {
    GodwitError(.limitExceeded, "the condition \(what)", hint: "ask in several requests")
  }
}
