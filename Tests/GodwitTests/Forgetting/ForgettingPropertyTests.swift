import Foundation
import Godwit
import Testing

@Suite("Forgetting, at random")
struct ForgettingPropertyTests {
  /// Every replica forgets at moments of its own, so that a stamp or a dead row dropped too early shows as a
  /// difference.
  @Test("replicas that forget at different times hold the same", arguments: UInt64(1)...24)
  func converges(seed: UInt64) async throws {
    var generator = Seeded(state: seed &* 0x9E37_79B9_7F4A_7C15)
    var group = try await ThingGroup(2 + Int(seed % 3))
    for step in 0..<70 {
      if step == 40, seed.isMultiple(of: 2) {
        // A member that comes late takes over the state where the transactions are gone, among them what is concurrent
        // to writes still to come.
        try await group.replicas[0].maintenance.compact()
        try await group.join()
        for index in 1..<group.replicas.count { try await group.send(0, index) }
      }
      group.clock.advance(Int64.random(in: 0...3, using: &generator))
      let index = Int.random(in: group.replicas.indices, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5: await write(group.replicas[index], &generator)
      case 9: try await group.replicas[index].maintenance.compact()
      default:
        let other = (index + Int.random(in: 1..<group.replicas.count, using: &generator)) % group.replicas.count
        try await group.send(index, other)
      }
    }
    for _ in 0..<4 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    for index in group.replicas.indices {
      try await group.replicas[index].maintenance.compact()
      #expect(try await group.logCount(index) == 0)
      #expect(try await group.replicas[index].maintenance.verify().problems.isEmpty)
      #expect(try await group.replicas[index].status().staged == 0)
    }
    #expect(try await group.digests().count == 1)
    // What is still remembered is the same in meaning: later writes converge as well.
    for _ in 0..<12 {
      let index = Int.random(in: group.replicas.indices, using: &generator)
      await write(group.replicas[index], &generator)
    }
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
  }

  /// One that a constraint refuses is no write.
  private func write(_ replica: Replica, _ generator: inout Seeded) async {
    let keys = ["a", "b", "c", "d", "e"]
    func key() -> String { keys[Int.random(in: 0..<keys.count, using: &generator)] }
    func number() -> Int { Int.random(in: 0..<50, using: &generator) }
    var thing = Thing()
    thing.id = key()
    thing.name = "n\(number())"
    thing.code = ["x", "y", "z", nil][Int.random(in: 0..<4, using: &generator)]
    thing.count = number() % 4
    thing.tags = [key(), key()]
    thing.best = number()
    let made = thing
    let other = key()
    let remark = Remark(id: key(), text: "t\(number())", thing: made.id)
    let choice = Int.random(in: 0..<10, using: &generator)
    _ = try? await replica.write { tx in
      switch choice {
      case 0, 1: try tx.insert(made)
      case 2: try tx.delete(made)
      case 3: try tx.execute("UPDATE thing SET count = count + 1 WHERE id = \(made.id)")
      case 4: try tx.execute("UPDATE thing SET code = \(made.code ?? "w") WHERE id = \(made.id)")
      case 5:
        // Circles come about by moves that had not seen each other, never by one replica alone.
        try tx.execute(
          """
          UPDATE thing SET parent = \(other) WHERE id = \(made.id) AND id NOT IN (
            WITH RECURSIVE up(id) AS (SELECT \(other) UNION SELECT parent FROM thing JOIN up ON thing.id = up.id)
            SELECT id FROM up WHERE id IS NOT NULL)
          """)
      case 6: try tx.save(made, merging: [\.tags, \.best])
      case 7: try tx.save(remark)
      case 8: try tx.delete(remark)
      default: try tx.execute("UPDATE thing SET name = \(made.name) WHERE id = \(made.id)")
      }
    }
  }
}

/// The same choices for the same seed.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
