import GodwitAgent
import Testing

/// Specs/agent.md, "The agent": how rarely a replica that fails is opened again.
@Suite("Pauses of an agent's keepers")
struct RetryPauseTests {
  @Test("from 10 seconds, twice as long each time, to a quarter of an hour, and never beyond a fifth of that")
  func grows() {
    var pause = RetryPause()
    var lengths: [Duration] = []
    for _ in 0..<9 {
      pause.attemptEnded(lasted: .seconds(1))
      lengths.append(pause.length)
      #expect((0..<100).allSatisfy { _ in (pause.length * 0.8...pause.length * 1.2).contains(pause.scattered) })
    }
    #expect(lengths == [10, 20, 40, 80, 160, 320, 640, 900, 900].map { .seconds($0) })
  }

  @Test("short again at once for one that was well for long")
  func beginsAnew() {
    var pause = RetryPause()
    for _ in 0..<9 { pause.attemptEnded(lasted: .seconds(900)) }
    #expect(pause.length == .seconds(900))
    pause.attemptEnded(lasted: .seconds(1_801))
    #expect(pause.length == .seconds(10))
  }
}
