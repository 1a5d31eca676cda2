import GodwitBase
import GodwitCore
import Testing

/// A few rows on a few replicas that hand each other transactions, with or without forgetting at the frontier. One
/// operation per transaction.
private final class ForgettingReplica {
  struct Change {
    let row: Int
    let write: RowWrite
  }

  let origin: Origin
  let forgets: Bool
  let rules: RowRules
  private(set) var vector = VersionVector()
  private(set) var log: [Change] = []
  private var states: [Int: RowState] = [:]
  /// The cells of rows that are shown.
  private var tables: [Int: [Int: Value]] = [:]
  private var acknowledged: [Origin: VersionVector] = [:]
  private(set) var forgottenChanges = 0
  private(set) var droppedStates = 0
  private var hlc: UInt64 = 0

  init(_ origin: Origin, rules: RowRules, forgets: Bool) {
    self.origin = origin
    self.rules = rules
    self.forgets = forgets
  }

  var shown: [Int: [Int: Value]] { tables }

  func author(_ kind: OperationKind, _ cells: [Cell], of row: Int, now: UInt64) throws {
    hlc = max(hlc + 1, now)
    var context = vector
    context[origin] = vector[origin].next
    let stamp = CellStamp(hlc: HLC(rawValue: hlc), dot: Dot(origin, context[origin]))
    try apply(Change(row: row, write: RowWrite(kind: kind, stamp: stamp, context: context, cells: cells)))
  }

  func apply(_ change: Change) throws {
    let dot = change.write.stamp.dot
    guard !vector.covers(dot) else { return }
    var before = change.write.context
    before[dot.origin] = SequenceNumber(rawValue: dot.sequence.rawValue - 1)
    try #require(vector.covers(before), "a cause is missing")
    vector[dot.origin] = dot.sequence
    hlc = max(hlc, change.write.stamp.hlc.rawValue)
    log.append(change)
    let known = states[change.row] ?? (tables[change.row] == nil ? nil : .stable)
    try #require(known != nil || change.write.kind == .insert, "a write to a row that is gone")
    let cells = tables[change.row] ?? hiddenCells(known)
    var merge = RowMerge(known ?? RowState(), rules) { cells[$0] ?? .null }
    try merge.apply(change.write)
    let after = cells.merging(merge.written) { $1 }
    var state = merge.state
    let isAlive = state.isAlive(rules.deletes)
    tables[change.row] = isAlive ? after : nil
    state.hiddenCells = isAlive ? nil : rules.columns.map { after[$0] ?? .null }
    states[change.row] = state
  }

  private func hiddenCells(_ state: RowState?) -> [Int: Value] {
    Dictionary(
      uniqueKeysWithValues: (state?.hiddenCells ?? []).enumerated().map { ($0 + rules.columns.lowerBound, $1) })
  }

  func send(to other: ForgettingReplica) throws {
    for change in log { try other.apply(change) }
    other.acknowledged[origin] = vector
  }

  func forget(members: [Origin]) {
    guard forgets else { return }
    let frontier = members.filter { $0 != origin }.reduce(vector) { $0.intersection(acknowledged[$1] ?? .init()) }
    forgottenChanges += log.count { frontier.covers($0.write.stamp.dot) }
    log.removeAll { frontier.covers($0.write.stamp.dot) }
    for (row, stored) in states {
      var state = stored
      if state.forget(frontier, keeping: [], rules.deletes) {
        states[row] = state
      } else {
        states[row] = nil
        droppedStates += 1
      }
    }
  }
}

@Suite("Forgetting")
struct ForgettingTests {
  private static func rules(_ deletes: DeletePolicy) -> RowRules {
    RowRules(
      columns: 1..<7, deletes: deletes, policies: [3: .counter, 4: .addWinsSet, 5: .maximum, 6: .minimum])
  }

  private struct Run {
    var replicas: [ForgettingReplica]

    /// The seed alone decides what happens, whether anything is forgotten or not.
    init(seed: UInt64, _ rules: RowRules, forgets: Bool) throws {
      var generator = Generator(state: seed &* 0x9E37_79B9)
      let origins = (0..<(2 + Int(seed % 4))).map { number in
        Origin(replica: ReplicaID(Identifier128(high: 0, low: UInt64(number + 1))), incarnation: 1)
      }
      replicas = origins.map { ForgettingReplica($0, rules: rules, forgets: forgets) }
      var now: UInt64 = 10
      for _ in 0..<140 {
        now += UInt64.random(in: 0...4, using: &generator)
        let replica = replicas[Int.random(in: replicas.indices, using: &generator)]
        if Int.random(in: 0..<10, using: &generator) < 5 {
          let skew = UInt64.random(in: 0...9, using: &generator)
          try Self.write(to: replica, now: now + skew, &generator)
        } else {
          let other = replicas[Int.random(in: replicas.indices, using: &generator)]
          guard other !== replica else { continue }
          try replica.send(to: other)
          other.forget(members: origins)
        }
      }
      for _ in 0...replicas.count {
        for sender in replicas {
          for receiver in replicas where receiver !== sender {
            try sender.send(to: receiver)
            receiver.forget(members: origins)
          }
        }
      }
    }

