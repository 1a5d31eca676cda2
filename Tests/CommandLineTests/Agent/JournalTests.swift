import Foundation
import Synchronization
import Testing

@testable import GodwitAgent

/// Specs/agent.md, "Journal" and "How it is".
@Suite("What an agent writes")
struct JournalTests {
  private func line(_ form: Journal.Form, _ message: String, hint: String? = nil) -> String {
    let lines = Mutex([String]())
    let journal = Journal(form, clock: { Date(timeIntervalSince1970: 0) }) { line in lines.withLock { $0.append(line) }
    }
    journal.note(.warning, .failed, message, hint: hint, [("replica", "/srv/a b"), ("code", "unreachable")])
    return lines.withLock { $0.joined(separator: "|") }
  }

  @Test("words, for people with the time and for systemd with the priority")
  func words() {
    let words = #"event=failed replica="/srv/a b" code=unreachable message="no \"route\"" hint="try later""#
    #expect(line(.text, "no \"route\"", hint: "try later") == "1970-01-01T00:00:00.000Z warning \(words)")
    #expect(line(.systemd, "no \"route\"", hint: "try later") == "<4>\(words)")
  }

  @Test("a message cannot begin a line of its own, nor command a terminal")
  func hostile() {
    let text = line(.systemd, "a\n<0>event=stopped \u{1B}[2J\u{202E}")
    #expect(!text.contains("\n") && !text.contains("\u{1B}") && !text.contains("\u{202E}"), "\(text)")
  }

  @Test("an object")
  func json() throws {
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line(.json, "x").utf8)) as? [String: String])
    #expect(
      object == [
        "time": "1970-01-01T00:00:00.000Z", "priority": "warning", "event": "failed", "replica": "/srv/a b",
        "code": "unreachable", "message": "x",
      ])
  }

  @Test("a histogram counts each value in every bound that it does not exceed")
  func histogram() {
    var histogram = Histogram()
    for value in [0.01, 0.02, 5, 1_000] { histogram.add(value) }
    #expect(histogram.cumulative.map(\.count) == [1, 2, 2, 2, 2, 2, 3, 3, 3, 3])
    #expect(histogram.count == 4 && histogram.sum == 1005.03)
  }

  @Test("members' names that are the same, or made to look so, become series of their own")
  func distinct() {
    let ids = ["1a", "2b", "3c", "4d"]
    #expect(MetricsText.Family.distinct(["x", "y", "x", "x 1a"], ids) == ["x 1a", "y", "x 3c", "x 1a 4d"])
    let accents = ["x", "\u{E9}", "e\u{301}", ""]
    #expect(MetricsText.Family.distinct(accents, ids) == ["x", "\u{E9} 2b", "e\u{301} 3c", ""])
  }

  @Test("labels are escaped, whole numbers have no point, a metric without samples is not there")
  func metrics() {
    var text = MetricsText()
    text.family("a_total", .counter, "A.") { $0.add(3, [("path", "/a\"b\\c\nd")]) }
    text.family("b", .gauge, "B.") { _ in }
    text.family("d", .gauge, "D.") { $0.add(1, [("member", "bob\"\u{301}")]) }
    text.family("c", .gauge, "C.") { $0.add(0.5) }
    #expect(
      text.text == """
        # HELP a_total A.
        # TYPE a_total counter
        a_total{path="/a\\"b\\\\c\\\\nd"} 3
        # HELP d D.
        # TYPE d gauge
        d{member="bob\\"\u{301}"} 1
        # HELP c C.
        # TYPE c gauge
        c 0.5

        """)
  }
}
