import Godwit

/// One statement of a transaction, or several under a savepoint. Values are fixed; what they meet is not.
indirect enum Step: Sendable {
  /// INSERT, or REPLACE, of a whole row.
  case insert(table: Int, row: [Operand], replacing: Bool)
  /// UPDATE of one row, or of all.
  case update(table: Int, key: [Value]?, assignments: [(column: Int, value: Operand)])
  /// DELETE of one row, or of all that hold a value.
  case delete(table: Int, key: [Value])
  case deleteAll(table: Int, column: Int, value: Value)
  /// A change of the primary key.
  case rekey(table: Int, from: [Value], to: [Value])
  /// Through the model: insert when new, else the columns that differ.
  case save(tally: [Value])
  case savepoint([Step], rollsBack: Bool)
  /// A row of the table that never leaves.
  case scratch(String)
}

/// What a statement writes into a column.
enum Operand: Sendable {
  case value(Value)
  /// The key of a row of another table that is there: the first from this one on.
  case existing(table: String, from: Value)
  /// The column's value and this.
  case plus(Int64)
}

/// One write transaction.
struct Plan: Sendable {
  var steps: [Step]
  /// The program throws at the end.
  var fails: Bool
}

extension Operand {
  /// SQL for it; what is to be bound goes to the values.
  func sql(_ values: inout [Value], column: String) -> String {
    switch self {
    case .value(let value):
      values.append(value)
      return "?"
    case .existing(let table, let first):
      values.append(first)
      return "(SELECT id FROM \(table) WHERE id >= ? ORDER BY id LIMIT 1)"
    case .plus(let number):
      values.append(.integer(number))
      return "\(column) + ?"
    }
  }
}
