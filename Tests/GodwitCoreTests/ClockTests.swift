import GodwitBase
import GodwitCore
import Testing

@Suite("Hybrid logical clock")
struct ClockTests {
  @Test("stamps rise when the wall clock stands still, jumps back or is behind what was followed")
  func rising() {
    var clock = HybridClock()
    var stamps: [HLC] = []
    for wall: Int64 in [1_000, 1_000, 500, 2_000, 0] { stamps.append(clock.tick(wallMilliseconds: wall)) }
    let isFollowed = clock.follow(HLC(milliseconds: 9_000), wallMilliseconds: 2_001)
    #expect(isFollowed)
    stamps.append(clock.tick(wallMilliseconds: 2_001))
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy(<))
    #expect(stamps.last?.milliseconds == 9_000)
  }

  @Test("a full counter carries into the milliseconds")
  func carry() {
    var clock = HybridClock(last: HLC(milliseconds: 7, counter: .max))
    let next = clock.tick(wallMilliseconds: 7)
    #expect(next.milliseconds == 8 && next.counter == 0)
  }

  @Test("another's timestamp is followed up to an hour beyond the wall clock, and no further")
  func reach() {
    let wall: Int64 = 1_700_000_000_000
    var clock = HybridClock()
    let last = clock.tick(wallMilliseconds: wall)
    let reach = HybridClock.reachMilliseconds
    let isBeyond = !clock.follow(HLC(milliseconds: wall + reach + 1), wallMilliseconds: wall)
    #expect(isBeyond && clock.last == last)
    let isWithin = clock.follow(HLC(milliseconds: wall + reach), wallMilliseconds: wall)
    let next = clock.tick(wallMilliseconds: wall)
    #expect(isWithin && next > HLC(milliseconds: wall + reach))
  }

  @Test("a remembered timestamp is exceeded by the transaction that asks, and by no other")
  func above() {
    var clock = HybridClock()
    let remembered = HLC(milliseconds: 1_000_000_000, counter: .max)
    let first = clock.tick(wallMilliseconds: 5, above: remembered)
    #expect(first > remembered)
    let second = clock.tick(wallMilliseconds: 5, above: nil)
    #expect(second.milliseconds == 5)
    let third = clock.tick(wallMilliseconds: 5, above: second)
    #expect(third > second && third.milliseconds == 5)
  }

  @Test("a time beyond what a timestamp holds is the last one, not one long ago")
  func farAway() {
    #expect(HLC(milliseconds: .max) > HLC.limit)
    #expect(HLC(milliseconds: .min) == HLC(rawValue: 0))
  }

  @Test("a version vector reads back as written, and refuses disorder and zero")
  func vectors() throws {
    let origins = (1...3).map { Origin(replica: ReplicaID(Identifier128(high: 0, low: UInt64($0))), incarnation: 9) }
    let vector = VersionVector([origins[0]: .init(rawValue: 1), origins[2]: .init(rawValue: 70_000)])
    var writer = ByteWriter()
    vector.write(to: &writer)
    var reader = ByteReader(writer.bytes)
    #expect(try VersionVector(reading: &reader) == vector)

    var disordered = ByteWriter()
    disordered.varint(2)
    for origin in [origins[1], origins[0]] {
      origin.write(to: &disordered)
      disordered.varint(1)
    }
    var bad = ByteReader(disordered.bytes)
    #expect(throws: GodwitError.self) { try VersionVector(reading: &bad) }
    #expect(vector.covers(vector.intersection(VersionVector())))
    #expect(!VersionVector().covers(vector))
  }
  @Test("what a vector has beyond another is found by its last origin", arguments: 0..<200 as Range<UInt64>)
  func beyond(seed: UInt64) {
    var random = Generator(state: seed)
    let origins = (1...4).map { Origin(replica: ReplicaID(Identifier128(high: 0, low: $0)), incarnation: 1) }
    func any() -> VersionVector {
      VersionVector(
        Dictionary(uniqueKeysWithValues: origins.map { ($0, .init(rawValue: .random(in: 0...2, using: &random))) }))
    }
    let (one, other) = (any(), any())
    let expected = origins.last { one[$0] > other[$0] }.map { Dot($0, one[$0]) }
    #expect(one.last(above: other) == expected)
    #expect(other.covers(one) == (expected == nil))
  }
}
