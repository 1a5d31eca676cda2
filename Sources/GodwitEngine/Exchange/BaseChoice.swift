import GodwitBase
import GodwitSyncFile

/// What the header of a file builds on (Specs/remotes.md, "Large groups").
package struct BaseChoice {
  /// Nil where the header has so much to say of itself that it is whole.
  let base: HeaderBase?
  /// Whether that is made for it.
  let isNew: Bool
  /// What the new one builds on itself; nil for a whole one.
  let root: HeaderBase?

  /// What a change of another member's adds to a header that builds on an earlier base: a place, a sequence, a chain.
  package static let growth = 40.0
  /// What a file with a short header has besides that: age's header, preamble, signatures.
  private static let envelope = 512

  /// - Parameters:
  ///   - bases: Those that are there, each with whether it is whole.
  ///   - header: The file's.
  ///   - new: One that has all that is known now.
  ///   - growth: What a change of another member's adds to a header, in bytes.
  init(
    of bases: [(base: HeaderBase, isWhole: Bool)], for header: SyncFileHeader, besides new: HeaderBase,
    growth: Double = Self.growth
  ) {
    let known = Self.shortest(of: bases.map(\.base), for: header)
    let roots = bases.filter(\.isWhole).map(\.base)
    let root = Self.shortest(of: roots, for: new.header).flatMap { root in
      Self.isWorth(root.count, insteadOf: new.header.byteCount, growth: growth) ? root : nil
    }
    let cost = root.map { $0.count + Self.envelope } ?? new.header.byteCount
    if let known, !Self.isDue(known.count - header.byteCount(on: new), at: cost, growth: growth) {
      (base, isNew, self.root) = (known.base, false, nil)
    } else if header.canBuild(on: new.header) {
      (base, isNew, self.root) = (new, true, root?.base)
    } else {
      (base, isNew, self.root) = (nil, false, nil)
    }
  }

  private static func shortest(
    of bases: [HeaderBase], for header: SyncFileHeader
  ) -> (base: HeaderBase, count: Int)? {
    bases.filter { header.canBuild(on: $0.header) }.map { ($0, header.byteCount(on: $0)) }.min { $0.count < $1.count }
  }

  /// Whether headers are so much longer than on a new base that it is worth its cost.
  ///
  /// A base of b bytes that is made whenever headers have grown by e, g for each change, costs g b / e a change, and
  /// they have e / 2 more meanwhile: the sum is least where e² = 2 g b.
  static func isDue(_ excess: Int, at cost: Int, growth: Double) -> Bool {
    let excess = Double(max(0, excess))
    return excess * excess > 2 * growth * Double(cost)
  }

  /// Whether a new base does better to build on a whole one.
  ///
  /// A whole one of b bytes that is made whenever short ones have grown to s costs g b / s a change. The short ones
  /// have s / 2, and are made whenever headers have grown by e, as above: g s / 2 e. The sum is least where s² = 2 b e.
  static func isWorth(_ count: Int, insteadOf whole: Int, growth: Double) -> Bool {
    let excess = (2 * growth * Double(count + envelope)).squareRoot()
    return Double(count) * Double(count) <= 2 * Double(whole) * excess
  }
}

extension SyncFileHeader {
  /// What it takes on a base.
  fileprivate func byteCount(on base: HeaderBase) -> Int {
    var writer = ByteWriter()
    write(on: base, to: &writer)
    return writer.count
  }
}
