import Foundation
import Godwit
import Testing

@testable import ToolSupport

@Suite struct OutputTests {
  @Test func jsonKeepsOrderAndEscapesControls() {
    let value: JSONValue = ["z": .string("a\"\\\u{1}\n"), "a": [.bool(true), .null, .real(0.1)]]
    #expect(value.text == "{\"z\":\"a\\\"\\\\\\u0001\\n\",\"a\":[true,null,0.1]}")
  }

  @Test func everyJSONTextParses() throws {
    let text = String(String.UnicodeScalarView((0...0x2FFF).compactMap(Unicode.Scalar.init)))
    let value = JSONValue.object([(text, .string(text)), ("n", .real(.greatestFiniteMagnitude))])
    let parsed = try JSONSerialization.jsonObject(with: Data(value.text.utf8)) as? [String: Any]
    #expect(parsed?[text] as? String == text)
    #expect(parsed?["n"] as? Double == .greatestFiniteMagnitude)
  }

  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1.0 MiB"), (5 << 30, "5.0 GiB"),
  ])
  func sizesAreShort(bytes: Int, text: String) { #expect(Format.byteSize(bytes) == text) }

  @Test func timesAreISO8601InUTC() {
    #expect(Format.time(milliseconds: 0) == "1970-01-01T00:00:00.000Z")
    #expect(Format.time(milliseconds: 1_769_851_800_250) == "2026-01-31T09:30:00.250Z")
    for rest in [1, 123, 126, 129, 999] as [Int64] {
      let digits = String(format: "%03d", Int(rest))
      #expect(Format.time(milliseconds: 1_769_851_800_000 + rest) == "2026-01-31T09:30:00.\(digits)Z")
      #expect(Format.time(milliseconds: rest - 1_000) == "1969-12-31T23:59:59.\(digits)Z")
    }
    #expect(Format.time(milliseconds: .max) == "9999-12-31T23:59:59.999Z")
    // What a member says of its clock may be no time at all.
    #expect(Format.time(Date(timeIntervalSince1970: Double(Int64.max) / 1_000)) == "9999-12-31T23:59:59.999Z")
    #expect(Format.time(Date(timeIntervalSince1970: -Double(Int64.max) / 1_000)) == "1600-01-01T00:00:00.000Z")
  }

  @Test(arguments: [("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("👩‍👩‍👧", 2), ("한", 2), ("❤️", 2), ("", 0)])
  func displayWidthsAreThoseOfATerminal(text: String, width: Int) {
    #expect(TextTable.displayWidth(text) == width)
  }

  @Test func jsonShowsWhatATerminalWouldObeyByItsCode() throws {
    let text = "a\u{202E}\u{9B}2J\u{200F}\u{7F}"
    let written = JSONValue.string(text).text
    #expect(written == #""a\u202e\u009b2J\u200f\u007f""#)
    let raw = "{\"k\":\"\(text)\"}"
    #expect(Format.escapedJSON(raw) == "{\"k\":\(written)}")
    let parsed = try JSONSerialization.jsonObject(with: Data(Format.escapedJSON(raw).utf8)) as? [String: String]
    #expect(parsed?["k"] == text)
  }

  @Test func marksThatTurnTheTextAroundAreShownAsDigits() {
    #expect(Format.printable("\u{200E}\u{200F}\u{61C}") == "\\u{200e}\\u{200f}\\u{61c}")
    #expect(Format.printable("a\u{202E}b\u{9B}") == "a\\u{202e}b\\u{9b}")
    #expect(Format.printable("plain ünï") == "plain ünï")
  }

  private static let exitCodes: [(GodwitError.Code, Int32)] = [
    (.noReplica, 10), (.busy, 11), (.wrongKey, 12), (.missingKeyring, 12), (.notARecipient, 12),
    (.truncatedFile, 13), (.unknownSender, 13), (.limitExceeded, 13), (.needsMigration, 14), (.schemaMismatch, 14),
    (.otherGroup, 1), (.sql, 1), (.diskFull, 1),
  ]

  @Test(arguments: exitCodes)
  func errorCodesHaveTheirExitCodes(code: GodwitError.Code, status: Int32) {
    #expect(ExitStatus.code(for: code) == status)
  }

  @Test(arguments: [
    ("status", "status", 0), ("stauts", "status", 1), ("lst", "list", 1), ("", "log", 3), ("x", "log", 3),
  ])
  func distancesCountEditsAndSwaps(left: String, right: String, distance: Int) {
    #expect(Misspelling.distance(left, right) == distance)
  }
}
