import Foundation
import GodwitBase

/// How long requests are tried again (Specs/remotes.md, "Object stores").
package struct StorePatience: Sendable {
  /// With all requests of a pass.
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

  /// Of a pass that keeps others waiting, and comes again by itself.
  package static let brief = StorePatience(total: .seconds(30))

  static let longest: Duration = .seconds(300)
  static let longestAsked: Duration = .seconds(900)

  /// The pause before another try, or nil when there is no time left for it.
  ///
  /// - Parameter elapsed: The time that was lost so far.
  func pause(try number: Int, after elapsed: Duration, asked: Duration?) -> Duration? {
    let limit = min(first * (1 << min(number, 16)), Self.longest)
    let jitter = limit * Double.random(in: 0...1)
    let pause = asked.map { max(min($0, Self.longestAsked), jitter) } ?? jitter
    return elapsed + pause <= total ? pause : nil
  }
}
