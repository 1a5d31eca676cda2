import Godwit
import GodwitBase
import GodwitCore

/// Makes change sets as a program of some schema version could, or could not.
struct HostileChanges {
  /// What is odd about them; nothing by default.
  enum Oddity {
    case extremeValues
    case strangeTables
    case strangeColumns
    case strangeValues
    case repeatedRow
    case nullKey
    case brokenSet
  }

  private let version: Int
  private let oddity: Oddity?
  /// The rows that may be updated; nil for any.
  private let updatable: Set<RowName>?
  /// The tables of the world; the last one is of some alone.
  private var among = TableShape.all.indices.dropLast()
  private var tables: [ChangeSet.Table] = []
  private var operations = ByteWriter()
  private var rows: Set<RowName> = []
  private var count = 0

  /// The bytes of a change set with some operations on some of the tables.
  static func random(
    at version: Int, _ oddity: Oddity?, updating updatable: Set<RowName>?, hasTrees: Bool,
    _ generator: inout SeededGenerator
  ) -> [UInt8] {
    var changes = HostileChanges(version, oddity, updatable)
    if hasTrees { changes.among = TableShape.all.indices }
    let wanted = [1, 1, 2, 3, 6].randomElement(using: &generator) ?? 1
    while changes.count < wanted { changes.addOperation(&generator) }
    if oddity == .strangeTables { changes.addStrangeTable(&generator) }
    return changes.bytes
  }

  private init(_ version: Int, _ oddity: Oddity?, _ updatable: Set<RowName>?) {
    self.updatable = updatable
    self.version = version
    self.oddity = oddity
  }

  private var bytes: [UInt8] {
    var writer = ByteWriter()
    ChangeSet.writeHeader(tables: tables, operationCount: count, to: &writer)
    writer.raw(operations.bytes)
    return writer.bytes
  }

  private mutating func addOperation(_ generator: inout SeededGenerator) {
    let numbers = among.filter { TableShape.all[$0].name(at: version) != nil }
    guard let number = numbers.randomElement(using: &generator) else { return }
    let shape = TableShape.all[number]
    let columns = shape.columns.indices.filter { shape.name(of: $0, at: version) != nil }
    let key = columns.prefix(shape.keyCount).map { shape.columns[$0].random(&generator) }
    guard rows.insert(RowName(table: number, key: key)).inserted || oddity == .repeatedRow else { return }
    let chosen = [OperationKind.insert, .insert, .update, .update, .delete].randomElement(using: &generator) ?? .insert
    let mayUpdate = updatable?.contains(RowName(table: number, key: key)) ?? true
    let kind = chosen == .update && !mayUpdate ? .insert : chosen
    for _ in 0..<(oddity == .repeatedRow ? 2 : 1) {
      write(kind, table: place(of: shape, columns), shape, columns, key, &generator)
    }
  }

  private mutating func write(
    _ kind: OperationKind, table: Int, _ shape: TableShape, _ columns: [Int], _ key: [Value],
    _ generator: inout SeededGenerator
  ) {
    count += 1
    operations.varint(Operation.head(table: table, kind: kind))
    for value in key { operations.value(oddity == .nullKey ? .null : strange(value, &generator)) }
    let others = Array(columns.enumerated().dropFirst(shape.keyCount))
    switch kind {
    case .insert:
      for (_, column) in others { operations.value(value(of: shape.columns[column], isChange: false, &generator)) }
      if oddity == .strangeColumns { operations.value(.integer(7)) }
    case .update:
      let chosen = others.filter { _ in generator.chance(oneIn: 2) }
      operations.varint(chosen.count + (oddity == .strangeColumns ? 1 : 0))
      for (place, column) in chosen {
        operations.varint(place)
        operations.value(value(of: shape.columns[column], isChange: true, &generator))
      }
      if oddity == .strangeColumns {
        operations.varint(columns.count)
        operations.value(.text("?"))
      }
    case .delete: break
    }
  }

  /// The place of a table in the dictionary.
  private mutating func place(of shape: TableShape, _ columns: [Int]) -> Int {
    let name = shape.name(at: version) ?? shape.name
    if let place = tables.firstIndex(where: { $0.name == name }) { return place }
    var named = columns.enumerated().map { place, column in
      let isRelative = [.counter, .set].contains(shape.columns[column].policy)
      return ChangeSet.Column(
        index: place, name: shape.name(of: column, at: version) ?? "",
        isRelative: isRelative && oddity != .strangeColumns)
    }
    if oddity == .strangeColumns { named.append(ChangeSet.Column(index: columns.count, name: "strange")) }
    tables.append(
      ChangeSet.Table(name: name, columnCount: named.count, keyCount: shape.keyCount, columns: named))
    return tables.count - 1
  }

  private mutating func addStrangeTable(_ generator: inout SeededGenerator) {
    let columns = ["id", "content"].enumerated().map { ChangeSet.Column(index: $0, name: $1) }
    tables.append(
      ChangeSet.Table(
        name: "strange \(Int.random(in: 0..<3, using: &generator))", columnCount: 2, keyCount: 1, columns: columns))
    count += 1
    operations.varint(Operation.head(table: tables.count - 1, kind: .insert))
    operations.value(.text("a"))
    operations.value(.integer(1))
  }

  // MARK: Values

  private func value(
    of column: TableShape.ColumnShape, isChange: Bool, _ generator: inout SeededGenerator
  ) -> Value {
    switch column.policy {
    case .counter:
      if oddity == .extremeValues { return .integer([.max, .min, -1].randomElement(using: &generator) ?? 0) }
      return strange(.integer(Int64.random(in: -5...5, using: &generator)), &generator)
    case .set:
      if oddity == .brokenSet { return .text(isChange ? "+\"b\"\n+\"a\"" : "[\"b\",\"a\"]") }
      let all = ["\"a\"", "\"b\"", "\"c\""]
      func some() -> [String] { all.filter { _ in generator.chance(oneIn: 2) } }
      let (old, new) = (some(), some())
      return isChange ? SetChange(from: old, to: new).value : SetElements.value(of: new)
    default:
      // The database keeps no negative zero, and nobody's log has one.
      let value = column.random(&generator)
      let carried = column.conversions.filter { $0.version <= version }.reduce(value) { $1.rule($0) }
      return strange(carried == 0.0 ? 0.0 : carried, &generator)
    }
  }

  private func strange(_ value: Value, _ generator: inout SeededGenerator) -> Value {
    guard oddity == .strangeValues, generator.chance(oneIn: 2) else { return value }
    let values: [Value] = [
      .null, .integer(.min), .integer(3), .real(.nan), .real(-.infinity), 2.0, -0.0, 1e300, "", "12", "1.0", " 7", "x",
      .text(String(repeating: "long ", count: 40_000)), .text("\u{202E}\u{0}"), .blob([]), .blob([0xFF, 0x00]),
    ]
    return values.randomElement(using: &generator) ?? value
  }
}

extension TransactionRecord {
  /// The rows that it does this to, as far as they are of the simulation's tables.
  func rows(_ kind: OperationKind) -> [RowName] {
    guard let changes = try? ChangeSet(self.changes[...]) else { return [] }
    var rows: [RowName] = []
    try? changes.forEach { operation in
      guard operation.kind == kind, let table = TableShape.numbers[changes.tables[operation.table].name] else { return }
      var reader = ByteReader(operation.key)
      var key: [Value] = []
      while !reader.isAtEnd { key.append(try reader.value()) }
      rows.append(RowName(table: table, key: key))
    }
    return rows
  }
}
