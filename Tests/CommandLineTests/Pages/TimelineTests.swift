import Godwit
import GodwitPages
import Testing

/// Specs/report.md, "The way of the data".
@Suite("Timelines")
struct TimelineTests {
  private func replica(_ number: Int) throws -> ReplicaID {
    try #require(ReplicaID(String(repeating: "0", count: 29) + String(1_000 + number).suffix(3)))
  }

  private func tally(_ minutes: [Int: [Int64: Int]]) throws -> LogTally {
    var tally = LogTally()
    for (writer, amounts) in minutes {
      tally.minutes[try replica(writer)] = amounts.mapValues { LogTally.Amount(transactions: $0, bytes: $0 * 10) }
    }
    return tally
  }

  @Test("nothing that is remembered has no timeline, and one minute has one span")
  func least() throws {
    #expect(Timeline(LogTally()) == nil)
    let one = try #require(Timeline(try tally([1: [-5: 3]])))
    #expect(one.spans == 1 && one.minutesInSpan == 1 && one.spanName == "a minute")
    #expect(one.lanes.map(\.total) == [LogTally.Amount(transactions: 3, bytes: 30)])
    #expect(one.text(0) == "1969-12-31 23:55" && one.text(1) == "1969-12-31 23:56")
  }

  @Test(
    "spans have lengths that people count in, at most 48 of them, and lose nothing",
    arguments: [
      (2, 1), (47, 1), (48, 2), (60 * 24, 60), (1_440 * 30, 1_440), (525_600, 20_160), (525_600 * 10, 129_600),
      (525_600 * 200, 525_600 * 5), (Int64.max / 120_000, 525_600 * 3_046_000),
    ] as [(Int64, Int64)])
  func spans(length: Int64, span: Int64) throws {
    let amounts: [Int64: Int] = [1_000: 1, 1_000 + length / 2: 2, 1_000 + length: 4]
    let timeline = try #require(Timeline(try tally([1: amounts])))
    if length < 1_000_000_000 { #expect(timeline.minutesInSpan == span) }
    #expect((1...Int(Timeline.spanLimit)).contains(timeline.spans))
    let sum = amounts.values.reduce(0, +)
    #expect(timeline.lanes.first?.total == LogTally.Amount(transactions: sum, bytes: 10 * sum))
    #expect(timeline.lanes.first?.amounts.first?.transactions != 0)
    #expect(timeline.lanes.first?.amounts.last?.transactions != 0)
  }

  @Test("those that wrote most have lanes, all others one together")
  func lanes() throws {
    let many = Dictionary(uniqueKeysWithValues: (1...40).map { ($0, [Int64($0): $0]) })
    let timeline = try #require(Timeline(try tally(many)))
    #expect(timeline.lanes.count == Timeline.laneLimit)
    #expect(timeline.lanes.first?.replica == (try replica(40)))
    #expect(timeline.lanes.last?.replica == nil)
    #expect(timeline.lanes.reduce(0) { $0 + $1.total.transactions } == (1...40).reduce(0, +))
    #expect(timeline.lanes.last?.total.transactions == (1...25).reduce(0, +))
  }
}
