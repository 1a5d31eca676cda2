import GodwitBase
import GodwitModel
import GodwitReplication

/// SQL in the making, for a collection as one connection knows it.
struct DocumentSQL {
  /// Nil when nothing is known of the collection: every member is taken for one with a column.
  let shape: CollectionShape?
  private(set) var text = ""
  private(set) var values: [Value] = []

  init(_ shape: CollectionShape?) { self.shape = shape }

  var sql: SQL { SQL(text: text, values: values) }

  mutating func add(_ part: String) { text += part }

  mutating func bind(_ value: Value) {
    text += "?"
    values.append(value)
  }

  /// What stands for a member's value; NULL for one that no document has.
  func expression(_ reference: MemberReference) throws -> String {
    guard case .member(let name) = reference else { return SQLName.quoted(CollectionTable.keyColumn) }
    guard let shape else { return SQLName.quoted(try CollectionTable.column(of: name)) }
    guard let member = shape[name] else { return "NULL" }
    func column(_ number: Int) -> String { SQLName.quoted(shape.columns[number]) }
    if let counter = member.counter {
      guard let plain = member.value.map(column) else { return column(counter) }
      return "(\(column(counter)) + CASE typeof(\(plain)) WHEN 'integer' THEN \(plain) ELSE 0 END)"
    }
    return (member.set ?? member.value).map(column) ?? "NULL"
  }

  mutating func add(_ node: DocumentCondition.Node) throws {
    switch node {
    case .compare(let reference, let comparison, let value): try add(reference, comparison, value)
    case .contains(let reference, let value): try addContains(reference, value)
    case .isIn(let reference, let values):
      let expression = try expression(reference)
      add("(0")
      for value in values {
        add(" OR ")
        try add(equality: expression, value)
      }
      add(")")
    case .exists(let reference): add("\(try expression(reference)) IS NOT NULL")
    case .not(let inner):
      // An absent member makes a comparison unknown, and its opposite is then true.
      add("NOT coalesce(")
      try add(inner)
      add(", 0)")
    case .and(let left, let right): try add(left, "AND", right)
    case .or(let left, let right): try add(left, "OR", right)
    }
  }

  private mutating func add(
    _ left: DocumentCondition.Node, _ word: String, _ right: DocumentCondition.Node
  ) throws {
    add("(")
    try add(left)
    add(" \(word) ")
    try add(right)
    add(")")
  }

  private mutating func add(
    _ reference: MemberReference, _ comparison: DocumentCondition.Comparison, _ value: JSON
  ) throws {
    let expression = try expression(reference)
    switch comparison {
    case .equal: try add(equality: expression, value)
    case .notEqual:
      guard value != .null else { return add("\(expression) IS NOT NULL") }
      add("(\(expression) IS NOT NULL AND NOT ")
      try add(equality: expression, value)
      add(")")
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      switch value {
      case .integer, .real: add("(typeof(\(expression)) IN ('integer', 'real') AND ")
      case .string: add("(typeof(\(expression)) = 'text' AND substr(\(expression), 1, 1) NOT IN ('[', '{') AND ")
      default:
        throw GodwitError(
          .invalidArgument, "only numbers and texts are less or greater", hint: "compare with = or <>")
      }
      add("\(expression) \(comparison.rawValue) ")
      bind(DocumentCell.value(of: value))
      add(")")
    }
  }

  private mutating func add(equality expression: String, _ value: JSON) throws {
    switch value {
    case .null: add("\(expression) IS NULL")
    case .bool(let wanted):
      add("(\(expression) IS NOT NULL AND \(wanted ? "" : "NOT ")")
      add("(typeof(\(expression)) IN ('integer', 'real') AND \(expression) <> 0 ")
      add("OR typeof(\(expression)) = 'text' AND lower(\(expression)) IN ('1', 'yes', 'true')))")
    default:
      add("\(expression) = ")
      bind(DocumentCell.value(of: value))
    }
  }

  private mutating func addContains(_ reference: MemberReference, _ value: JSON) throws {
    var expressions = [try expression(reference)]
    // What stands in a set's plain column has not been taken into the set yet.
    if case .member(let name) = reference, let shape, let member = shape[name], member.set != nil, member.counter == nil,
      let plain = member.value
    {
      expressions.append(SQLName.quoted(shape.columns[plain]))
    }
    add("(")
    for (index, expression) in expressions.enumerated() {
      if index > 0 { add(" OR ") }
      add("\(ContainsCheck.name)(\(expression), ")
      bind(DocumentCell.value(of: value))
      add(")")
    }
    add(")")
  }
}
