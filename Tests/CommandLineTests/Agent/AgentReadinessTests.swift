import Foundation
import Godwit
import GodwitAgent
import Synchronization
import TestFolders
import Testing

/// Specs/agent.md, "The agent": when it is ready.
@Suite("When an agent is ready")
struct AgentReadinessTests {
  @Test(
    "those that hang as they are opened keep the others from being ready for a while, and from nothing after that",
    arguments: [1, 4, 9])
  func hangs(count: Int) async throws {
    let (desk, _) = try await Machine.pair()
    var places = (0..<count).map { number in
      Agent.Place(folder: "hangs-\(number)") {
        try await Task.sleep(for: .seconds(3_600))
        throw GodwitError(.closed, "it was not to open")
      }
    }
    places.append(
      Agent.Place(folder: desk.replica) {
        try await Replica.open(at: desk.replica, configuration: .init(key: desk.keys, mustExist: true))
      })
    let isReady = Mutex(false)
    let start = ContinuousClock.now
    let agent = Agent(places, Agent.Rhythm(), Journal(.text) { _ in }, grace: .milliseconds(300))
    let task = Task { try await agent.run { isReady.withLock { $0 = true } } }
    try await Patience.until { isReady.withLock { $0 } }
    #expect(.now - start >= .milliseconds(300))
    #expect(agent.board.entries.map { $0.replica != nil } == Array(repeating: false, count: count) + [true])
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
