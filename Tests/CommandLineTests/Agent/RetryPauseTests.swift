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
      lengths.append(pause.length)
      #expect((0..<100).allSatisfy { _ in (pause.length * 0.8...pause.length * 1.2).contains(pause.scattered) })
      pause.attemptEnded(lasted: pause.length, isNew: false)
    }
    #expect(lengths == [10, 20, 40, 80, 160, 320, 640, 900, 900].map { .seconds($0) })
  }

  @Test("short again for one that was well for long, or that is to begin anew")
  func beginsAnew() {
    var pause = RetryPause()
    for _ in 0..<9 { pause.attemptEnded(lasted: .seconds(900), isNew: false) }
    var reloaded = pause
    reloaded.attemptEnded(lasted: .seconds(1), isNew: true)
    #expect(pause.length == .seconds(900) && reloaded.length == .seconds(10))
    pause.attemptEnded(lasted: .seconds(1_801), isNew: false)
    #expect(pause.length == .seconds(10))
  }
}
