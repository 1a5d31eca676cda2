import GodwitBase
import GodwitCore
import Testing

@Suite("Row merge")
struct RowMergeTests {
  private let ada = Origin(replica: ReplicaID(Identifier128(high: 0, low: 1)), incarnation: 1)
  private let bob = Origin(replica: ReplicaID(Identifier128(high: 0, low: 2)), incarnation: 1)
  private let eve = Origin(replica: ReplicaID(Identifier128(high: 0, low: 3)), incarnation: 1)

  private static var rules: RowRules {
    RowRules(
      columns: 1..<7,
      policies: [3: .counter, 4: .addWinsSet, 5: .maximum, 6: .custom("longest")],
      functions: ["longest": CustomMerge(name: "longest") { $1.precedes($0) ? $0 : $1 }])
  }
  @Test("what a program's function cannot take says nothing beside what it can, in any order")
  func unfit() throws {
    let rules = RowRules(
      columns: 1..<2, policies: [1: .custom("longest")],
      functions: [
        "longest": CustomMerge(name: "longest") {
          if case .text = $0 { true } else { false }
        } combine: {
          guard case .text = $0, case .text = $1 else { throw GodwitError(.valueMismatch, "no text") }
          return $1.precedes($0) ? $0 : $1
        }
      ])
    func written(_ values: [Value], _ origins: [Origin]) throws -> Value? {
      var merge = RowMerge(RowState(), rules) { _ in .null }
      for (origin, value) in zip(origins, values) {
        let dot = Dot(origin, .none.next)
        try merge.apply(
          RowWrite(
            kind: .insert, stamp: CellStamp(hlc: HLC(rawValue: 1), dot: dot),
            context: VersionVector([origin: dot.sequence]),
            cells: [Cell(column: 1, value: value)]))
      }
      return merge.written[1]
    }
    for values: [Value] in [[.blob([9]), "a", "b"], ["b", .blob([9]), "a"], ["a", 7, "b"], ["b", .null, "a"]] {
      #expect(try written(values, [ada, bob, eve]) == "b")
    }
    for values: [Value] in [[.blob([9]), 7], [7, .blob([9])]] {
      #expect(try written(values, [ada, bob]) == .blob([9]))
    }
  }

