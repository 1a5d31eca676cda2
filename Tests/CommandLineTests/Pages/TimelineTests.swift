import Foundation
import Godwit
import GodwitPages
import Testing

/// Specs/report.md, "The way of the data".
@Suite("Timelines")
struct TimelineTests {
  private let always = Int64.min...Int64.max

  private func replica(_ number: Int) throws -> ReplicaID {
    try #require(ReplicaID(String(repeating: "0", count: 29) + String(1_000 + number).suffix(3)))
  }

  private func tally(_ seconds: [Int: [Int64: Int]]) throws -> LogTally {
    var tally = LogTally()
    for (writer, amounts) in seconds {
      tally.seconds[try replica(writer)] = amounts.mapValues { LogTally.Amount(transactions: $0, bytes: $0 * 10) }
    }
    return tally
  }

  @Test("nothing that is remembered has no timeline, and one second has one span")
  func least() throws {
    #expect(Timeline(LogTally(), credible: always) == nil)
    let one = try #require(Timeline(try tally([1: [-5: 3]]), credible: always))
    #expect(one.spans == 1 && one.secondsInSpan == 1 && one.spanName == "a second")
    #expect(one.lanes.map(\.total) == [LogTally.Amount(transactions: 3, bytes: 30)])
    #expect(one.text(0) == "1969-12-31 23:59:55" && one.text(1) == "1969-12-31 23:59:56")
  }

  @Test(
    "spans have lengths that people count in, at most 48 of them, and lose nothing",
    arguments: [
      (2, 1), (47, 1), (48, 2), (3_600, 120), (47 * 1_800, 1_800), (47 * 1_800 + 1, 3_600), (86_400 * 30, 86_400),
      (86_400 * 365, 1_209_600),
      (86_400 * 365 * 10, 84 * 86_400), (86_400 * 365 * 200, 31_536_000 * 5), (Int64.max / 2_000, 0),
    ] as [(Int64, Int64)])
  func spans(length: Int64, span: Int64) throws {
    let amounts: [Int64: Int] = [1_000: 1, 1_000 + length / 2: 2, 1_000 + length: 4]
    let timeline = try #require(Timeline(try tally([1: amounts]), credible: always))
    if span > 0 { #expect(timeline.secondsInSpan == span) }
    #expect((1...Int(Timeline.spanLimit)).contains(timeline.spans))
    let sum = amounts.values.reduce(0, +)
    #expect(timeline.lanes.first?.total == LogTally.Amount(transactions: sum, bytes: 10 * sum))
    #expect(timeline.lanes.first?.amounts.first?.transactions != 0)
    #expect(timeline.lanes.first?.amounts.last?.transactions != 0)
  }

  @Test("those that wrote most have lanes, all others one together")
  func lanes() throws {
    let many = Dictionary(uniqueKeysWithValues: (1...40).map { ($0, [Int64($0): $0]) })
    let timeline = try #require(Timeline(try tally(many), credible: always))
    #expect(timeline.lanes.count == Timeline.laneLimit)
    #expect(timeline.lanes.first?.replica == (try replica(40)))
    #expect(timeline.lanes.last?.replica == nil)
    #expect(timeline.lanes.reduce(0) { $0 + $1.total.transactions } == (1...40).reduce(0, +))
    #expect(timeline.lanes.last?.total.transactions == (1...25).reduce(0, +))
  }

  @Test("clocks that are years off leave the others their spans, and lose nothing")
  func misdated() throws {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let times: [Int64: Int] = [1_799_990_000: 1, 1_799_990_030: 2]
    let off: [Int64: Int] = [0: 4, 1_900_000_000: 8, Int64.max / 2_000: 16, Int64.min / 2_000: 32]
    let credible = Timeline.credible(at: now)
    let timeline = try #require(Timeline(try tally([1: times, 2: off]), credible: credible))
    #expect(timeline.spans == 31 && timeline.secondsInSpan == 1 && timeline.misdated == 60)
    #expect(timeline.lanes[0].amounts.first?.transactions == 36 && timeline.lanes[0].amounts.last?.transactions == 24)
    #expect(timeline.lanes[1].amounts.first?.transactions == 1 && timeline.lanes[1].amounts.last?.transactions == 2)
    // Where no time is credible, this machine's clock is wrong.
    let early = try #require(Timeline(try tally([1: times]), credible: Timeline.credible(at: Date.distantPast)))
    #expect(early.misdated == 0 && early.spans == 31)
    #expect(Timeline.credible(at: Date.distantFuture).contains(1_900_000_000))
  }
}
