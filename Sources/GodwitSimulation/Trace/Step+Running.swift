import Godwit

/// A program that changed its mind.
struct ChangeOfMind: Error {}

extension Plan {
  /// Runs the plan. A statement that breaks a constraint is one that did nothing.
  func run(_ transaction: Transaction, owner: Int) throws {
    for step in steps { try step.run(transaction, owner) }
    if fails { throw ChangeOfMind() }
  }
}

extension Step {
  fileprivate func run(_ transaction: Transaction, _ owner: Int) throws {
    do {
      try runOnce(transaction, owner)
    } catch let error as GodwitError where error.code == .constraint {
    } catch is ChangeOfMind where isSavepoint {
    }
  }

  private var isSavepoint: Bool {
    if case .savepoint = self { return true }
    return false
  }

  private func runOnce(_ transaction: Transaction, _ owner: Int) throws {
    switch self {
    case .insert(let table, let row, let isReplacing):
      let shape = TableShape.all[table]
      var text = ""
      var values: [Value] = []
      for (number, operand) in row.enumerated() {
        if number > 0 { text += ", " }
        operand.append(to: &text, &values, column: shape.columns[number].name)
      }
      let names = shape.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
      let verb = isReplacing ? "INSERT OR REPLACE" : "INSERT"
      try transaction.execute(SQL(text: "\(verb) INTO \(shape.name) (\(names)) VALUES (\(text))", values: values))
    case .update(let table, let key, let assignments):
      let shape = TableShape.all[table]
      var text = "UPDATE \(shape.name) SET "
      var values: [Value] = []
      for (number, assignment) in assignments.enumerated() {
        let name = "\"\(shape.columns[assignment.column].name)\""
        text += "\(number > 0 ? ", " : "")\(name) = "
        assignment.value.append(to: &text, &values, column: name)
      }
      if let key { text += " WHERE \(shape.keyCondition)"; values += key }
      try transaction.execute(SQL(text: text, values: values))
    case .delete(let table, let key):
      let shape = TableShape.all[table]
      try transaction.execute(SQL(text: "DELETE FROM \(shape.name) WHERE \(shape.keyCondition)", values: key))
    case .deleteAll(let table, let column, let value):
      let shape = TableShape.all[table]
      let name = shape.columns[column].name
      try transaction.execute(SQL(text: "DELETE FROM \(shape.name) WHERE \"\(name)\" = ?", values: [value]))
    case .rekey(let table, let from, let to):
      let shape = TableShape.all[table]
      let names = shape.columns.prefix(shape.keyCount).map { "\"\($0.name)\" = ?" }.joined(separator: ", ")
      try transaction.execute(
        SQL(text: "UPDATE \(shape.name) SET \(names) WHERE \(shape.keyCondition)", values: to + from))
    case .save(let tally): _ = try transaction.save(Tally(tally))
    case .savepoint(let steps, let rollsBack):
      try transaction.savepoint {
        for step in steps { try step.run(transaction, owner) }
        if rollsBack { throw ChangeOfMind() }
      }
    case .scratch(let id):
      try transaction.execute("INSERT OR REPLACE INTO scratch (id, owner) VALUES (\(id), \(owner))")
    }
  }
}

extension TableShape {
  fileprivate var keyCondition: String {
    columns.prefix(keyCount).map { "\"\($0.name)\" = ?" }.joined(separator: " AND ")
  }
}

extension Tally {
  /// A row in the order of the columns.
  fileprivate init(_ row: [Value]) {
    func text(_ index: Int) -> String { if case .text(let text) = row[index] { text } else { "" } }
    func integer(_ index: Int) -> Int? { if case .integer(let number) = row[index] { Int(number) } else { nil } }
    self.init()
    id = text(0)
    word = text(1)
    if case .real(let number) = row[2] { ratio = number }
    views = integer(3) ?? 0
    tags = SetText.elements(row[4])
    high = integer(5) ?? 0
    low = integer(6) ?? 0
    longest = text(7)
  }
}
