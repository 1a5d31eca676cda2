import Foundation
import GodwitSimulation
import TestFolders
import Testing

/// A folder for the worlds of one test.
final class WorldFolder: Sendable {
  let path = NSTemporaryDirectory() + "godwit-worlds-\(UUID().uuidString)"

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
  deinit { TestFolder.remove(path) }
}

@Suite("Worlds")
struct WorldTests {
  @Test("replicas agree with each other and with the model, and lose nothing", arguments: UInt64(1)...24)
  func agree(seed: UInt64) async throws { try await run(seed, .all) }

  /// What there was before trees, portions and hours.
  private static let former = Fault.all.subtracting([.trees, .portions, .hours])

  /// Seeds that ever failed, with the faults there were then.
  @Test(
    "worlds that went wrong once are sound",
    arguments: [
      UInt64(29), 66, 161, 1051, 7540, 10589, 12639, 13142, 14862, 26912, 32155, 36480, 60317, 80445, 110725,
    ])
  func repaired(seed: UInt64) async throws {
    try await run(seed, Self.former.subtracting([.halts, .migrations, .hostility]))
  }

  @Test(
    "worlds in which a loss at a key that a row moved to was not listed once",
    arguments: [UInt64(613), 835, 876, 944, 110515, 112010, 112569, 303481])
  func unlisted(seed: UInt64) async throws { try await run(seed, Self.former.subtracting([.migrations, .hostility])) }

  @Test("worlds of several versions that went wrong once are sound", arguments: [UInt64(2733), 27038])
  func repairedWithoutMixtures(seed: UInt64) async throws {
    try await run(seed, Self.former.subtracting([.halts, .mixtures, .migrations, .hostility]))
  }

  @Test("worlds without clones that went wrong once are sound", arguments: [UInt64(154), 1294, 21659])
  func repairedWithoutClones(seed: UInt64) async throws {
    try await run(seed, Self.former.subtracting([.halts, .clones, .migrations, .hostility]))
  }

  @Test(
    "worlds of many migrations that went wrong once are sound",
    arguments: [
      UInt64(202), 606, 951, 1445, 10192, 11172, 12036, 13159, 13530, 3_102_084, 11_016_902, 350_004_681,
      450_000_814, 750_003_136,
    ])
  func migrated(seed: UInt64) async throws { try await run(seed, Self.former.subtracting(.hostility)) }

  @Test("a world in which a copy's clock was hours behind, and its claim to a value younger, is sound")
  func copied() async throws { try await run(1_200_008_154, Self.former) }

  @Test(
    "worlds in which a count went beyond what it can be at a rejoin are sound",
    arguments: [UInt64(20_000_102), 20_000_260, 40_000_669])
  func overflowing(seed: UInt64) async throws { try await run(seed, Self.former) }

  @Test("a world in which a reference that closed a circle could not be taken back at a rejoin is sound")
  func stuckReference() async throws { try await run(10_364, .all) }

  @Test("a world in which a machine and its copy wrote to one row before they rejoined is sound")
  func copiesRejoin() async throws { try await run(3_000_007_727, .all) }

  /// Three of these found what the model did not see: a hidden reference, what an import of a hostile file had
  /// forgotten already, and a value whose own author had deleted it, in a row that another had inserted meanwhile. In
  /// the last four an insert without a column that had been added since stood for that column, too.
  @Test(
    "nothing that others wrote is lost unlisted by a rejoin",
    arguments: [UInt64(3_300_000_388), 3_300_001_040, 3_300_002_402, 50_289, 6031, 6545, 11_412, 19_114])
  func replacedUnlisted(seed: UInt64) async throws { try await run(seed, .all) }

  /// Of these 1059 and 1236 found that an update of no column was refused by some, and 66 something that waited for
  /// what nobody could prove any more; 20000596 that circles were not compared by sequence, and the two behind it that
  /// contexts which name an effect without its cause mean something to the model that they do not to a merge. 50009514:
  /// a row remembered by a key in another form than its own. 70008176: an end that nobody held any more. 80001319: own
  /// work to a row that was written to at the end of time kept its author from coming back. 200003616: two who removed
  /// each other, of which nobody else learned. 500001441: an update of what nobody had inserted.
  /// 850002364: a value that the program's own merge function cannot take.
  @Test(
    "replicas agree whatever a hostile member sends, and forget it",
    arguments: [
      UInt64(1059), 1154, 1196, 1236, 66, 98, 103, 28, 32, 45, 53, 59, 67, 82, 92, 129, 131, 20_000_473, 20_000_596,
      30_000_259, 40_002_462, 50_009_514, 70_008_176, 80_001_319, 200_003_616,
      500_001_441, 850_002_364,
    ])
  func hostile(seed: UInt64) async throws {
    let isHostile = Trace(seed: seed, faults: Self.former).isHostile
    #expect(isHostile)
    try await run(seed, Self.former)
  }

