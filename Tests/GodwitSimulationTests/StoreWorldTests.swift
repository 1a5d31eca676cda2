import GodwitSimulation
import Testing

@Suite("Worlds of a store")
struct StoreWorldTests {
  @Test("members that reach each other by a store that goes wrong agree once it is well", arguments: UInt64(1)...6)
  func agree(seed: UInt64) async throws {
    let folder = try WorldFolder()
    let simulation = StoreSimulation(root: folder.path)
    try await simulation.prepare()
    #expect(try await simulation.run(seed: seed).failure == nil)
  }

  /// Names of bases and of epochs are random, so that where a member has several there a fault may hit another one.
  @Test("a seed gives the same world each time, unless random names decide", arguments: UInt64(1)...4)
  func repeats(seed: UInt64) async throws {
    let folder = try WorldFolder()
    let simulation = StoreSimulation(root: folder.path)
    try await simulation.prepare()
    let (first, second) = (try await simulation.run(seed: seed), try await simulation.run(seed: seed))
    #expect(first == second)
  }
}
