import Foundation
import Godwit
import GodwitModel
import Testing

@Suite("Documents that are refused")
struct BadDocumentTests {
  private static let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)

  @Test(
    "what breaks a rule is refused with line and column, and nothing is stored",
    arguments: [
      ("", 1, 1), ("{", 1, 2), ("[1]", 1, 1), ("{\"a\":1,}", 1, 8), ("{\"a\" 1}", 1, 6), ("{\"a\":1} x", 1, 9),
      ("{\n  \"a\": tru\n}", 2, 8), ("{\"a\":01}", 1, 6), ("{\"a\":1.}", 1, 6), ("{\"a\":+1}", 1, 6),
      ("{\"a\":NaN}", 1, 6),
      ("{\"a\":Infinity}", 1, 6), ("{\"a\":1,\n\"a\":2}", 2, 1), ("{\"x\":{\"a\":1,\"a\":2}}", 1, 13),
      ("{\"a\":9223372036854775808}", 1, 6), ("{\"a\":-9223372036854775809}", 1, 6), ("{\"a\":1e400}", 1, 6),
      ("{\"a\":\"\\ud800\"}", 1, 7), ("{\"a\":\"\\x\"}", 1, 7), ("{\"a\":\"\u{1}\"}", 1, 7), ("{\"a\":\"open", 1, 11),
      ("{\"\":1}", 1, 2), ("{\"a\":\(deep)}", 1, 69), ("{'a':1}", 1, 2),
    ])
  func refused(text: String, line: Int, column: Int) async throws {
    let replica = try await Replica.temporary()
    let error = await #expect(throws: GodwitError.self) { try await replica.documents("c").set("k", json: text) }
    #expect(error?.code == .invalidDocument)
    #expect(error?.message.hasSuffix("at line \(line), column \(column)") == true, "\(error?.message ?? "")")
    #expect(try await replica.collections() == [])
  }

  @Test("64 levels are allowed, 65 are not")
  func depth() throws {
    func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    #expect(throws: Never.self) { try JSON(text: nested(64)) }
    #expect(throws: GodwitError.self) { try JSON(text: nested(65)) }
  }

  @Test("NaN and infinity in a value are refused, also deep inside")
  func notANumber() async throws {
    let replica = try await Replica.temporary()
    let documents = replica.documents("c")
    let nan = await #expect(throws: GodwitError.self) { try await documents.set("k", ["a": [["b": .real(.nan)]]]) }
    #expect(nan?.code == .valueNotStorable)
    struct Bad: Codable { var number = Double.infinity }
    let infinite = await #expect(throws: GodwitError.self) { try await documents.set("k", encoding: Bad()) }
    #expect(infinite?.code == .valueNotStorable)
    #expect(try await replica.collections() == [])
  }

  @Test(
    "a date that is NaN is refused, in a value, an object, a condition and as an expiry; an infinite one is the last there is"
  )
  func notADate() async throws {
    let replica = try await Replica.temporary()
    let documents = replica.documents("c")
    let nan = Date(timeIntervalSince1970: .nan)
    struct Event: DocumentObject {
      static let collection = "c"
      var key = "k"
      var date: Date
    }
    #expect(await code { try await documents.set("k", ["date": nan.json]) } == .valueNotStorable)
    #expect(await code { try await documents.merge("k", ["dates": [nan.json]]) } == .valueNotStorable)
    #expect(await code { try await documents.set("k", encoding: ["date": nan]) } == .valueNotStorable)
    for seconds in [253_402_300_800.0, -62_167_219_200.001, .infinity, -.infinity] {
      let far = Date(timeIntervalSince1970: seconds)
      #expect(await code { try await documents.set("k", ["date": far.json]) } == .valueNotStorable)
      #expect(await code { try await documents.set("k", encoding: ["date": far]) } == .valueNotStorable)
    }
    let events = replica.documents(of: Event.self)
    #expect(await code { try await events.save(Event(date: nan)) } == .valueNotStorable)
    #expect(await code { try await events.save(Event(date: Date()), expires: nan) } == .invalidArgument)
    #expect(await code { try await documents.set("k", ["n": 1], expires: nan) } == .invalidArgument)
    #expect(try await replica.collections() == [])
    try await documents.set("k", ["n": 1])
    #expect(await code { try await documents.expire("k", at: nan) } == .invalidArgument)
    for condition in [documents.where { $0.date < nan }, documents.where { $0.date == nan }] {
      #expect(await code { try await replica.fetch(condition) } == .valueNotStorable)
    }
    #expect(await code { try await replica.tables.startSync(of: "c", asOf: nan) } == .invalidArgument)
    #expect(await code { try await replica.tables.startSync(of: "c", asOf: .distantFuture) } == .invalidArgument)
    #expect(
      await code { try await replica.tables.startSync(of: "c", asOf: Date(timeIntervalSince1970: .infinity)) }
        == .invalidArgument)
    #expect(
      await code { try await replica.tables.startSync(of: "c", asOf: Date(timeIntervalSince1970: -.infinity)) }
        == .notInSchema
    )
    try await documents.expire("k", at: Date(timeIntervalSince1970: .infinity))
    #expect(try await documents.has("k"))
    try await documents.expire("k", at: Date(timeIntervalSince1970: -.infinity))
    #expect(try await !documents.has("k"))
  }

  @Test("1,000 members are allowed in a document and a collection, and one more in neither")
  func members() async throws {
    let replica = try await Replica.temporary()
    let documents = replica.documents("c")
    let most = Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("m\($0)", JSON.integer(Int64($0))) })
    try await documents.set("k", most)
    #expect(try await documents.get("k") == most)
    try await documents.merge("k", ["m5": "other"])
    #expect(try await documents.get("k")?["m5"] == "other")
    let more = await #expect(throws: GodwitError.self) { try await documents.set("l", ["another": 1]) }
    #expect(more?.code == .limitExceeded)
    let tooMany = Dictionary(uniqueKeysWithValues: (0..<1_001).map { ("m\($0)", JSON.integer(1)) })
    let error = await #expect(throws: GodwitError.self) { try await replica.documents("d").set("k", tooMany) }
    #expect(error?.code == .invalidDocument)
    #expect(try await replica.collections() == ["c"])
  }

  /// SQLite 3.15 binds 999 values to a statement, and a row has key and expiry besides.
  @Test(
    "documents around what SQLite binds at once are written, edited, and go to another replica whole",
    arguments: [997, 998, 1_000])
  func wide(count: Int) async throws {
    @Sendable func document(_ value: Int64) -> [String: JSON] {
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("m\($0)", .integer(value + Int64($0))) })
    }
    let group = try await TestGroup(2)
    let (here, there) = (group[0].documents("wide"), group[1].documents("wide"))
    let instant = Date(timeIntervalSince1970: 1_800_000_000)
    // More than one begins a run of inserts.
    try await group[0].write { tx in
      for number in 0..<20 { try here.in(tx).set("\(number)", document(Int64(number)), expires: instant) }
    }
    #expect(try await here.get("19") == document(19))
    try await here.set("0", document(7_000), expires: instant)
    try await here.merge("1", document(8_000))
    try await here.merge("2", ["m0": nil, "m\(count - 1)": "last"])
    try await group.settle()
    for documents in [here, there] {
      #expect(try await documents.get("0") == document(7_000))
      #expect(try await documents.get("1") == document(8_000))
      #expect(try await documents.get("2")?["m0"] == nil)
      #expect(try await documents.get("2")?["m\(count - 1)"] == "last")
      #expect(try await documents.get("3") == document(3))
      #expect(try await documents.expiry(of: "3") == instant)
      #expect(try await documents.keys { $0["m\(count - 1)"] == "last" } == ["2"])
    }
    #expect(try await group.digests().count == 1)
  }

  @Test("random texts are read or refused, and what is read comes back the same")
  func random() throws {
    var generator = SeededGenerator(seed: 7)
    let pieces = [
      "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\\n\"", "1", "-0", "2.5e3", "true", "null", " ", "\"", "\\", "\u{1}",
      "é",
    ]
    var readable = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 1...12, using: &generator)
      let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      guard let json = try? JSON(text: text) else { continue }
      readable += 1
      #expect(try JSON(text: json.text) == json)
    }
    #expect(readable > 100)
  }

  @Test("numbers are read as Swift reads them, to the last bit")
  func decimals() throws {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<20_000 {
      let whole = UInt64.random(in: 0...UInt64.random(in: 1...10_000_000_000, using: &generator), using: &generator)
      let digits = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
        "\(Int.random(in: 0...9, using: &generator))"
      }
      let text = (Bool.random(using: &generator) ? "-" : "") + "\(whole)." + digits.joined()
      let expected = try #require(Double(text))
      let found = try JSON(text: text).realValue
      #expect(found == expected && found?.sign == expected.sign, "\(text)")
    }
  }

  @Test("dates are written in UTC with milliseconds, and read in every form of ISO 8601 that names an instant")
  func dates() {
    let instant = Date(timeIntervalSince1970: 1_772_366_400.25)
    #expect(instant.json == "2026-03-01T12:00:00.250Z")
    for text in ["2026-03-01T12:00:00.25Z", "2026-03-01T13:30:00.250+01:30", "2026-03-01 04:00:00,250-0800"] {
      #expect(JSON.string(text).dateValue == instant, "\(text)")
    }
    #expect(JSON.string("2026-03-01").dateValue == Date(timeIntervalSince1970: 1_772_323_200))
    #expect(JSON.integer(5).dateValue == nil && JSON.null.dateValue == nil)
    for text in [
      "2026-02-29", "2026-13-01", "2026-03-01T25:00Z", "2026-03-01T12:00", "12:00", "2026-3-1", "2026-03-01T12:00Zx",
    ] {
      #expect(DocumentDate.date(text) == nil, "\(text)")
    }
    for year in [0.0, 951_782_400, -62_167_219_200, 253_402_300_799, -1, 1e9 + 0.001] {
      let date = Date(timeIntervalSince1970: year)
      let text = DocumentDate.text(date)
      let back = text.flatMap(DocumentDate.date)?.timeIntervalSince1970
      #expect(back.map { abs($0 - year) < 0.0006 } == true, "\(text ?? "")")
    }
  }

  @Test("a condition or an order on a member of a member is refused, not met by nothing; quoted it is a name")
  func dottedNames() async throws {
    let replica = try await Replica.temporary()
    let documents = replica.documents("c")
    try await documents.set("k", json: #"{"address":{"city":"Rome"},"a.b":1}"#)
    #expect(await code { try await documents.keys(where: "address.city = 'Rome'") } == .invalidArgument)
    #expect(await code { try await documents.keys(order: "address.city") } == .invalidArgument)
    #expect(try await documents.keys(where: #""a.b" = 1"#, order: #""a.b" desc"#) == ["k"])
    await replica.close()
  }

  @Test(
    "every Bool reads truth in numbers and words",
    arguments: [
      ("1", true), ("0", false), ("2.5", true), ("-1", true), ("\"1\"", true), ("\"YES\"", true), ("\"True\"", true),
      ("\"no\"", false), ("\"0\"", false), ("\"\"", false), ("true", true), ("false", false),
    ])
  func truth(text: String, expected: Bool) async throws {
    struct Flags: Codable { var flag: Bool; var list: [Bool]; var inner: [String: Bool] }
    let replica = try await Replica.temporary()
    let documents = replica.documents("c")
    try await documents.set("k", json: "{\"flag\":\(text),\"list\":[\(text)],\"inner\":{\"x\":\(text)}}")
    let flags = try #require(try await documents.get("k", as: Flags.self))
    #expect(flags.flag == expected && flags.list == [expected] && flags.inner == ["x": expected])
    #expect(try await documents.keys { $0.flag == true } == (expected ? ["k"] : []))
  }
}
