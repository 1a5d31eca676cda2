import Foundation
import Synchronization

/// A progress bar on the standard error. It appears only when the work takes longer than 250 ms, and leaves no trace.
public final class ProgressBar: Sendable {
  private struct State {
    var isFinished = false
    var lastDrawn: ContinuousClock.Instant?
    var width = 0
  }

  private static let delay = Duration.milliseconds(250)
  private static let interval = Duration.milliseconds(100)
  private static let cells = 30

  private let label: String
  private let isShown: Bool
  private let usesColor: Bool
  private let start = ContinuousClock.now
  private let state = Mutex(State())

  init(label: String, isShown: Bool) {
    self.label = label
    self.isShown = isShown
    usesColor = StandardStream.error.takesColor
  }

  /// Shows how much is done, from 0 to 1. May be called from any thread, as often as wanted.
  public func update(_ fraction: Double) { show(Self.line(label, fraction)) }

  /// The same where nobody knows how much there is: how many are done.
  public func update(count: Int, _ noun: String) { show("\(label) \(Format.count(count, noun))") }

  /// The same in words of the caller's.
  public func update(_ line: String) { show(line) }

  private func show(_ line: @autoclosure () -> String) {
    guard isShown else { return }
    let now = ContinuousClock.now
    guard now - start >= Self.delay else { return }
    state.withLock { state in
      if state.isFinished { return }
      if let last = state.lastDrawn, now - last < Self.interval { return }
      state.lastDrawn = now
      let line = line()
      let width = TextTable.displayWidth(line)
      // What a longer line has left is covered.
      let rest = String(repeating: " ", count: max(0, state.width - width))
      state.width = width
      try? StandardStream.error.write("\r" + (usesColor ? "\u{1B}[2m\(line)\u{1B}[0m" : line) + rest)
    }
  }

  /// Erases the bar. Spaces do it on every terminal, where an escape sequence would not.
  public func finish() {
    state.withLock { state in
      if !state.isFinished, state.width > 0 {
        try? StandardStream.error.write("\r" + String(repeating: " ", count: state.width) + "\r")
      }
      state.isFinished = true
    }
  }

  private static func line(_ label: String, _ fraction: Double) -> String {
    let share = min(max(fraction, 0), 1)
    let done = Int(share * Double(cells))
    let percent = String(Int(share * 100))
    return "\(label) [\(String(repeating: "#", count: done))\(String(repeating: "-", count: cells - done))] "
      + String(repeating: " ", count: 3 - percent.count) + "\(percent)%"
  }
}
