import Godwit
import Synchronization
import ToolSupport

/// Shows which file moves, how much of it, and how fast.
final class SyncMeter: Sendable {
  private struct State {
    var file: String?
    var start = ContinuousClock.now
    /// How many bytes were through then.
    var before = 0
    /// Whether it is known how large the file is.
    var hasTotal = false
  }

  /// How many seconds a rate is taken over at least: what a buffer takes at once says nothing.
  private static let span = 0.25

  private let bar: ProgressBar
  private let state = Mutex(State())

  init(_ bar: ProgressBar) { self.bar = bar }

  func show(_ progress: Replica.SyncProgress) {
    let verb = progress.direction == .fetching ? "fetching from" : "publishing to"
    let title = "\(verb) \(progress.remote)"
    let (seconds, before, hasTotal) = state.withLock { state in
      if state.file != title || progress.bytes == 0 {
        state = State(file: title, before: progress.bytes)
      }
      if progress.total > progress.bytes { state.hasTotal = true }
      return ((ContinuousClock.now - state.start) / .seconds(1), state.before, state.hasTotal)
    }
    let rate = seconds < Self.span ? nil : Double(progress.bytes - before) / seconds
    bar.update(
      "\(title): \(Format.byteSize(progress.bytes))"
        + (hasTotal ? " of \(Format.byteSize(progress.total))" : "")
        + (rate.map { ", \(Format.byteSize(Int($0)))/s" } ?? ""))
  }
}
