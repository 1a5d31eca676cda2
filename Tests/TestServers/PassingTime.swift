import Synchronization

/// A clock that only waiting advances, for what is slowed down on purpose.
package final class PassingTime: Sendable {
  private struct State {
    var now = Duration.zero
    var longest = Duration.zero
    var count = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// How long all waits took.
  package var now: Duration { state.withLock { $0.now } }
  package var longestWait: Duration { state.withLock { $0.longest } }
  package var waitCount: Int { state.withLock { $0.count } }

  package func wait(_ pause: Duration) {
    state.withLock { state in
      state.now += pause
      state.longest = max(state.longest, pause)
      state.count += 1
    }
  }
}
