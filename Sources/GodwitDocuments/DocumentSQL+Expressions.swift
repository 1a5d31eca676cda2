import GodwitModel
import GodwitCore

// What stands for members in SQL. Strings are stored with a mark where they could be taken for JSON; keys are not.
extension DocumentSQL {
  static let key = SQLName.quoted(CollectionTable.keyColumn)

  /// What stands for a member's stored value; NULL for one that no document has.
  func expression(_ reference: MemberReference) throws -> String {
    guard case .member(let name) = reference else { return Self.key }
    guard let shape else { return SQLName.quoted(try CollectionTable.column(of: name)) }
    guard let member = shape[name] else {
      // No document can have such a name: that is a slip, whether there are documents or not.
      _ = try CollectionTable.column(of: name)
      return "NULL"
    }
    func column(_ number: Int?) -> String? { number.map { SQLName.quoted(shape.columns[$0]) } }
    let (value, counter, set) = (column(member.value), column(member.counter), column(member.set))
    guard let plain = value ?? (counter == nil || set == nil ? nil : "NULL") else { return counter ?? set ?? "NULL" }
    let isArray = "substr(\(plain), 1, 1) = '['"
    // As CollectionShape.Member.shown(_:hasElements:) has it.
    switch (counter, set) {
    case (nil, nil): return plain
    case (let counter?, nil):
      return
        "CASE typeof(\(plain)) WHEN 'null' THEN \(counter) WHEN 'integer' THEN \(counter) + \(plain) ELSE \(plain) END"
    case (nil, let set?):
      return
        "CASE WHEN \(plain) IS NULL OR \(isArray) AND \(set) <> '[]' THEN \(set) ELSE \(plain) END"
    case (let counter?, let set?):
      return "CASE WHEN \(set) <> '[]' AND (\(isArray) OR typeof(\(plain)) IN ('null', 'integer')) THEN \(set) "
        + "WHEN \(plain) IS NULL THEN \(counter) WHEN typeof(\(plain)) = 'integer' THEN \(counter) + \(plain) ELSE \(plain) END"
    }
  }

  /// A text as its own bytes, without the mark; anything else as it is.
  static func bytes(_ expression: String) -> String {
    "CASE typeof(\(expression)) WHEN 'text' THEN CASE substr(\(expression), 1, 1) WHEN '\\' "
      + "THEN substr(CAST(\(expression) AS BLOB), 2) ELSE CAST(\(expression) AS BLOB) END ELSE \(expression) END"
  }

  /// What documents are ordered by.
  func order(_ reference: MemberReference) throws -> String {
    let expression = try expression(reference)
    return reference == .key ? expression : Self.bytes(expression)
  }

  /// Whether a value is a number, and not true or false, which are stored as real numbers.
  static func isNumber(_ expression: String) -> String {
    "(typeof(\(expression)) = 'integer' OR typeof(\(expression)) = 'real' AND NOT \(TruthCheck.name)(\(expression)))"
  }

  /// Whether a value is true, as a Bool.
  static func isTrue(_ expression: String) -> String {
    "(typeof(\(expression)) IN ('integer', 'real') AND \(expression) <> 0 "
      + "OR typeof(\(expression)) = 'text' AND lower(\(expression)) IN ('1', 'yes', 'true'))"
  }
}
