import GodwitBase
import Synchronization

/// When entries were last used, as far as this process knows; it is written to the file only when an entry's turn to go
/// has come (Specs/cache.md, "Recency").
final class CacheRecency: Sendable {
  private struct State {
    var ticks: [String: Int64] = [:]
    var last: Int64 = 0
    /// Whether the file's own ticks are known to be behind.
    var hasBegun = false
  }

  private let state = Mutex(State())
  private let wallClock: WallClock
  /// Some megabytes of keys; of those beyond, the file's own tick counts.
  private static let keyLimit = 65_536

  init(_ wallClock: WallClock) { self.wallClock = wallClock }

  /// Lets ticks begin behind the greatest in the file, which a clock that has been ahead may have left there.
  func begin(_ greatest: () throws -> Int64) throws {
    guard !state.withLock(\.hasBegun) else { return }
    follow(try greatest())
  }

  /// Lets ticks continue behind the greatest in the file, which a process whose clock is ahead may have just written.
  func follow(_ greatest: Int64) {
    state.withLock { state in
      state.last = max(state.last, greatest)
      state.hasBegun = true
    }
  }

  /// A tick later than every other of this process, and about the time, so that those of several processes compare.
  func tick() -> Int64 { state.withLock { Self.next(&$0, wallClock) } }

  private static func next(_ state: inout State, _ wallClock: WallClock) -> Int64 {
    state.last = max(state.last + 1, wallClock.milliseconds() << 16)
    return state.last
  }

  /// Uses one after another.
  func use(_ keys: [String]) {
    guard !keys.isEmpty else { return }
    state.withLock { state in
      var tick = Self.next(&state, wallClock)
      for key in keys {
        if state.ticks.count >= Self.keyLimit, state.ticks[key] == nil { Self.forgetOldest(&state) }
        state.ticks[key] = tick
        tick += 1
      }
      state.last = tick
    }
  }

  /// Half of them, so that each is looked at once in so many uses.
  private static func forgetOldest(_ state: inout State) {
    let middle = state.ticks.values.sorted()[state.ticks.count / 2]
    state.ticks = state.ticks.filter { $0.value >= middle }
  }

  /// The last use of a key that is later than the file knows.
  func take(_ key: String, after stored: Int64) -> Int64? {
    state.withLock { state in
      guard let tick = state.ticks.removeValue(forKey: key), tick > stored else { return nil }
      return tick
    }
  }

  func forget(_ key: String) { state.withLock { _ = $0.ticks.removeValue(forKey: key) } }

  /// All of them, which are forgotten here.
  func takeAll() -> [String: Int64] {
    state.withLock { state in
      defer { state.ticks = [:] }
      return state.ticks
    }
  }
}
