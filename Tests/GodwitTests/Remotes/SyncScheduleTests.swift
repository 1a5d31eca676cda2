import Testing

@testable import Godwit

/// Specs/agent.md, "When".
@Suite("When a replica that keeps itself in sync syncs")
struct SyncScheduleTests {
  private let start = ContinuousClock.now

  private func schedule(_ names: [String] = ["a", "b"], every seconds: Int = 60) -> SyncSchedule {
    var schedule = SyncSchedule(interval: .seconds(seconds))
    schedule.set(names, at: start)
    return schedule
  }

  @Test("all at once, then again after the interval, a fifth more or less")
  func polls() {
    var schedule = schedule()
    #expect(schedule.next == start)
    #expect(schedule.due(at: start) == ["a", "b"])
    schedule.finish("a", isFailed: false, at: start, random: 0)
    schedule.finish("b", isFailed: false, at: start, random: 1)
    #expect(schedule.due(at: start + .seconds(47)).isEmpty)
    #expect(schedule.next == start + .seconds(48))
    #expect(schedule.due(at: start + .seconds(48)) == ["a"])
    #expect(schedule.due(at: start + .seconds(72)) == ["a", "b"])
  }

  @Test("what was written goes out when nothing more was written for two seconds, or after ten")
  func changes() {
    var schedule = schedule()
    for name in ["a", "b"] { schedule.finish(name, isFailed: false, at: start, random: 0.5) }
    schedule.noteChange(at: start + .seconds(10))
    #expect(schedule.next == start + .seconds(12))
    schedule.noteChange(at: start + .seconds(11))
    #expect(schedule.due(at: start + .seconds(12)).isEmpty)
    #expect(schedule.due(at: start + .seconds(13)) == ["a", "b"])
    for second in 12...30 { schedule.noteChange(at: start + .seconds(second)) }
    #expect(schedule.next == start + .seconds(20))
    schedule.begin(at: start + .seconds(20))
    #expect(schedule.due(at: start + .seconds(20)).isEmpty)
  }

  @Test("a change while others are synced is not forgotten")
  func changeBeforeItSettles() {
    var schedule = schedule()
    schedule.finish("a", isFailed: false, at: start, random: 0.5)
    schedule.noteChange(at: start)
    schedule.begin(at: start + .seconds(1))
    schedule.finish("b", isFailed: false, at: start + .seconds(1), random: 0.5)
    #expect(schedule.due(at: start + .seconds(2)) == ["a", "b"])
  }

  @Test("one that fails waits twice as long each time, at most a quarter of an hour, and no change hastens it")
  func failures() {
    var schedule = schedule(["a"])
    var now = start
    for pause in [120, 240, 480, 900, 900, 900] {
      schedule.finish("a", isFailed: true, at: now, random: 0.5)
      schedule.noteChange(at: now)
      #expect(schedule.next == now + .seconds(pause))
      now = now + .seconds(pause)
      #expect(schedule.due(at: now) == ["a"])
    }
    schedule.finish("a", isFailed: false, at: now, random: 0.5)
    #expect(schedule.due(at: now) == ["a"])
    schedule.begin(at: now)
    #expect(schedule.next == now + .seconds(60))
  }

  @Test("a remote that fails keeps no other from what was written")
  func independence() {
    var schedule = schedule()
    schedule.finish("a", isFailed: true, at: start, random: 0.5)
    schedule.finish("b", isFailed: false, at: start, random: 0.5)
    schedule.noteChange(at: start)
    #expect(schedule.due(at: start + .seconds(2)) == ["b"])
  }

  @Test("a failure delays by a quarter of an hour at most, whatever the interval")
  func longIntervals() {
    var schedule = schedule(["a"], every: 86_400)
    for pause in [120, 240, 480, 900, 900] {
      schedule.finish("a", isFailed: true, at: start, random: 0.5)
      #expect(schedule.next == start + .seconds(pause))
    }
    schedule.finish("a", isFailed: false, at: start, random: 0.5)
    #expect(schedule.next == start + .seconds(86_400))
  }

  @Test("what could not go out since the replica was busy goes out ten seconds later")
  func busy() {
    var schedule = schedule()
    for name in ["a", "b"] { schedule.finish(name, isFailed: false, at: start, random: 0.5) }
    schedule.noteChange(at: start)
    let now = start + .seconds(2)
    schedule.begin(at: now)
    schedule.postpone(["a", "b"], at: now)
    #expect(schedule.due(at: now).isEmpty && schedule.next == now + .seconds(10))
    #expect(schedule.due(at: now + .seconds(10)) == ["a", "b"])
  }

  @Test("remotes come and go")
  func remotes() {
    var schedule = schedule(["a"])
    schedule.finish("a", isFailed: false, at: start, random: 0.5)
    schedule.set(["a", "c"], at: start + .seconds(5))
    #expect(schedule.due(at: start + .seconds(5)) == ["c"])
    schedule.set([], at: start + .seconds(6))
    #expect(schedule.next == nil && schedule.due(at: start + .seconds(600)).isEmpty)
    schedule.finish("c", isFailed: true, at: start, random: 0.5)
    #expect(schedule.next == nil)
  }

  @Test("whatever happens, something is due at the next look, and that is never too late", arguments: 1...200)
  func anything(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let interval = Int.random(in: 1...86_400, using: &random)
    var schedule = schedule(["a", "b", "c"], every: interval)
    let longest = Duration.seconds(Double(max(interval, 900)) * 1.2)
    var now = start
    var healthy: Set = ["a", "b", "c"]
    var changed: SyncSchedule.Instant?
    for _ in 0..<200 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        schedule.noteChange(at: now)
        changed = changed ?? now
      case 1:
        let due = schedule.due(at: now)
        if let first = changed, first + .seconds(10) <= now {
          #expect(healthy.isSubset(of: due))
          changed = nil
        } else if !due.isEmpty, healthy.isSubset(of: due) {
          changed = nil
        }
        schedule.begin(at: now)
        for name in due {
          let isFailed = Bool.random(using: &random)
          if isFailed { healthy.remove(name) } else { healthy.insert(name) }
          schedule.finish(name, isFailed: isFailed, at: now, random: .random(in: 0...1, using: &random))
        }
      default: now = now + .milliseconds(Int.random(in: 0...60_000, using: &random))
      }
      guard let next = schedule.next else {
        Issue.record("there are remotes")
        return
      }
      #expect(next <= now + longest)
      #expect(schedule.due(at: now).isEmpty == (next > now))
    }
  }
}
