import Testing

@testable import Godwit

/// Specs/agent.md, "The agent": care.
@Suite("When a replica that keeps itself in sync takes care of its database")
struct CareScheduleTests {
  private let start = ContinuousClock.now

  @Test("not before an hour, nor unless something changed since the beginning")
  func first() {
    var care = CareSchedule(count: 7, at: start)
    #expect(care.next == nil)
    care.note(7, at: start + .seconds(10))
    #expect(care.next == nil)
    care.note(8, at: start + .seconds(20))
    #expect(care.next == start + .seconds(3_600))
  }

  @Test("when nothing was written for a minute, once a day, and again only after another change")
  func quiet() {
    var care = CareSchedule(count: 0, at: start)
    for second in 1...4_000 { care.note(UInt64(second), at: start + .seconds(second)) }
    #expect(care.next == start + .seconds(4_060))
    care.finish(at: start + .seconds(4_061))
    #expect(care.next == nil)
    care.note(4_000, at: start + .seconds(5_000))
    #expect(care.next == nil)
    care.note(4_001, at: start + .seconds(6_000))
    #expect(care.next == start + .seconds(4_061 + 86_400))
    care.note(4_002, at: start + .seconds(90_461))
    #expect(care.next == start + .seconds(90_521))
  }
}
