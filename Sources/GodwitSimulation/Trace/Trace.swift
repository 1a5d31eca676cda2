/// All that happens in one world: what a seed stands for.
package struct Trace: Sendable {
  package let seed: UInt64
  let actorCount: Int
  /// How many transactions a log may hold before imports forget.
  let keptTransactions: Int
  /// The schema version that all programs come to.
  let latestVersion: Int
  /// Who hands files to whom.
  let ways: [(from: Int, to: Int)]
  let events: [Event]
  /// Whether one of the members means harm.
  package let isHostile: Bool
  /// Whether there is a tree whose branches go with their parents.
  let hasTrees: Bool
  /// How much a member forgets at a time, where that is little.
  let portion: Int?
  /// What is written when all is done and forgotten.
  let epilogue: [Plan]
  package var count: Int { events.count }

  package init(seed: UInt64, faults: Fault = .all) {
    var writer = TraceWriter(seed: seed, faults: faults)
    self.seed = seed
    var attacks = AttackWriter(
      seed: seed, actorCount: writer.actorCount, forgets: writer.keptTransactions < 1_000, faults: faults)
    events = attacks.interspersing(writer.write())
    isHostile = attacks.isHostile
    hasTrees = faults.contains(.trees)
    portion = Self.portion(seed, faults)
    actorCount = writer.actorCount
    keptTransactions = writer.keptTransactions
    latestVersion = writer.latestVersion
    ways = writer.ways
    epilogue = writer.epilogue()
  }

  /// Chosen apart, so that all else in the world is the same without.
  private static func portion(_ seed: UInt64, _ faults: Fault) -> Int? {
    var generator = SeededGenerator(seed: ~seed &* 13)
    guard faults.contains(.portions), generator.chance(oneIn: 2) else { return nil }
    return Int.random(in: 1...4, using: &generator)
  }

  /// The events by number, for a report.
  package func description(of kept: [Int]) -> String {
    kept.map { "  \($0)  \(events[$0])" }.joined(separator: "\n")
  }
}