  @Test("a number that comes to a set says nothing", arguments: [OperationKind.insert, .update])
  func numberToSet(kind: OperationKind) throws {
    var merge = RowMerge(RowState(), Self.rules) { _ in .text(#"["a"]"#) }
    let dot = Dot(ada, .none.next)
    try merge.apply(
      RowWrite(
        kind: kind, stamp: CellStamp(hlc: HLC(rawValue: 1), dot: dot), context: VersionVector([ada: dot.sequence]),
        cells: [Cell(column: 4, value: .integer(7))]))
    #expect(merge.written[4] == (kind == .update ? nil : .text("[]")))
  }

  @Test("an insert that leaves a column out says nothing of it")
  func incompleteInsert() throws {
    let rules = RowRules(columns: 1..<3)
    func write(_ kind: OperationKind, _ origin: Origin, _ number: UInt64, _ time: UInt64, _ cells: [Cell]) -> RowWrite {
      let dot = Dot(origin, SequenceNumber(rawValue: number))
      return RowWrite(
        kind: kind, stamp: CellStamp(hlc: HLC(rawValue: time), dot: dot),
        context: VersionVector([origin: dot.sequence]),
        cells: cells)
    }
    let others = write(.insert, ada, 1, 1, [Cell(column: 1, value: "a"), Cell(column: 2, value: 11)])
    let own = [
      write(.insert, bob, 1, 2, [Cell(column: 1, value: "b")]), write(.update, bob, 2, 3, [Cell(column: 2, value: 13)]),
    ]
    var merge = RowMerge(RowState(), rules) { _ in .null }
    for write in [others] + own { try merge.apply(write) }
    #expect(merge.written == [1: "b", 2: 13])
    #expect(merge.lost.map(\.value) == ["a", 11])
    #expect(merge.state.stamp(of: 1) == own[0].stamp && merge.state.stamp(of: 2) == own[1].stamp)
  }

  private static var deleteWins: RowRules { RowRules(columns: 1..<7, deletes: .deleteWins, policies: rules.policies) }

  /// A history in which every write has seen a random part of what came before, always causally closed.
  private func history(seed: UInt64) -> [RowWrite] {
    var generator = Generator(state: seed)
    var held: [Origin: VersionVector] = [ada: .init(), bob: .init(), eve: .init()]
    var clocks: [Origin: UInt64] = [:]
    var writes: [RowWrite] = []
    func author(_ origin: Origin, _ kind: OperationKind, _ cells: [Cell]) {
      var context = held[origin] ?? .init()
      context[origin] = context[origin].next
      held[origin] = context
      let seen = writes.filter { context.covers($0.stamp.dot) }.map(\.stamp.hlc.rawValue).max() ?? 0
      let hlc = max(seen, clocks[origin] ?? 0) + UInt64.random(in: 1...3, using: &generator)
      clocks[origin] = hlc
      let stamp = CellStamp(hlc: HLC(rawValue: hlc), dot: Dot(origin, context[origin]))
      writes.append(RowWrite(kind: kind, stamp: stamp, context: context, cells: cells))
    }
    func inserted(_ number: Int64) -> [Cell] {
      [
        Cell(column: 1, value: .integer(number)), Cell(column: 2, value: .integer(number)),
        Cell(column: 3, value: .integer(number % 4)), Cell(column: 4, value: .text("[\"a\",\"s\(number)\"]")),
        Cell(column: 5, value: .integer(number % 5)), Cell(column: 6, value: .text("w\(number)")),
      ]
    }
    func updated(_ number: Int64) -> Cell {
      let element = "\"\(["a", "b", "c"].randomElement(using: &generator) ?? "a")\""
      switch Int.random(in: 1...6, using: &generator) {
      case 3: return Cell(column: 3, value: .integer(Int64.random(in: -2...2, using: &generator)))
      case 4:
        let change = SetChange(from: Bool.random(using: &generator) ? [element] : [], to: ["\"b\""])
        return Cell(column: 4, value: change.value)
      case 5: return Cell(column: 5, value: .integer(number % 7))
      case 6: return Cell(column: 6, value: .text("u\(number)"))
      case let column: return Cell(column: column, value: .integer(number))
      }
    }
    author(ada, .insert, inserted(0))
    for origin in [bob, eve] { held[origin] = held[ada] }
    for step in 1...14 {
      let origin = [ada, bob, eve].randomElement(using: &generator) ?? ada
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: author(origin, .delete, [])
      case 1: author(origin, .insert, inserted(Int64(step)))
      case 2..<6: author(origin, .update, [updated(Int64(step))])
      default:
        let other = [ada, bob, eve].randomElement(using: &generator) ?? ada
        held[origin] = (held[origin] ?? .init()).union(held[other] ?? .init())
      }
    }
    return writes
  }

  /// A random order in which every write comes after all it has seen.
  private func causalOrder(_ writes: [RowWrite], _ generator: inout Generator) -> [RowWrite] {
    var rest = writes
    var order: [RowWrite] = []
    var vector = VersionVector()
    while !rest.isEmpty {
      let ready = rest.indices.filter { index in
        var context = rest[index].context
        context[rest[index].stamp.dot.origin] = SequenceNumber(rawValue: rest[index].stamp.dot.sequence.rawValue - 1)
        return vector.covers(context)
      }
      guard let index = ready.randomElement(using: &generator) else { break }
      let write = rest.remove(at: index)
      vector[write.stamp.dot.origin] = write.stamp.dot.sequence
      order.append(write)
    }
    return order
  }

  private struct Outcome: Equatable {
    var state: RowState
    var cells: [Int: Value]
    var isAlive: Bool
  }

  private func outcome(_ order: [RowWrite], _ rules: RowRules = Self.rules) throws -> Outcome {
    var state = RowState()
    var cells: [Int: Value] = [:]
    for write in order {
      let before = cells
      var merge = RowMerge(state, rules) { before[$0] ?? .null }
      try merge.apply(write)
      cells.merge(merge.written) { $1 }
      state = merge.state
    }
    let isAlive = state.isAlive(rules.deletes)
    state.contributions = state.contributions.mapValues { $0.ordered() }
    // Of origins that touched the row only after a delete had been applied it says nothing, and need not.
    state.removed = VersionVector()
    return Outcome(state: state, cells: cells, isAlive: isAlive)
  }

  @Test("does not depend on the order of writes that had not seen each other", arguments: UInt64(1)...400)
  func orderIndependence(seed: UInt64) throws {
    let writes = history(seed: seed)
    for rules in [Self.rules, Self.deleteWins] where rules.deletes == .editWins || seed.isMultiple(of: 2) {
      let usable = rules.deletes == .editWins ? writes : writes.map(Self.withoutCustom)
      let expected = try outcome(usable, rules)
      var generator = Generator(state: seed &* 31)
      for _ in 0..<8 {
        let order = causalOrder(usable, &generator)
        #expect(order.count == usable.count)
        #expect(try outcome(order, rules) == expected)
      }
    }
  }

  private static func withoutCustom(_ write: RowWrite) -> RowWrite {
    RowWrite(
      kind: write.kind, stamp: write.stamp, context: write.context, cells: write.cells.filter { $0.column != 6 })
  }

  @Test("agrees with the rules applied to the whole history at once", arguments: UInt64(1)...400)
  func agreesWithDefinition(seed: UInt64) throws {
    let writes = history(seed: seed)
    let found = try outcome(writes)
    let touches = writes.filter { $0.kind != .delete }
    let deletes = writes.filter { $0.kind == .delete }
    let inserts = writes.filter { $0.kind == .insert }
    let alive = touches.contains { touch in !deletes.contains { $0.context.covers(touch.stamp.dot) } }
    #expect(found.isAlive == alive)
    let answered = deletes.allSatisfy { delete in inserts.contains { $0.context.covers(delete.stamp.dot) } }
    #expect(try outcome(writes.map(Self.withoutCustom), Self.deleteWins).isAlive == answered)
    for column in 1...2 {
      let winner = touches.filter { $0.cells.contains { $0.column == column } }.max { $0.stamp < $1.stamp }
      #expect(found.cells[column] == winner?.value(of: column))
    }
    func takenBack(_ write: RowWrite, by others: [RowWrite]) -> Bool {
      others.contains { $0.stamp.dot != write.stamp.dot && $0.context.covers(write.stamp.dot) }
    }
    let count = touches.filter { !takenBack($0, by: inserts) }.compactMap { $0.value(of: 3)?.number }.reduce(0, +)
    #expect(found.cells[3] == .integer(count))
    let greatest = touches.filter { touch in
      !takenBack(touch, by: touches.filter { $0.value(of: 5) != nil })
    }.compactMap { $0.value(of: 5)?.number }.max()
    #expect(found.cells[5] == greatest.map { .integer($0) })
  }

  @Test("a row's state reads back as written", arguments: UInt64(1)...50)
  func stateRoundTrip(seed: UInt64) throws {
    var state = try outcome(history(seed: seed)).state
    if seed.isMultiple(of: 2) { state.hiddenCells = [.null, .text("left"), .real(-0.0)] }
    let numbering = Numbering(origins: [ada, bob, eve])
    var writer = ByteWriter()
    try state.write(to: &writer, origins: numbering)
    var reader = ByteReader(writer.bytes)
    #expect(try RowState(reading: &reader, origins: numbering) == state)
  }

  private struct Numbering: OriginNumbering {
    let origins: [Origin]
    func number(of origin: Origin) throws -> Int { origins.firstIndex(of: origin) ?? 0 }
    func origin(numbered number: Int) throws -> Origin { origins[number] }
  }
}

extension RowWrite {
  /// What it writes to a column; nil when that is nothing.
  func value(of column: Int) -> Value? { cells.first { $0.column == column }?.value }
}

extension Value {
  fileprivate var number: Int64? {
    guard case .integer(let number) = self else { return nil }
    return number
  }
}

/// The same choices for the same seed.
struct Generator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
