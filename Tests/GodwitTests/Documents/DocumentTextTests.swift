import Foundation
import Godwit
import Testing

@Suite("A document's text", .timeLimit(.minutes(1)))
struct DocumentTextTests {
  @Test("costs as much as it is long, also where it is all escapes of two halves")
  func pairs() async throws {
    let replica = try await Replica.temporary()
    let count = 200_000
    let escaped = String(repeating: #"\ud83d\ude00"#, count: count)
    try await replica.documents("t").set("k", json: #"{"a":"\#(escaped)"}"#)
    #expect(try await replica.documents("t").get("k")?["a"] == .string(String(repeating: "😀", count: count)))
  }

  @Test(
    "with one half of a pair is refused, with its place",
    arguments: [#"\ud83d"#, #"\ud83dx"#, #"\ud83d\u0041"#, #"\ude00"#])
  func halves(escape: String) async throws {
    let replica = try await Replica.temporary()
    let failure = await error { try await replica.documents("t").set("k", json: "{\n\"a\":\"\(escape)\"}") }
    #expect(
      failure?.code == .invalidDocument && failure?.message.contains("line 2, column 6") == true, "\(failure as Any)")
  }

  @Test("is in no error of who decodes or encodes it")
  func values() async throws {
    enum Mood: String, Codable { case good }
    struct Note: Codable { var mood: Mood }
    struct Size: Codable { var width: Double }
    let replica = try await Replica.temporary()
    let documents = replica.documents("t")
    try await documents.set("k", ["mood": "hunter2"])
    let failure = await error { try await documents.get("k", as: Note.self) }
    #expect(failure?.code == .valueMismatch && failure?.message.contains("member mood") == true)
    let row = await error { try await replica.rows("SELECT 'hunter2' AS mood").first?.decode(Note.self) }
    #expect(row?.code == .valueMismatch && row?.message.contains("column mood") == true)
    let encoding = await error { try await replica.cache("c").set("k", value: Size(width: .infinity)) }
    #expect(encoding?.code == .valueNotStorable)
    for error in [failure, row, encoding] {
      #expect(error.map { !"\($0)".contains("hunter2") && !"\($0)".contains("inf") } == true, "\(error as Any)")
    }
  }
}
