import GodwitBase
import GodwitModel
import GodwitCore

extension DocumentSQL {
  mutating func add(_ node: Document.Condition.Node) throws {
    switch node {
    case .and: try add(Self.chain(node)[...], "AND") { part, sql in try sql.add(part) }
    case .or: try add(Self.chain(node)[...], "OR") { part, sql in try sql.add(part) }
    case .not(let inner):
      // An absent member makes a comparison unknown, and its opposite is then true.
      add("NOT coalesce(")
      try nested(4) { try $0.add(inner) }
      add(", 0)")
    case .compare(let reference, let comparison, let value):
      try beginCondition()
      try add(reference, comparison, value)
    case .contains(let reference, let value):
      try beginCondition()
      try addContains(reference, value)
    case .isIn(let reference, let values):
      try beginCondition()
      try add(reference, isIn: values)
    case .exists(let reference):
      try beginCondition()
      add("\(try expression(reference)) IS NOT NULL")
    }
  }

  /// The parts of a chain of `and`, or of `or`, from left to right.
  private static func chain(_ node: Document.Condition.Node) -> [Document.Condition.Node] {
    var parts: [Document.Condition.Node] = []
    var rest = [node]
    while let next = rest.popLast() {
      switch (node, next) {
      case (.and, .and(let left, let right)), (.or, .or(let left, let right)): rest += [right, left]
      default: parts.append(next)
      }
    }
    return parts
  }

  private mutating func add(
    _ reference: MemberReference, _ comparison: Document.Condition.Comparison, _ value: JSON
  ) throws {
    switch comparison {
    case .equal: try add(reference, isIn: [value])
    case .notEqual:
      add("(\(try expression(reference)) IS NOT NULL AND NOT ")
      try add(reference, isIn: [value])
      add(")")
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      let expression = try expression(reference)
      switch value {
      case .string(let text) where reference == .key:
        add("(\(expression) \(comparison.rawValue) ")
        bind(.text(text))
      case .integer where reference == .key, .real where reference == .key: add("(0")
      case .integer, .real:
        add("(\(Self.isNumber(expression)) AND \(expression) \(comparison.rawValue) ")
        bind(DocumentCell.value(of: value))
      case .string(let text):
        add("(typeof(\(expression)) = 'text' AND substr(\(expression), 1, 1) NOT IN ('[', '{') AND ")
        add("\(Self.bytes(expression)) \(comparison.rawValue) ")
        bind(.blob(Array(text.utf8)))
      default:
        throw GodwitError(
          .invalidArgument, "only numbers and texts are less or greater", hint: "compare with = or <>")
      }
      add(")")
    }
  }

  // MARK: Equality

  /// Whether what stands there is one of the values: true, false, or unknown where nothing does.
  private mutating func add(_ reference: MemberReference, isIn values: [JSON]) throws {
    let expression = try expression(reference)
    var numbers: [Value] = []
    var others: [Value] = []
    var truths: Set<Bool> = []
    var hasNull = false
    add("(")
    for value in values {
      switch value {
      case .null: hasNull = true
      case .bool(let wanted): truths.insert(wanted)
      case .string(let text) where reference == .key: others.append(.text(text))
      // A whole number is a key as its digits.
      case .integer(let number) where reference == .key: others.append(.text(String(number)))
      case _ where reference == .key: break
      case .integer, .real: numbers.append(DocumentCell.value(of: value))
      default: others.append(DocumentCell.value(of: value))
      }
    }
    if hasNull { add("\(expression) IS NULL OR ") }
    for wanted in truths.sorted(by: { $0 && !$1 }) {
      add("(\(expression) IS NOT NULL AND \(wanted ? "" : "NOT ")\(Self.isTrue(expression))) OR ")
    }
    if !numbers.isEmpty {
      add("(\(Self.isNumber(expression)) AND ")
      add(expression, in: numbers)
      add(") OR ")
    }
    add(expression, in: others)
    add(")")
  }

  private mutating func add(_ expression: String, in values: [Value]) {
    guard let first = values.first else { return add("0") }
    guard values.count > 1 else {
      add("\(expression) = ")
      return bind(first)
    }
    add("\(expression) IN (")
    for (index, value) in values.enumerated() {
      if index > 0 { add(", ") }
      bind(value)
    }
    add(")")
  }

  // MARK: Contents

  private mutating func addContains(_ reference: MemberReference, _ value: JSON) throws {
    guard reference != .key else {
      guard case .string(let part) = value else { return add("0") }
      add("instr(\(Self.key), ")
      bind(.text(part))
      return add(") > 0")
    }
    var expressions = [try expression(reference)]
    // What stands in a set's plain column has not been taken into the set yet.
    if case .member(let name) = reference, let shape, let member = shape[name], member.set != nil,
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
