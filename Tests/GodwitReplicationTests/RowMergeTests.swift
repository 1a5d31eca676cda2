import GodwitBase
import GodwitReplication
import Testing

@Suite("Row merge")
struct RowMergeTests {
  private let ada = Origin(replica: ReplicaID(Identifier128(high: 0, low: 1)), incarnation: 1)
  private let bob = Origin(replica: ReplicaID(Identifier128(high: 0, low: 2)), incarnation: 1)
  private let eve = Origin(replica: ReplicaID(Identifier128(high: 0, low: 3)), incarnation: 1)

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
    author(ada, .insert, [Cell(column: 1, value: 0), Cell(column: 2, value: 0)])
    for origin in [bob, eve] { held[origin] = held[ada] }
    for step in 1...12 {
      let origin = [ada, bob, eve].randomElement(using: &generator) ?? ada
      let value = Value.integer(Int64(step))
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: author(origin, .delete, [])
      case 1: author(origin, .insert, [Cell(column: 1, value: value), Cell(column: 2, value: value)])
      case 2..<6: author(origin, .update, [Cell(column: Int.random(in: 1...2, using: &generator), value: value)])
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

  private func outcome(_ order: [RowWrite]) -> Outcome {
    let contexts = Dictionary(uniqueKeysWithValues: order.map { ($0.stamp.dot, $0.context) })
    var state = RowState()
    var cells: [Int: Value] = [:]
    for write in order {
      var merge = RowMerge(state)
      merge.apply(write) { cells[$0] ?? .null }
      cells.merge(merge.written) { $1 }
      state = merge.state
    }
    return Outcome(state: state, cells: cells, isAlive: state.isAlive { contexts[$0] ?? .init() })
  }

  @Test("does not depend on the order of writes that had not seen each other", arguments: UInt64(1)...300)
  func orderIndependence(seed: UInt64) {
    let writes = history(seed: seed)
    let expected = outcome(writes)
    var generator = Generator(state: seed &* 31)
    for _ in 0..<8 {
      let order = causalOrder(writes, &generator)
      #expect(order.count == writes.count)
      #expect(outcome(order) == expected)
    }
  }

  @Test("agrees with the rules applied to the whole history at once", arguments: UInt64(1)...300)
  func agreesWithDefinition(seed: UInt64) {
    let writes = history(seed: seed)
    let found = outcome(writes)
    let touches = writes.filter { $0.kind != .delete }
    let deletes = writes.filter { $0.kind == .delete }
    let alive = touches.contains { touch in !deletes.contains { $0.context.covers(touch.stamp.dot) } }
    #expect(found.isAlive == alive)
    for column in 1...2 {
      let winner = touches.filter { $0.cells.contains { $0.column == column } }.max { $0.stamp < $1.stamp }
      #expect(found.cells[column] == winner?.cells.first { $0.column == column }?.value)
    }
  }

  @Test("a row's state reads back as written", arguments: UInt64(1)...50)
  func stateRoundTrip(seed: UInt64) throws {
    var state = outcome(history(seed: seed)).state
    if seed.isMultiple(of: 2) { state.image = [.null, .text("left"), .real(-0.0)] }
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

/// The same choices for the same seed.
struct Generator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
