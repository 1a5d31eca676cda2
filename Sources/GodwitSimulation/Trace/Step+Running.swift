import Godwit

/// A program that changed its mind.
struct ChangeOfMind: Error {}

extension Plan {
  /// Runs the plan as a program of some version, and returns what it did to the tables, which may be of a later one. A
  /// statement that breaks a constraint is one that did nothing.
  func run(_ transaction: Transaction, owner: Int, program: Int, version: Int) throws -> [HistoricOperation] {
    let before = try Tables(reading: transaction, at: version)
    let run = StepRun(transaction: transaction, owner: owner, version: program)
    for step in steps { try run.run(step) }
    if fails { throw ChangeOfMind() }
    return try Tables(reading: transaction, at: version).operations(since: before)
  }
}

extension Step {
  fileprivate var isSavepoint: Bool {
    if case .savepoint = self { return true }
    return false
  }
}

/// Runs the statements of one transaction.
private struct StepRun {
  let transaction: Transaction
  let owner: Int
  let version: Int

  func run(_ step: Step) throws {
    do {
      try runOnce(step)
    } catch let error as GodwitError where error.code == .constraint {
    } catch is ChangeOfMind where step.isSavepoint {
    }
  }

  private func runOnce(_ step: Step) throws {
    switch step {
    case .insert(let table, let row, let isReplacing): try insert(row, into: TableShape.all[table], isReplacing)
    case .update(let table, let key, let assignments): try update(TableShape.all[table], key, assignments)
    case .delete(let table, let key):
      let shape = TableShape.all[table]
      try execute(on: shape, values: key) { "DELETE FROM \($0) WHERE \(shape.keyCondition)" }
    case .deleteAll(let table, let column, let value):
      let shape = TableShape.all[table]
      guard let name = shape.name(of: column, at: version) else { return }
      try execute(on: shape, values: [shown(value, in: shape.columns[column])]) {
        "DELETE FROM \($0) WHERE \"\(name)\" = ?"
      }
    case .rekey(let table, let from, let to):
      let shape = TableShape.all[table]
      let names = shape.columns.prefix(shape.keyCount).map { "\"\($0.name)\" = ?" }.joined(separator: ", ")
      try execute(on: shape, values: to + from) { "UPDATE \($0) SET \(names) WHERE \(shape.keyCondition)" }
    case .save(let tally):
      // The model is of programs of versions 0 to 2.
      if version < 3 { _ = try transaction.save(Tally(tally)) }
    case .savepoint(let steps, let rollsBack):
      try transaction.savepoint {
        for step in steps { try run(step) }
        if rollsBack { throw ChangeOfMind() }
      }
    case .scratch(let id):
      try transaction.execute("INSERT OR REPLACE INTO scratch (id, owner) VALUES (\(id), \(owner))")
    }
  }

  /// Runs a statement on a table, by the name it has in this version; nothing when it is not there, or local.
  private func execute(on shape: TableShape, values: [Value], _ text: (String) -> String) throws {
    guard let table = shape.name(at: version) else { return }
    try transaction.execute(SQL(text: text(table), values: values))
  }

  private func insert(_ row: [Operand], into shape: TableShape, _ isReplacing: Bool) throws {
    var text: [String] = []
    var names: [String] = []
    var values: [Value] = []
    for (column, operand) in row.enumerated() {
      guard let name = shape.name(of: column, at: version) else { continue }
      names.append("\"\(name)\"")
      text.append(shown(operand, in: shape.columns[column]).sql(&values, column: name))
    }
    let verb = isReplacing ? "INSERT OR REPLACE" : "INSERT"
    let list = "\(names.joined(separator: ", "))) VALUES (\(text.joined(separator: ", "))"
    try execute(on: shape, values: values) { "\(verb) INTO \($0) (\(list))" }
  }

  private func update(
    _ shape: TableShape, _ key: [Value]?, _ assignments: [(column: Int, value: Operand)]
  ) throws {
    var text: [String] = []
    var values: [Value] = []
    for assignment in assignments {
      guard let name = shape.name(of: assignment.column, at: version).map({ "\"\($0)\"" }) else { continue }
      text.append(
        "\(name) = \(shown(assignment.value, in: shape.columns[assignment.column]).sql(&values, column: name))")
    }
    guard !text.isEmpty else { return }
    let condition = key == nil ? "" : " WHERE \(shape.keyCondition)"
    try execute(on: shape, values: values + (key ?? [])) {
      "UPDATE \($0) SET \(text.joined(separator: ", "))\(condition)"
    }
  }

  private func shown(_ operand: Operand, in column: TableShape.ColumnShape) -> Operand {
    guard case .value(let value) = operand else { return operand }
    return .value(shown(value, in: column))
  }

  /// Plans know no version. A value is of the type that the column has in this one.
  private func shown(_ value: Value, in column: TableShape.ColumnShape) -> Value {
    column.conversions.filter { $0.changesType && $0.version <= version }.reduce(value) { $1.rule($0) }
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
