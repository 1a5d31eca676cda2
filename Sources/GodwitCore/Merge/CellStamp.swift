import GodwitBase

/// When and by whom a cell was written. Ordered by HLC, then origin; two transactions of one origin that share an HLC
/// (Specs/clock.md) never wrote the same row, and their sequence orders them.
package struct CellStamp: Hashable, Comparable, Sendable {
  package let hlc: HLC
  package let dot: Dot

  package init(hlc: HLC, dot: Dot) {
    self.hlc = hlc
    self.dot = dot
  }

  /// Of a write of which only the name is remembered; the log knows the time.
  package init(unknownTimeOf dot: Dot) { self.init(hlc: HLC(rawValue: 0), dot: dot) }

  package static func < (left: CellStamp, right: CellStamp) -> Bool {
    return (left.hlc, left.dot.origin, left.dot.sequence) < (right.hlc, right.dot.origin, right.dot.sequence)
  }
}
