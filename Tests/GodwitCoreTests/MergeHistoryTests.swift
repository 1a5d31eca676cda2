import GodwitBase
import GodwitCore
import Testing

/// Rows that several authors insert, edit, delete, put under another key and insert anew, by the rules alone.
@Suite("Merge of small histories")
struct MergeHistoryTests {
  @Test(
    "does not depend on the order of transactions that had not seen each other, and lists what is lost",
    arguments: UInt64(0)..<40)
  func orderIndependence(block: UInt64) throws {
    for seed in block * 50..<(block + 1) * 50 {
      let kind = SmallTables.Kind.allCases[Int(seed % 3)]
      var history = try SmallHistory(seed: seed, kind)
      try history.run(steps: 14)
      let expected = try SmallTables(kind, history.transactions)
      let orders = try (0..<6).map { _ in try SmallTables(kind, history.causalOrder()) }
      for rows in orders + history.replicas {
        #expect(rows.outcome == expected.outcome, "seed \(seed)")
        #expect(rows.unlisted(of: history.transactions).isEmpty, "seed \(seed)")
        #expect(rows.unlistedDeletes(of: history.transactions).isEmpty, "seed \(seed)")
      }
    }
  }

  @Test("nor when one author changes and deletes rows that nobody has inserted", arguments: UInt64(0)..<40)
  func careless(block: UInt64) throws {
    var early = 0
    for seed in block * 50..<(block + 1) * 50 {
      let kind = SmallTables.Kind.allCases[Int(seed % 3)]
      var history = try SmallHistory(seed: seed, kind, isCareless: true)
      try history.run(steps: 14)
      let expected = try SmallTables(kind, history.transactions)
      let orders = try (0..<6).map { _ in try SmallTables(kind, history.causalOrder()) }
      for rows in orders + history.replicas { #expect(rows.outcome == expected.outcome, "seed \(seed)") }
      let writes = history.transactions.flatMap(\.writes)
      let inserts = writes.filter { $0.write.kind == .insert }
      #expect(expected.outcome.living.isSubset(of: inserts.map(\.key)), "seed \(seed)")
      early +=
        writes.count { key, write in
          !inserts.contains { $0.key == key && write.context.covers($0.write.stamp.dot) }
        }
    }
    #expect(early > 0)
  }

  @Test("does not depend on who has forgotten what all hold", arguments: UInt64(0)..<40)
  func forgetting(block: UInt64) throws {
    var forgotten = 0
    for seed in block * 50..<(block + 1) * 50 {
      let kind = SmallTables.Kind.allCases[Int(seed % 3)]
      var history = try SmallHistory(seed: seed, kind, forgets: true)
      try history.run(steps: 18)
      let expected = try SmallTables(kind, history.transactions)
      for replica in history.replicas {
        #expect(replica.shown == expected.shown, "seed \(seed)")
        #expect(replica.unlisted(of: history.transactions).isEmpty, "seed \(seed)")
      }
      forgotten += history.replicas.map(\.forgotten).reduce(0, +)
    }
    #expect(forgotten > 0)
  }
}

/// One transaction: writes by row.
struct SmallTransaction {
  let stamp: CellStamp
  let context: VersionVector
  var writes: [(key: Int64, write: RowWrite)] = []
}

/// The rows of one replica, by key, merged write by write.
struct SmallTables {
  struct Row: Equatable {
    var state = RowState()
    var cells: [Int: Value] = [:]
  }

  struct Outcome: Equatable {
    var cells: [Int64: [Int: Value]]
    var living: Set<Int64>
  }

  /// A value that was written to a cell.
  struct LostCell: Hashable {
    let key: Int64
    let column: Int
    let value: Value
  }

  /// A delete of the row under a key.
  struct LostDelete: Hashable {
    let key: Int64
    let delete: CellStamp
  }

  enum Kind: CaseIterable {
    case editWins, deleteWins, collection

    var rules: RowRules {
      RowRules(
        columns: 1..<6, deletes: self == .deleteWins ? .deleteWins : .editWins,
        policies: [3: .counter, 4: .addWinsSet, 5: .maximum], insertsClaimAll: self != .collection)
    }
  }

  let rules: RowRules
  private(set) var rows: [Int64: Row] = [:]
  private(set) var held = VersionVector()
  private var listed: Set<LostCell> = []
  private var listedDeletes: Set<LostDelete> = []

  init(_ kind: Kind, _ transactions: [SmallTransaction] = []) throws {
    rules = kind.rules
    for transaction in transactions { try apply(transaction) }
  }

  var outcome: Outcome {
    Outcome(cells: rows.mapValues(\.cells).filter { !$0.value.isEmpty }, living: Set(rows.keys.filter(isAlive)))
  }

  /// The cells of the rows that are there.
  var shown: [Int64: [Int: Value]] { rows.filter { isAlive($0.key) }.mapValues(\.cells) }
  /// How many rows have been forgotten, again and again.
  private(set) var forgotten = 0

