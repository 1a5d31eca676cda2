import GodwitBase

// Keys of several columns, compared column by column.
extension SQLExpression where Value == Bool {
  /// Each column holds its value.
  init(keys columns: [SQLPart], _ values: [SQLPart], _ sign: String) {
    var parts: [SQLPart] = []
    parts.append(zip(columns, values).map { [$0, .text(" \(sign) "), $1] }, separatedBy: " AND ")
    self.init(parts, .and)
  }

  /// Whether one of the conditions holds, in a tree of little depth: SQLite's has a limit.
  init(anyOf conditions: ArraySlice<Self>) {
    switch conditions.count {
    case 0: self = .never
    case 1: self = conditions[conditions.startIndex]
    default:
      let middle = conditions.startIndex + conditions.count / 2
      let (left, right) = (Self(anyOf: conditions[..<middle]), Self(anyOf: conditions[middle...]))
      self.init([.text("(")] + left.parts + [.text(" OR ")] + right.parts + [.text(")")])
    }
  }
}

extension SQLExpression {
  private static var keyValueLimit: Int { 900 }

  /// Holds one of the keys.
  func isIn(_ keys: [SQLPart], _ columns: [SQLPart]) -> SQLExpression<Bool> {
    guard keys.count * columns.count <= Self.keyValueLimit else {
      return SQLExpression<Bool>([
        .failure(
          GodwitError(
            .invalidArgument, "a list of \(keys.count) keys of \(columns.count) columns is too long for one statement",
            hint: "ask for at most \(Self.keyValueLimit / columns.count) at a time"))
      ])
    }
    let sign = Value.isNullable ? "IS" : "="
    let conditions = keys.map { key in
      if case .key(let values) = key { return SQLExpression<Bool>(keys: columns, values, sign) }
      return SQLExpression<Bool>(keys: columns, columns.map { _ in key }, sign)  // nil, or what cannot be stored
    }
    return SQLExpression<Bool>(anyOf: conditions[...])
  }
}
