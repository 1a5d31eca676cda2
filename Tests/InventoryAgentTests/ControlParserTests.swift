import Testing

@testable import inventory_agent

@Suite("Control files")
struct ControlParserTests {
  @Test("a long value keeps its lines, its empty lines and its indentation")
  func longValue() throws {
    let text = """
      Package: tar
      Description: pack files
       The first line.
       .
         * an item
      \tafter a tab

      """
    let paragraphs = try parse(text)
    #expect(paragraphs.map { $0["Description"] } == ["pack files\nThe first line.\n\n  * an item\nafter a tab"])
  }

  @Test("any number of empty lines separates paragraphs, blanks in them do not count")
  func separators() throws {
    let paragraphs = try parse("\n\nPackage: a\n\n \n\t\nPackage: b\n\n\n")
    #expect(paragraphs.map { $0["Package"] } == ["a", "b"])
    #expect(paragraphs.map(\.line) == [3, 7])
  }

  @Test("a file without paragraphs has none", arguments: ["", "\n", "\n \n\n"])
  func empty(text: String) throws {
    #expect(try parse(text).isEmpty)
  }

  @Test("fields nobody asked for are skipped with their long values, even when repeated")
  func unknownFields() throws {
    let text = "Tag: x,\n y\nPackage: a\nConffiles:\n /etc/a 0123\n /etc/b 4567\nTag: z\nVersion: 1\n"
    let paragraph = try #require(try parse(text).first)
    #expect(paragraph["Package"] == "a")
    #expect(paragraph["Version"] == "1")
    #expect(paragraph["Tag"] == nil)
  }

  @Test("names match whatever their case, and blanks around a value do not count")
  func casesAndBlanks() throws {
    let paragraph = try #require(try parse("PACKAGE:a\nversion: \t 1:2.0 \t\r\n").first)
    #expect(paragraph["Package"] == "a")
    #expect(paragraph["Version"] == "1:2.0")
  }

  @Test("an empty value differs from no value")
  func emptyValue() throws {
    let paragraph = try #require(try parse("Package:\n").first)
    #expect(paragraph["Package"] == "")
    #expect(paragraph["Version"] == nil)
    #expect(throws: ControlSyntaxError(problem: .missingField("Package"), line: 1)) {
      try paragraph.required("Package")
    }
  }

  @Test("bytes that are not UTF-8 spoil a character and nothing more")
  func notUTF8() throws {
    let bytes = Array("Package: a\nDescription: caf".utf8) + [0xE9] + Array(" noir\n".utf8)
    #expect(try parse(bytes).first?["Description"] == "caf\u{FFFD} noir")
  }

  @Test("where the stream is cut makes no difference", arguments: 1...40)
  func chunks(size: Int) throws {
    let text = "Package: größe\nDescription: one\n two\n\nPackage: b\n\n"
    let paragraphs = try parse(Array(text.utf8), chunkSize: size)
    #expect(paragraphs.map { $0["Package"] } == ["größe", "b"])
    #expect(paragraphs.map { $0["Description"] } == ["one\ntwo", nil])
  }

  @Test(
    "malformed input is refused with its line",
    arguments: [
      (" continued\nPackage: a\n", ControlSyntaxError(problem: .continuationWithoutField, line: 1)),
      ("Package: a\n\n continued\n", ControlSyntaxError(problem: .continuationWithoutField, line: 3)),
      ("Package: a\nno field\n", ControlSyntaxError(problem: .notAField, line: 2)),
      (": value\n", ControlSyntaxError(problem: .notAField, line: 1)),
      ("Package: a\nVersion: 1\npackage: b\n", ControlSyntaxError(problem: .repeatedField("Package"), line: 3)),
      ("Package: a\nVersion: 1\0\n", ControlSyntaxError(problem: .zeroByte, line: 2)),
      ("Package: a\n\nPackage: b", ControlSyntaxError(problem: .unfinishedLine, line: 3)),
    ])
  func malformed(text: String, error: ControlSyntaxError) {
    #expect(throws: error) { try parse(text) }
  }

  @Test("a stream without line ends is refused before it fills the memory")
  func endlessLine() {
    var parser = ControlParser(fields: ["Package"]) { [UInt8](repeating: UInt8(ascii: "x"), count: 65_536) }
    #expect(throws: ControlSyntaxError(problem: .lineTooLong, line: 1)) { try parser.next() }
  }
}

private func parse(_ text: String) throws -> [ControlParagraph] { try parse(Array(text.utf8)) }

private func parse(_ bytes: [UInt8], chunkSize: Int = 65_536) throws -> [ControlParagraph] {
  var rest = bytes[...]
  var parser = ControlParser(fields: ["Package", "Version", "Description"]) {
    defer { rest = rest.dropFirst(chunkSize) }
    return Array(rest.prefix(chunkSize))
  }
  var paragraphs: [ControlParagraph] = []
  while let paragraph = try parser.next() { paragraphs.append(paragraph) }
  return paragraphs
}