  mutating func forget(_ frontier: VersionVector) {
    for key in rows.keys {
      guard var row = rows[key] else { continue }
      let isAlive = isAlive(key)
      if row.state.forget(frontier, keeping: [], rules.deletes) {
        rows[key] = row
      } else {
        row.state = .stable
        rows[key] = isAlive ? row : nil
        forgotten += 1
      }
    }
  }

  func isAlive(_ key: Int64) -> Bool { rows[key]?.state.isAlive(rules.deletes) ?? false }

  mutating func apply(_ transaction: SmallTransaction) throws {
    let dot = transaction.stamp.dot
    held[dot.origin] = dot.sequence
    for (key, write) in transaction.writes { try apply(write, to: key) }
  }

  private mutating func apply(_ write: RowWrite, to key: Int64) throws {
    var row = rows[key] ?? Row()
    let before = row.cells
    var merge = RowMerge(row.state, rules) { before[$0] ?? ($0 == 3 ? .integer(0) : .null) }
    try merge.apply(write)
    row.cells.merge(merge.written) { $1 }
    listedDeletes.formUnion(merge.lost.filter { $0.part == .delete }.map { LostDelete(key: key, delete: $0.loser) })
    listed.formUnion(
      merge.lost.compactMap {
        if case .cell(let column) = $0.part { LostCell(key: key, column: column, value: $0.value) } else { nil }
      })
    row.state = merge.state
    rows[key] = row
  }
}

extension SmallTables {
  /// What was written where the last writer wins, does not stand there, was replaced or deleted by nobody who had seen
  /// it, and is not listed as lost. Equal values are one.
  func unlisted(of transactions: [SmallTransaction]) -> Set<LostCell> {
    let lost = transactions.flatMap(\.cells).filter { cell in
      [1, 2].contains(cell.column) && shown[cell.key]?[cell.column] != cell.value && !isReplaced(cell, transactions)
    }
    return Set(lost).subtracting(listed)
  }

  /// Deletes that are not listed although a write which had not seen them, and they had not, keeps the row.
  func unlistedDeletes(of transactions: [SmallTransaction]) -> Set<LostDelete> {
    guard rules.deletes == .editWins else { return [] }
    let writes = transactions.flatMap(\.writes)
    let lost = writes.filter { $1.kind == .delete }.filter { key, delete in
      writes.contains { other, write in
        other == key && write.kind != .delete && !delete.context.covers(write.stamp.dot)
          && !write.context.covers(delete.stamp.dot)
      }
    }
    return Set(lost.map { LostDelete(key: $0, delete: $1.stamp) }).subtracting(listedDeletes)
  }

  private func isReplaced(_ cell: LostCell, _ transactions: [SmallTransaction]) -> Bool {
    let same = transactions.filter { $0.cells.contains(cell) }
    return transactions.contains { later in
      same.contains { later.context.covers($0.stamp.dot) && later.stamp != $0.stamp }
        && later.writes.contains { key, write in
          key == cell.key && (write.kind == .delete || write.value(of: cell.column).map { $0 != cell.value } == true)
        }
    }
  }
}

extension SmallTransaction {
  fileprivate var cells: [SmallTables.LostCell] {
    writes.flatMap { key, write in write.cells.map { .init(key: key, column: $0.column, value: $0.value) } }
  }
}

/// Three authors who write, and now and then take in each other's writes.
struct SmallHistory {
  private(set) var transactions: [SmallTransaction] = []
  private(set) var replicas: [SmallTables] = []
  private var clocks: [UInt64] = [0, 0, 0]
  private var generator: Generator
  private static let keys: ClosedRange<Int64> = 1...3
  private let forgets: Bool
  /// Whether the last author changes and deletes also what is not there.
  private let isCareless: Bool
  /// What each author knows that the others hold.
  private var acknowledged: [[VersionVector]] = Array(repeating: Array(repeating: .init(), count: 3), count: 3)

  init(seed: UInt64, _ kind: SmallTables.Kind, forgets: Bool = false, isCareless: Bool = false) throws {
    self.forgets = forgets
    self.isCareless = isCareless
    generator = Generator(state: seed &* 2_654_435_761 &+ 17)
    replicas = Array(repeating: try SmallTables(kind), count: 3)
  }

  mutating func run(steps: Int) throws {
    for step in 0..<steps {
      let author = Int.random(in: 0..<3, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0, 1:
        let other = Int.random(in: 0..<3, using: &generator)
        try hear(of: other, by: author, only: Bool.random(using: &generator) ? 2 : .max)
      default: try write(author, number: Int64(step))
      }
    }
    for author in 0..<3 { for other in 0..<3 { try hear(of: other, by: author, only: .max) } }
  }