  @Test("a world with a hostile member has the same other events as without")
  func apart() {
    let (with, without) = (Trace(seed: 98), Trace(seed: 98, faults: .all.subtracting(.hostility)))
    #expect(with.isHostile && !without.isHostile)
    func lines(_ trace: Trace) -> [String] {
      trace.description(of: Array(0..<trace.count)).split(separator: "\n").map {
        $0.drop { $0 == " " }.drop { $0.isNumber }.drop { $0 == " " }.description
      }
    }
    #expect(lines(with).filter { !$0.contains("a hostile file") } == lines(without))
  }

  private func run(_ seed: UInt64, _ faults: Fault) async throws {
    let folder = try WorldFolder()
    let outcome = try await Simulation(root: folder.path, faults: faults).run(seed: seed)
    if let failure = outcome.failure { Issue.record("seed \(seed): \(failure)") }
    #expect(outcome.transactions > 0)
  }

  @Test("a seed makes the same world every time", arguments: [UInt64(5), 77, 4711])
  func repeats(seed: UInt64) async throws {
    let folder = try WorldFolder()
    let first = try await Simulation(root: folder.path).run(seed: seed)
    let other = try WorldFolder()
    let second = try await Simulation(root: other.path).run(seed: seed)
    #expect(
      first.trace.description(of: Array(0..<first.trace.count))
        == second.trace.description(of: Array(0..<second.trace.count)))
    #expect(first.transactions == second.transactions)
    #expect(first.conflicts == second.conflicts)
    #expect(first.digest != nil && first.digest == second.digest)
  }

  /// Sets of one content have different orders in one process, so one seed or two would seldom find a draw from one.
  @Test("a seed makes the same trace every time")
  func repeatsTraces() {
    for seed in UInt64(1)...300 {
      let (first, second) = (Trace(seed: seed), Trace(seed: seed))
      let numbers = Array(0..<first.count)
      #expect(first.count == second.count && first.description(of: numbers) == second.description(of: numbers))
    }
  }

  /// Of equal timestamps the origins decide, so seed 2, in which a replica is copied, gave one of two worlds while the
  /// numbers of incarnations were drawn anew each time.
  @Test("a seed gives the same world each time", arguments: [UInt64(2), 2, 2, 5, 11])
  func repeatsWorlds(seed: UInt64) async throws {
    let folder = try WorldFolder()
    let simulation = Simulation(root: folder.path)
    let (first, second) = (try await simulation.run(seed: seed), try await simulation.run(seed: seed))
    #expect(first.result == second.result)
  }

  @Test("a world without some of its events is a world all the same")
  func runsWithoutSomeEvents() async throws {
    let folder = try WorldFolder()
    let simulation = Simulation(root: folder.path)
    let trace = Trace(seed: 8)
    for remainder in 0..<3 {
      let kept = (0..<trace.count).filter { $0 % 3 != remainder }
      let outcome = try await simulation.run(trace, keeping: kept)
      #expect(outcome.failure == nil)
    }
  }
}

@Suite("Shrinker")
struct ShrinkerTests {
  @Test("only the events that make it fail are left")
  func keepsWhatFails() async throws {
    let needed: Set<Int> = [3, 17, 40]
    var shrinker = Shrinker<Int> { kept in needed.isSubset(of: kept) ? kept.count : nil }
    let found = try await shrinker.shrink(Array(0..<60))
    #expect(found?.kept == [3, 17, 40])
  }

  @Test("events that do not fail are not shrunk")
  func leavesWhatRunsClean() async throws {
    var shrinker = Shrinker<Int> { _ in nil }
    let found = try await shrinker.shrink(Array(0..<60))
    #expect(found == nil)
  }
}
