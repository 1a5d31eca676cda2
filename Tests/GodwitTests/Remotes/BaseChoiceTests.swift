import Testing

@testable import GodwitEngine

/// Specs/remotes.md, "Large groups": when another base is made, and when it is a short one.
@Suite("When bases are made")
struct BaseChoiceTests {
  private static let growth = BaseChoice.growth

  /// What a change costs in the long run: its part of whole and of short bases, and what files have more meanwhile.
  private func cost(whole: Double, shortAt short: Double, excessAt excess: Double) -> Double {
    Self.growth * whole / short + Self.growth * (short / 2 + 512) / excess + excess / 2
  }

  /// The least number from which something holds.
  private func least(_ holds: (Int) -> Bool) -> Double { Double((1...10_000_000).lazy.first(where: holds) ?? 0) }

  @Test("bases of one kind cost as much as what they save", arguments: [600, 8_000, 300_000])
  func oneKind(size: Int) {
    let excess = least { BaseChoice.isDue($0, at: size, growth: Self.growth) }
    func cost(_ excess: Double) -> Double { Self.growth * Double(size) / excess + excess / 2 }
    for factor in [0.5, 0.8, 1.25, 2] { #expect(cost(excess) <= cost(excess * factor) * 1.001) }
  }

  @Test("a change costs next to the least with short bases, and in a large group a third of what it does without")
  func twoKinds() {
    for whole in [8_000, 60_000, 300_000] {
      let short = least { !BaseChoice.isWorth($0, insteadOf: whole, growth: Self.growth) }
      let excess = least { BaseChoice.isDue($0, at: Int(short / 2) + 512, growth: Self.growth) }
      let cost = cost(whole: Double(whole), shortAt: short, excessAt: excess)
      for factor in [0.5, 0.7, 1.4, 2] {
        #expect(cost < self.cost(whole: Double(whole), shortAt: short * factor, excessAt: excess) * 1.05)
        #expect(cost < self.cost(whole: Double(whole), shortAt: short, excessAt: excess * factor) * 1.05)
      }
      let without = (2 * Self.growth * Double(whole)).squareRoot()
      #expect(cost < without)
      if whole == 300_000 { #expect(cost * 3 < without) }
    }
  }
}