    private static func write(to replica: ForgettingReplica, now: UInt64, _ generator: inout Generator) throws {
      let row = Int.random(in: 0..<4, using: &generator)
      let number = Int64.random(in: 0..<90, using: &generator)
      let choice = Int.random(in: 0..<8, using: &generator)
      let elements = ["\"a\"", "\"b\"", "\"c\""]
      let element = elements[Int.random(in: 0..<3, using: &generator)]
      guard let cells = replica.shown[row] else {
        guard choice < 4 else { return }
        let values: [Value] = [
          .integer(number), .text("t\(number)"), .integer(number % 4), SetElements.value(of: [element]),
          .integer(number), .integer(-number),
        ]
        return try replica.author(
          .insert, values.enumerated().map { Cell(column: $0 + 1, value: $1) }, of: row, now: now)
      }
      switch choice {
      case 0: try replica.author(.delete, [], of: row, now: now)
      case 1: try replica.author(.update, [Cell(column: 3, value: .integer(number % 5 - 2))], of: row, now: now)
      case 2:
        let before = SetElements.parse(cells[4] ?? .null) ?? []
        let after = before.contains(element) ? before.filter { $0 != element } : before + [element]
        let change = SetChange(from: before, to: after)
        try replica.author(.update, [Cell(column: 4, value: change.value)], of: row, now: now)
      case 3: try replica.author(.update, [Cell(column: 5, value: .integer(number))], of: row, now: now)
      case 4: try replica.author(.update, [Cell(column: 6, value: .integer(number))], of: row, now: now)
      default:
        let column = 1 + choice % 2
        try replica.author(.update, [Cell(column: column, value: .integer(number))], of: row, now: now)
      }
    }
  }

  @Test("random histories come to the same with and without it", arguments: DeletePolicy.allCases)
  func sameOutcome(_ deletes: DeletePolicy) throws {
    var changes = 0
    var states = 0
    for seed in UInt64(1)...600 {
      let with = try Run(seed: seed, Self.rules(deletes), forgets: true)
      let without = try Run(seed: seed, Self.rules(deletes), forgets: false)
      let expected = without.replicas[0].shown
      for replica in with.replicas + without.replicas {
        try #require(replica.shown == expected, "seed \(seed)")
      }
      // Everyone has acknowledged everything in the end, so nothing is left.
      #expect(with.replicas.allSatisfy { $0.log.isEmpty }, "seed \(seed)")
      changes += with.replicas.reduce(0) { $0 + $1.forgottenChanges }
      states += with.replicas.reduce(0) { $0 + $1.droppedStates }
    }
    #expect(changes > 10_000 && states > 1_000)
  }

  @Test("a stamp that is to be kept stays, and moves from the insert to its column")
  func keeping() {
    let ada = Origin(replica: ReplicaID(Identifier128(high: 0, low: 1)), incarnation: 1)
    let stamp = CellStamp(hlc: HLC(rawValue: 7), dot: Dot(ada, SequenceNumber(rawValue: 3)))
    var state = RowState()
    state.base = stamp
    state.inserts[ada] = stamp.dot.sequence
    let frontier = VersionVector([ada: SequenceNumber(rawValue: 5)])
    for _ in 0..<2 {
      let isLeft = state.forget(frontier, keeping: [2], .editWins)
      #expect(isLeft)
      #expect(state.stamp(of: 1) == nil)
      #expect(state.stamp(of: 2) == stamp)
    }
    let isLeft = state.forget(frontier, keeping: [], .editWins)
    #expect(!isLeft)
  }

  @Test("a dead row stays until every member holds its delete and all its writes")
  func deadRows() throws {
    let ada = Origin(replica: ReplicaID(Identifier128(high: 0, low: 1)), incarnation: 1)
    let bob = Origin(replica: ReplicaID(Identifier128(high: 0, low: 2)), incarnation: 1)
    var merge = RowMerge(RowState(), Self.rules(.editWins)) { _ in .integer(0) }
    func write(_ kind: OperationKind, _ origin: Origin, _ context: VersionVector) -> RowWrite {
      var context = context
      context[origin] = context[origin].next
      let stamp = CellStamp(hlc: HLC(rawValue: 9), dot: Dot(origin, context[origin]))
      return RowWrite(kind: kind, stamp: stamp, context: context, cells: [])
    }
    let inserted = VersionVector([ada: SequenceNumber(rawValue: 1)])
    try merge.apply(write(.insert, ada, VersionVector()))
    try merge.apply(write(.delete, bob, inserted))
    var state = merge.state
    state.hiddenCells = []
    let isLeft = state.forget(inserted, keeping: [], .editWins)
    #expect(isLeft && state.deletes.count == 1)
    let all = inserted.union(VersionVector([bob: SequenceNumber(rawValue: 1)]))
    let isLeftAfterAll = state.forget(all, keeping: [], .editWins)
    #expect(!isLeftAfterAll)
  }
}
