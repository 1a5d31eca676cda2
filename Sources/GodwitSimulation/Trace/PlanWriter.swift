import Godwit

/// Makes transactions. Each world uses some of the tables, so that its few writes meet.
struct PlanWriter {
  private let tables: [Int]
  private let changesKeys: Bool
  /// The latest that a program of the world has.
  private let version: Int

  init(_ generator: inout SeededGenerator, faults: Fault, version: Int) {
    self.version = version
    changesKeys = faults.contains(.rekeys)
    // What can be held back more often than what cannot.
    let families = [
      ["tally"], ["tally"], ["guest"], ["guest"], ["shelf", "book"], ["guest", "loan"],
      ["shelf", "book", "loan", "guest"],
      ["shelf", "book", "loan", "guest"], ["dancer"], ["leaf"], ["leaf"], ["ticket"], ["seat"],
    ]
    let versionFamilies = version > 1 ? [["scratch"], ["badge", "guest"], ["seat"], ["leaf", "guest"]] : []
    let treeFamilies = faults.contains(.trees) ? [["twig"], ["twig"], ["twig", "tally"]] : []
    var chosen: Set<String> = []
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      chosen.formUnion((families + versionFamilies + treeFamilies).randomElement(using: &generator) ?? [])
    }
    if generator.chance(oneIn: 6) {
      chosen = Set(TableShape.all.filter { $0.versions.lowerBound <= version }.map(\.name))
      if !faults.contains(.trees) { chosen.remove("twig") }
    }
    tables = chosen.compactMap { TableShape.numbers[$0] }.sorted()
  }

  /// Those that some program of the world has.
  private func columns(_ shape: TableShape) -> [Int] {
    shape.columns.indices.filter { shape.columns[$0].versions.lowerBound <= version }
  }

  /// Some rows of each table.
  func beginning(_ generator: inout SeededGenerator) -> Plan {
    var steps: [Step] = []
    for table in tables + tables {
      let shape = TableShape.all[table]
      for _ in 0..<2 { steps.append(.insert(table: table, row: row(shape, &generator), replacing: false)) }
    }
    return Plan(steps: steps, fails: false)
  }

  func plan(_ generator: inout SeededGenerator) -> Plan {
    let count = [1, 1, 1, 2, 2, 3, 5].randomElement(using: &generator) ?? 1
    return Plan(steps: (0..<count).map { _ in step(&generator) }, fails: generator.chance(oneIn: 15))
  }

  private func step(_ generator: inout SeededGenerator) -> Step {
    let table = tables.randomElement(using: &generator) ?? 0
    let shape = TableShape.all[table]
    switch Int.random(in: 0..<24, using: &generator) {
    case 0..<7: return .insert(table: table, row: row(shape, &generator), replacing: false)
    case 7: return .insert(table: table, row: row(shape, &generator), replacing: true)
    case 8..<15: return update(table, key: key(shape, &generator), &generator)
    case 15: return update(table, key: nil, &generator)
    case 16..<19: return .delete(table: table, key: key(shape, &generator))
    case 19:
      let column = columns(shape).randomElement(using: &generator) ?? 0
      return .deleteAll(table: table, column: column, value: shape.columns[column].random(&generator))
    case 20 where changesKeys:
      return .rekey(table: table, from: key(shape, &generator), to: key(shape, &generator))
    case 21 where shape.name == "tally": return .save(tally: writtenColumns(shape).map { $0.random(&generator) })
    case 22:
      let steps = (0..<Int.random(in: 1...2, using: &generator)).map { _ in step(&generator) }
      return .savepoint(steps, rollsBack: Bool.random(using: &generator))
    case 23: return .scratch("x\(Int.random(in: 0..<3, using: &generator))")
    default: return .insert(table: table, row: row(shape, &generator), replacing: false)
    }
  }

  private func key(_ shape: TableShape, _ generator: inout SeededGenerator) -> [Value] {
    shape.columns.prefix(shape.keyCount).map { $0.random(&generator) }
  }

  private func row(_ shape: TableShape, _ generator: inout SeededGenerator) -> [Operand] {
    writtenColumns(shape).map { operand($0, &generator) }
  }

  /// Those of a whole row. Version 1 is drawn for in every world.
  private func writtenColumns(_ shape: TableShape) -> [TableShape.ColumnShape] {
    shape.columns.filter { $0.versions.lowerBound <= max(version, 1) }
  }

  private func operand(_ column: TableShape.ColumnShape, _ generator: inout SeededGenerator) -> Operand {
    let value = column.random(&generator)
    guard let reference = column.reference else { return .value(value) }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<3: return .value(.null)
    case 3: return .value(value)
    default: return .existing(table: reference.table, from: value)
    }
  }

  private func update(_ table: Int, key: [Value]?, _ generator: inout SeededGenerator) -> Step {
    let shape = TableShape.all[table]
    let others = columns(shape).dropFirst(shape.keyCount)
    let count = generator.chance(oneIn: 3) ? 2 : 1
    var columns = Set<Int>()
    for _ in 0..<count { columns.insert(others.randomElement(using: &generator) ?? shape.keyCount) }
    let assignments = columns.sorted().map { number -> (column: Int, value: Operand) in
      let column = shape.columns[number]
      if column.policy == .counter, generator.chance(oneIn: 2) {
        return (number, .plus(Int64.random(in: -2...5, using: &generator)))
      }
      return (number, operand(column, &generator))
    }
    return .update(table: table, key: key, assignments: assignments)
  }
}
