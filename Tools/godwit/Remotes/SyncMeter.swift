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
  }

  /// How many seconds a rate is taken over at least: what a buffer takes at once says nothing.
  private static let span = 0.25

  private let bar: ProgressBar
  private let state = Mutex(State())

  init(_ bar: ProgressBar) { self.bar = bar }

  func show(_ progress: Replica.SyncProgress) {
    let verb = progress.direction == .fetching ? "fetching from" : "publishing to"
    let title = "\(verb) \(progress.remote)"
    let (seconds, before) = state.withLock { state in
      if state.file != title || progress.bytes == 0 {
        state = State(file: title, before: progress.bytes)
      }
      return ((ContinuousClock.now - state.start) / .seconds(1), state.before)
    }
    let rate = seconds < Self.span ? nil : Double(progress.bytes - before) / seconds
    bar.update(
      "\(title): \(Format.byteSize(progress.bytes)) of \(Format.byteSize(progress.total))"
        + (rate.map { ", \(Format.byteSize(Int($0)))/s" } ?? ""))
  }
}
