import GodwitBase
import GodwitReplication
import Testing

@Suite("Hybrid logical clock")
struct ClockTests {
  @Test("stamps rise when the wall clock stands still, jumps back or is behind what was observed")
  func rising() {
    var clock = HybridClock()
    var stamps: [HLC] = []
    for wall: Int64 in [1_000, 1_000, 500, 2_000, 0] { stamps.append(clock.tick(wallMilliseconds: wall)) }
    clock.observe(HLC(milliseconds: 9_000))
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
}
