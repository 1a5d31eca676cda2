import GodwitBase
import GodwitCore
import Testing

@Suite("Causal order")
struct CausalOrderTests {
  private struct Step {
    let dot: Dot
    let hlc: HLC
    let context: VersionVector?
  }

  private func origin(_ number: UInt64) -> Origin {
    Origin(replica: ReplicaID(Identifier128(high: 0, low: number)), incarnation: 1)
  }

  private func step(
    _ number: UInt64, _ sequence: UInt64, at hlc: UInt64, _ context: [Origin: SequenceNumber]? = nil
  ) -> Step {
    Step(
      dot: Dot(origin(number), SequenceNumber(rawValue: sequence)), hlc: HLC(rawValue: hlc),
      context: context.map { VersionVector($0) })
  }

  /// Runs each origin's steps through the order; those that cannot go are left out.
  private func order(_ lanes: [[Step]], covered: VersionVector = VersionVector()) -> [Dot] {
    var order = CausalOrder(covered: covered)
    var rest: [Origin: ArraySlice<Step>] = [:]
    for lane in lanes {
      rest[lane[0].dot.origin] = lane[...]
      order.add(lane[0].dot, hlc: lane[0].hlc, context: lane[0].context)
    }
    var dots: [Dot] = []
    while let origin = order.next() {
      if let gone = rest[origin]?.popFirst() { dots.append(gone.dot) }
      if let next = rest[origin]?.first { order.add(next.dot, hlc: next.hlc, context: next.context) }
    }
    return dots
  }

  @Test("without contexts, timestamps decide, then origins")
  func byTime() {
    let dots = order([[step(2, 1, at: 5), step(2, 2, at: 9)], [step(1, 1, at: 5), step(1, 2, at: 7)]])
    #expect(dots.map(\.origin) == [origin(1), origin(2), origin(1), origin(2)])
  }

  @Test("a cause with a timestamp far ahead goes before its effect")
  func causeAhead() {
    let effect = step(1, 1, at: 10, [origin(2): SequenceNumber(rawValue: 2)])
    let dots = order([[effect, step(1, 2, at: 11)], [step(2, 1, at: 900), step(2, 2, at: 901)]])
    #expect(dots.map(\.origin) == [origin(2), origin(2), origin(1), origin(1)])
  }

  @Test("what every reader holds need not come again")
  func heldBefore() {
    let effect = step(1, 1, at: 10, [origin(2): SequenceNumber(rawValue: 2), origin(3): SequenceNumber(rawValue: 8)])
    let covered = VersionVector([origin(2): SequenceNumber(rawValue: 1), origin(3): SequenceNumber(rawValue: 8)])
    let dots = order([[effect], [step(2, 2, at: 900)]], covered: covered)
    #expect(dots.map(\.origin) == [origin(2), origin(1)])
  }

  @Test("what can never go does not hold up the rest")
  func stuck() {
    let effect = step(1, 1, at: 10, [origin(3): SequenceNumber(rawValue: 1)])
    let dots = order([[effect, step(1, 2, at: 11)], [step(2, 1, at: 900)]])
    #expect(dots.map(\.origin) == [origin(2)])
  }

  @Test("random histories come out whole, in sequence, each after its context", arguments: UInt64(1)...100)
  func random(seed: UInt64) {
    var random = seed
    func below(_ bound: UInt64) -> UInt64 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (random >> 33) % bound
    }
    var heads: [Origin: SequenceNumber] = [:]
    var lanes: [Origin: [Step]] = [:]
    for _ in 0..<200 {
      let author = below(6)
      let next = (heads[origin(author)] ?? .none).next
      var context: [Origin: SequenceNumber]?
      if below(3) == 0 {
        context = heads
        context?[origin(author)] = nil
      }
      lanes[origin(author), default: []].append(step(author, next.rawValue, at: below(1_000), context))
      heads[origin(author)] = next
    }
    let steps = Dictionary(uniqueKeysWithValues: lanes.values.joined().map { ($0.dot, $0) })
    var seen = VersionVector()
    for dot in order(Array(lanes.values)) {
      #expect(seen[dot.origin].next == dot.sequence)
      #expect(seen.covers(steps[dot]?.context ?? VersionVector()))
      seen[dot.origin] = dot.sequence
    }
    #expect(seen == VersionVector(heads))
  }
}
