import Foundation
import GodwitBase

/// How long a request is tried again (Specs/remotes.md, "Object stores").
package struct StorePatience: Sendable {
  /// In all.
  let total: Duration
  /// How long connecting may take, and how long nothing may come or go, in whole seconds.
  let silence: Int
  /// The first pause; each next one is twice as long, and the actual one is anything from nothing to that.
  let first: Duration

  package init(total: Duration = .seconds(900), first: Duration = .seconds(1), silence: Int = 30) {
    self.total = total
    self.silence = silence
    self.first = first
  }

  static let longest: Duration = .seconds(300)
  static let longestAsked: Duration = .seconds(900)

  /// The pause before another try, or nil when there is no time left for it.
  func pause(try number: Int, after elapsed: Duration, asked: Duration?) -> Duration? {
    let limit = min(first * (1 << min(number, 16)), Self.longest)
    let jitter = limit * Double.random(in: 0...1)
    let pause = asked.map { max(min($0, Self.longestAsked), jitter) } ?? jitter
    return elapsed + pause <= total ? pause : nil
  }
}
