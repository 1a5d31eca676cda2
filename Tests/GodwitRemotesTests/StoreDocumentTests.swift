import Testing

@testable import GodwitRemotes

/// Specs/remotes.md, "Object stores": what a store answers in XML.
@Suite("A store's answer in XML")
struct StoreDocumentTests {
  private func document(_ text: String) -> StoreDocument? { StoreDocument(Array(text.utf8)) }

  @Test("a page of a list, in any script, with references to characters and what is not known passed over")
  func list() throws {
    let answer = """
      <?xml version="1.0" encoding="UTF-8"?>
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><IsTruncated>true</IsTruncated>
      <Contents><Key>m/a&amp;b&#x26;ü</Key><Size>12</Size><ETag>&quot;abc&quot;</ETag>
      <Owner><ID>1</ID></Owner></Contents>
      <Contents><Key><![CDATA[<k>]]></Key><Size>many</Size></Contents>
      <NextContinuationToken>more</NextContinuationToken></ListBucketResult>
      """
    let found = try #require(document(answer))
    #expect(found.isList)
    #expect(
      found.objects == [
        StoreDocument.Object(key: "m/a&b&ü", size: 12, tag: "abc"), StoreDocument.Object(key: "<k>", size: 0, tag: ""),
      ])
    #expect(found.nextToken == "more")
    #expect(document(answer.replacingOccurrences(of: "true", with: "false"))?.nextToken == nil)
  }

  @Test("keys are decoded where the answer says that they are encoded, and are left as they are elsewhere")
  func encoded() throws {
    let keys = ["m/a+b%2Bc%C3%BC", "m/%01", "m/%FF", "m/%"].map { "<Contents><Key>\($0)</Key></Contents>" }.joined()
    func found(_ before: String, _ after: String) throws -> [String] {
      try #require(document("<ListBucketResult>\(before)\(keys)\(after)</ListBucketResult>")).objects.map(\.key)
    }
    let type = "<EncodingType>url</EncodingType>"
    for (before, after) in [(type, ""), ("", type)] {
      #expect(try found(before, after) == ["m/a b+cü", "m/\u{1}", "m/%FF", "m/%"])
    }
    #expect(try found("", "") == ["m/a+b%2Bc%C3%BC", "m/%01", "m/%FF", "m/%"])
  }

  @Test("an error has its code, its message and its region")
  func error() throws {
    let found = try #require(
      document("<Error><Code>NoSuchKey</Code><Message>none</Message><Region>eu-7</Region></Error>"))
    #expect(!found.isList)
    #expect([found.code, found.message, found.region] == ["NoSuchKey", "none", "eu-7"])
  }

  @Test(
    "what is no such answer gives none",
    arguments: [
      "", "no", "<a>", "<a></b>", "<a/><b/>", "<a>&unknown;</a>", "<a>\u{0}</a>",
      String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
      String(repeating: "<a>", count: 1_000_000), "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>",
    ])
  func none(text: String) { #expect(document(text) == nil) }

  @Test("sixteen elements deep is read")
  func deep() {
    #expect(document(String(repeating: "<a>", count: 16) + String(repeating: "</a>", count: 16)) != nil)
  }

  @Test("entities, which only a document type declares, are not expanded")
  func entities() {
    let bomb =
      "<!DOCTYPE a [<!ENTITY b \"\(String(repeating: "x", count: 10_000))\">"
      + (1...8).map { "<!ENTITY b\($0) \"\(String(repeating: $0 == 1 ? "&b;" : "&b\($0 - 1);", count: 10))\">" }
      .joined()
      + "]><ListBucketResult><Contents><Key>&b8;</Key></Contents></ListBucketResult>"
    #expect(document(bomb) == nil)
  }

  @Test("bytes that are not UTF-8 give none, or a name that no file has")
  func bytes() {
    #expect(StoreDocument([0x3C, 0x61, 0x3E, 0xFF, 0xFE, 0x3C, 0x2F, 0x61, 0x3E]) == nil)
  }
}