  private mutating func hear(of other: Int, by author: Int, only limit: Int) throws {
    let held = replicas[other].held
    let new = transactions.filter { held.covers($0.stamp.dot) && !replicas[author].held.covers($0.stamp.dot) }
    for transaction in order(new, after: replicas[author].held).prefix(limit) {
      try replicas[author].apply(transaction)
    }
    guard forgets, limit == .max else { return }
    // All that the other holds is held here now, so nothing is to come that it wrote before.
    acknowledged[author][other] = held
    acknowledged[author][author] = replicas[author].held
    replicas[author].forget(acknowledged[author].reduce(replicas[author].held) { $0.intersection($1) })
  }

  private mutating func write(_ author: Int, number: Int64) throws {
    let origin = Origin(replica: ReplicaID(Identifier128(high: 0, low: UInt64(author + 1))), incarnation: 1)
    var context = replicas[author].held
    context[origin] = context[origin].next
    let seen = transactions.filter { context.covers($0.stamp.dot) }.map(\.stamp.hlc.rawValue).max() ?? 0
    let ahead: UInt64 = Int.random(in: 0..<6, using: &generator) == 0 ? 40 : 3
    clocks[author] = max(seen, clocks[author]) + UInt64.random(in: 1...ahead, using: &generator)
    let stamp = CellStamp(hlc: HLC(rawValue: clocks[author]), dot: Dot(origin, context[origin]))
    var transaction = SmallTransaction(stamp: stamp, context: context)
    var keys = Self.keys.shuffled(using: &generator)
    for _ in 0..<Int.random(in: 1...2, using: &generator) {
      guard let key = keys.popLast() else { break }
      guard replicas[author].isAlive(key) || isCareless && author == 2 else {
        transaction.writes.append(
          (key, RowWrite(kind: .insert, stamp: stamp, context: context, cells: inserted(number + key))))
        continue
      }
      let free = keys.first { !replicas[author].isAlive($0) }
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: transaction.writes.append((key, RowWrite(kind: .delete, stamp: stamp, context: context, cells: [])))
      case 1..<5 where free != nil && replicas[author].isAlive(key):
        guard let free else { break }
        keys.removeAll { $0 == free }
        changeKey(key, to: free, replicas[author].rows[key]?.cells ?? [:], number, &transaction)
      default:
        transaction.writes.append(
          (key, RowWrite(kind: .update, stamp: stamp, context: context, cells: updated(number + key))))
      }
    }
    transactions.append(transaction)
    try replicas[author].apply(transaction)
  }

  private mutating func changeKey(
    _ key: Int64, to target: Int64, _ cells: [Int: Value], _ number: Int64, _ transaction: inout SmallTransaction
  ) {
    var cells = cells
    if Int.random(in: 0..<3, using: &generator) == 0 { cells[1] = .integer(100 + number) }
    let (stamp, context) = (transaction.stamp, transaction.context)
    let all = cells.sorted { $0.key < $1.key }.map { Cell(column: $0.key, value: $0.value) }
    transaction.writes.append((key, RowWrite(kind: .delete, stamp: stamp, context: context, cells: [])))
    transaction.writes.append((target, RowWrite(kind: .insert, stamp: stamp, context: context, cells: all)))
  }

  private func inserted(_ number: Int64) -> [Cell] {
    [
      Cell(column: 1, value: .integer(number)), Cell(column: 2, value: .text("i\(number)")),
      Cell(column: 3, value: .integer(number % 4)), Cell(column: 4, value: .text("[\"a\",\"s\(number)\"]")),
      Cell(column: 5, value: .integer(number % 5)),
    ]
  }

  private mutating func updated(_ number: Int64) -> [Cell] {
    let element = "\"\(["a", "b"].randomElement(using: &generator) ?? "a")\""
    switch Int.random(in: 1...6, using: &generator) {
    case 1, 2: return [Cell(column: 1, value: .integer(number))]
    case 3: return [Cell(column: 3, value: .integer(Int64.random(in: -2...2, using: &generator)))]
    case 4:
      let isRemoving = Bool.random(using: &generator)
      return [
        Cell(column: 4, value: SetChange(from: isRemoving ? [element] : [], to: isRemoving ? [] : [element]).value)
      ]
    case 5: return [Cell(column: 5, value: .integer(number % 7))]
    default: return [Cell(column: 2, value: .text("u\(number)"))]
    }
  }

  /// A random order in which every transaction comes after all it has seen.
  mutating func causalOrder() -> [SmallTransaction] { order(transactions, after: VersionVector()) }

  private mutating func order(_ some: [SmallTransaction], after held: VersionVector) -> [SmallTransaction] {
    var (rest, order, vector) = (some, [SmallTransaction](), held)
    while !rest.isEmpty {
      let ready = rest.indices.filter { index in
        var context = rest[index].context
        let dot = rest[index].stamp.dot
        context[dot.origin] = SequenceNumber(rawValue: dot.sequence.rawValue - 1)
        return vector.covers(context)
      }
      guard let index = ready.randomElement(using: &generator) else { break }
      let next = rest.remove(at: index)
      vector[next.stamp.dot.origin] = next.stamp.dot.sequence
      order.append(next)
    }
    return order
  }
}
