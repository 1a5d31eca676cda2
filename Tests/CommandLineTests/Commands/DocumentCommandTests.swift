import Foundation
import Testing

@Suite struct DocumentCommandTests {
  private func machine() throws -> Machine {
    let machine = try Machine("documents")
    try #require(try machine.godwit("init").status == 0)
    return machine
  }

  private static let naming: [[String]] = [
    ["query", "--collection", "NAME", "--where", "n = 9"], ["get", "NAME", "bob"], ["get", "NAME"],
    ["rm", "NAME", "bob"], ["rm", "NAME", "--where", "n = 9"], ["log", "--table", "NAME"],
    ["conflicts", "--table", "NAME"], ["query", "SELECT * FROM documents_NAME WHERE n = 9"],
  ]

  @Test("a mistyped collection is answered with the one there is", arguments: naming)
  func mistyped(command: [String]) throws {
    let desk = try machine()
    try #require(try desk.godwit("put", "people", "--as", "ada", input: Data(#"{"n":1}"#.utf8)).status == 0)
    func run(_ name: String) throws -> String {
      try desk.run(command.map { $0.replacingOccurrences(of: "NAME", with: name) }).error
    }
    let mistyped = try run("peopel")
    #expect(mistyped.contains("did you mean: "), "\(mistyped)")
    #expect(mistyped.contains("people"), "\(mistyped)")
    #expect(try !run("people").contains("did you mean"))
  }

  @Test("commands that take a table take a collection by its name, too")
  func namedInPlaceOfTables() throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    for (name, text) in [("Kräuter", "{\"height\": 3}"), ("other", "{}")] {
      try #require(try desk.godwit("put", name, "--as", "thyme", input: Data(text.utf8)).status == 0)
    }
    let why = try desk.godwit("why", "Kräuter", "thyme", "height", "--json")
    #expect(why.status == 0, "\(why.error)")
    let cells = try #require(try why.objects().first?["cells"] as? [[String: Any]])
    #expect(cells.map { $0["column"] as? String } == ["height"])
    #expect(try desk.godwit("log", "--table", "Kräuter", "--json").lines.count == 1)
    #expect(try desk.godwit("log", "--table", "kräuter", "--json").lines.isEmpty)
    #expect(try desk.godwit("conflicts", "--table", "Kräuter", "--key", "thyme", "--json").status == 0)
    let hint = "in SQL the collection Kräuter is the table documents_$kr"
    for (command, input) in [
      (["query", "SELECT * FROM Kräuter"], ""), (["exec", "DELETE FROM \"Kräuter\""], ""),
      (["shell"], "SELECT * FROM Kräuter;"),
    ] {
      let missing = try desk.run(command, input: Data(input.utf8))
      #expect(missing.status == 1 && missing.error.contains(hint), "\(missing.error)")
    }
    let schema = try desk.godwit("shell", input: Data(".schema Kräuter\n.schema documents_other\n".utf8))
    #expect(schema.status == 0 && schema.text.contains("documents_$kr") && schema.text.contains("documents_other"))
    let unknown = try desk.godwit("why", "Krauter", "thyme")
    #expect(unknown.status == 1 && unknown.error.contains("did you mean: Kräuter"), "\(unknown.error)")
  }

  @Test func documentsGoInAndComeOutAsTheyWere() throws {
    let machine = try machine()
    let lines = "{\"_key\":\"a\",\"name\":\"Ada\",\"tags\":[\"x\"]}\n{\"_key\":\"b\",\"n\":1.5}\n"
    let put = try machine.godwit("put", "things", input: Data(lines.utf8))
    #expect(put.status == 0 && put.output.isEmpty && put.error == "2 documents put into things\n", "\(put.error)")
    #expect(try machine.godwit("get", "things").text == lines)
    #expect(try machine.godwit("get", "things", "b").text == "{\"n\":1.5}\n")
    let json = try machine.godwit("get", "things", "a", "--json").text
    #expect(json == "{\"document\":{\"name\":\"Ada\",\"tags\":[\"x\"]},\"expires\":null,\"key\":\"a\"}\n")
    #expect(try machine.godwit("get", "things", "none").status == 1)
    #expect(try machine.godwit("get", "absent").text.isEmpty)
  }

  @Test func anArrayAMemberAndOneDocumentCanBePut() throws {
    let machine = try machine()
    try machine.write(Data("[ {\"id\":1,\"v\":\"]\\\"{\"} ,\n {\"id\":2} ]".utf8), to: "array.json")
    #expect(try machine.godwit("put", "c", "array.json", "--key", "id").status == 0)
    try machine.write(Data("{\"x\":{\"no\":[1]},\"in\":[{\"id\":3}],\"y\":1}".utf8), to: "inner.json")
    #expect(try machine.godwit("put", "c", "inner.json", "--at", "in", "--key", "id").status == 0)
    #expect(try machine.godwit("put", "c", "--as", "4", input: Data("{\"w\":1}".utf8)).status == 0)
    #expect(try machine.godwit("put", "c", "--as", "4", "--merge", input: Data("{\"v\":2}".utf8)).status == 0)
    let expected = [
      "{\"_key\":\"1\",\"id\":1,\"v\":\"]\\\"{\"}", "{\"_key\":\"2\",\"id\":2}", "{\"_key\":\"3\",\"id\":3}",
      "{\"_key\":\"4\",\"v\":2,\"w\":1}",
    ]
    #expect(try machine.godwit("get", "c").lines == expected)
    #expect(try machine.godwit("put", "c", "inner.json", "--at", "out", "--key", "id").status == 1)
  }

  @Test func whatIsWrongIsToldWithItsLine() throws {
    let machine = try machine()
    let bad: [(String, String)] = [
      ("{\"_key\":\"a\"}\n{\"_key\":\"b\",\"n\":}", "line 2"), ("{\"name\":\"no key\"}", "_key"), ("[1]", "no object"),
      ("[{\"_key\":\"a\"}", "does not end"), ("[{\"_key\":\"a\"} {\"_key\":\"b\"}]", "comma"),
      ("{\"_key\":\"a\",\"x\":1", "ends too early"),
      ("{\"_key\":\"a\",\"x\":1,\"x\":2}", "twice"),
    ]
    for (text, told) in bad {
      let outcome = try machine.godwit("put", "c", input: Data(text.utf8))
      #expect(outcome.status == 1 && outcome.error.contains(told), "\(text): \(outcome.error)")
      #expect(try machine.godwit("get", "c").text.isEmpty)
    }
    let utf8 = try machine.godwit("put", "c", "--as", "a", input: Data([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]))
    #expect(utf8.status == 1 && utf8.error.contains("UTF-8"))
  }

  @Test func keysThatLookLikeJSONAreKeysLikeOthers() throws {
    let machine = try machine()
    let keys = ["[x", "{x", "\\x"] + (0..<2_500).map { "\\f" + String(format: "%04d", $0) }
    let lines = try keys.map { try JSONSerialization.data(withJSONObject: ["_key": $0, "n": 1]) + Data("\n".utf8) }
    #expect(try machine.godwit("put", "kk", input: lines.reduce(Data(), +)).status == 0)
    let listed = try machine.godwit("get", "kk").objects().compactMap { $0["_key"] as? String }
    #expect(listed == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    let shown = try machine.godwit("query", "--collection", "kk", "--json").objects().compactMap {
      $0["key"] as? String
    }
    #expect(shown == listed)
    let ordered = try machine.godwit(
      "query", "--collection", "kk", "--order", "n, _key desc", "--json", "--limit", "2200"
    ).objects()
    #expect(ordered.compactMap { $0["key"] as? String } == Array(listed.reversed().prefix(2_200)))
    #expect(try machine.godwit("query", "--collection", "kk").lines.count == keys.count + 1)
    for key in keys.prefix(3) {
      #expect(try machine.godwit("get", "kk", key).text == "{\"n\":1}\n")
      #expect(try machine.godwit("rm", "kk", "--where", "_key = '\(key)'").error == "1 document deleted\n")
    }
    #expect(try machine.godwit("get", "kk").lines.count == 2_500)
  }

  @Test func allThatAFileHoldsIsPutOrRefused() throws {
    let machine = try machine()
    let several = "[{\"_key\":\"t1\"}]\n[{\"_key\":\"t2\"},{\"_key\":\"t3\"}]{\"_key\":\"t4\"} [] \n{\"_key\":\"t5\"}"
    #expect(try machine.godwit("put", "c", input: Data(several.utf8)).error == "5 documents put into c\n")
    let inner = "{\"y\":[1],\"in\":[{\"_key\":\"i1\"}],\"z\":{\"a\":\"]\"}}\n{\"in\":[{\"_key\":\"i2\"}]}"
    #expect(try machine.godwit("put", "c", "--at", "in", input: Data(inner.utf8)).error == "2 documents put into c\n")
    let bad: [(String, [String], String)] = [
      ("[{\"_key\":\"a\"}] garbage", [], "line 1, column 16"), ("{\"_key\":\"a\"}\n17", [], "line 2, column 1"),
      ("{\"in\":[{\"_key\":\"a\"}],\"x\":}", ["--at", "in"], "line 1, column 26"),
      ("{\"in\":[{\"_key\":\"a\"}],\n\"in\":[{\"_key\":\"b\"}]}", ["--at", "in"], "twice, at line 2, column 1"),
      ("{\"in\":[{\"_key\":\"a\"}]", ["--at", "in"], "a comma is missing"),
      ("{\"in\":[{\"_key\":\"a\"}]} x", ["--at", "in"], "column 23"),
      ("{\"in\":[{\"_key\":\"a\"}],\"x\":[1,}", ["--at", "in"], "column"), ("[{\"_key\":\"a\"}", [], "does not end"),
    ]
    for (text, options, told) in bad {
      let outcome = try machine.run(["put", "d"] + options, input: Data(text.utf8))
      #expect(outcome.status == 1 && outcome.error.contains(told), "\(text): \(outcome.error)")
      #expect(outcome.error.contains("nothing was stored"), "\(outcome.error)")
      #expect(try machine.godwit("get", "d").text.isEmpty)
    }
  }

  @Test func whatGetWritesPutReadsWithItsExpiryAndItsOwnReservedMembers() throws {
    let machine = try machine()
    let own = "{\"_key\":\"mine\",\"__expires\":[1],\"n\":1}"
    #expect(
      try machine.godwit("put", "c", "--as", "a", "--expires", "2099-01-02T03:04:05.678Z", input: Data(own.utf8)).status
        == 0)
    #expect(try machine.godwit("put", "c", input: Data("{ \"_key\":\"b\" ,\n \"x\":1}".utf8)).status == 0)
    let lines =
      "{\"___expires\":[1],\"__key\":\"mine\",\"_expires\":\"2099-01-02T03:04:05.678Z\",\"_key\":\"a\",\"n\":1}\n{\"_key\":\"b\",\"x\":1}\n"
    let first = try machine.godwit("get", "c").text
    #expect(first == lines)
    #expect(try machine.godwit("put", "d", input: Data(first.utf8)).status == 0)
    #expect(try machine.godwit("get", "d").text == lines)
    #expect(try machine.godwit("get", "d", "a").text == "{\"__expires\":[1],\"_key\":\"mine\",\"n\":1}\n")
    let bad = try machine.godwit("put", "e", input: Data("{\"_key\":\"a\",\"_expires\":\"soon\"}".utf8))
    #expect(bad.status == 1 && bad.error.contains("_expires is no time"))
  }

  @Test func errorsOfPutNameThePlaceInTheFileAndWhatIsStored() throws {
    let machine = try machine()
    let before = (0..<1_000).map { "{\"_key\":\"k\($0)\"}\n" }.joined()
    let late = try machine.godwit(
      "put", "c", input: Data((before + "\n  {\"n\":2,\n   \"_key\":\"b\",\n\"x\":1.}").utf8))
    #expect(late.status == 1 && late.error.contains("at line 1004, column 5"), "\(late.error)")
    #expect(late.error.contains("the first 1000 documents are stored, and nothing after"))
    #expect(try machine.godwit("get", "c").lines.count == 1_000)
    // Within a batch: what the file says wrong, and what the collection does not take.
    let rest = (1_000..<2_500).map { "{\"_key\":\"k\($0)\"}\n" }
    for (bad, told) in [("{\"_key\":\"b\",}", "line 1500"), ("{\"_key\":\"\"}", "key is empty"), ("17", "no object")] {
      let text = before + rest.prefix(499).joined() + bad + "\n" + rest.dropFirst(499).joined()
      let outcome = try machine.godwit("put", "late", input: Data(text.utf8))
      #expect(outcome.status == 1 && outcome.error.contains(told), "\(outcome.error)")
      #expect(outcome.error.contains("the first 1000 documents are stored, and nothing after"), "\(outcome.error)")
      #expect(try machine.godwit("get", "late").lines.count == 1_000)
      #expect(try machine.godwit("rm", "late", "--all").status == 0)
    }
    let name = String(repeating: "N", count: 65)
    let long = try machine.godwit("put", "c", input: Data("[\n {\"_key\":\"b\",\"\(name)\":1}]".utf8))
    #expect(long.error.contains("has 130 bytes in SQL, and 128 are the limit, at line 2, column 14"), "\(long.error)")
    let utf8 = try machine.godwit("put", "c", input: Data("\n{\"_key\":\"é".utf8) + Data([0xFF]) + Data("\"}".utf8))
    #expect(utf8.error.contains("not UTF-8, at line 2, column 12"), "\(utf8.error)")
    let members = (0...1_000).map { "\"m\($0)\":1" }.joined(separator: ",")
    let wide = try machine.godwit("put", "c", "--as", "w", input: Data("{\(members)}".utf8))
    #expect(wide.status == 1, "\(wide.error)")
    let halves = (0..<2).map { half in
      "{\"_key\":\"h\(half)\"," + (0..<600).map { "\"m\(half)_\($0)\":1" }.joined(separator: ",") + "}\n"
    }
    let limit = try machine.godwit("put", "w", input: Data(halves.joined().utf8))
    #expect(limit.status == 1 && limit.error.contains("1000 are allowed"), "\(limit.error)")
  }

  /// What the process has had in memory at most, in bytes.
  private func peak(_ process: Process) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber))) << 10
  }

  @Test func puttingTakesNoMoreMemoryForMoreDocuments() throws {
    let machine = try machine()
    let (input, error) = (Pipe(), Pipe())
    let process = machine.process(["put", "c"])
    process.standardInput = input
    process.standardError = error
    try process.run()
    let text = Data(String(repeating: "x", count: 20_000).utf8)
    var count = 0
    func put(bytes: Int) throws {
      for _ in 0..<bytes / text.count {
        let start = Data("\(count == 0 ? "[" : ","){\"_key\":\"k\(count)\",\"text\":\"".utf8)
        try input.fileHandleForWriting.write(contentsOf: start + text + Data("\"}\n".utf8))
        count += 1
      }
    }
    // By then a batch has been as large as it gets, and so has SQLite's page cache of 16 MB.
    try put(bytes: 28 << 20)
    let early = try peak(process)
    try put(bytes: 40 << 20)
    let late = try peak(process)
    try input.fileHandleForWriting.write(contentsOf: Data("]".utf8))
    try input.fileHandleForWriting.close()
    let told = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && told == "\(count) documents put into c\n")
    #expect(late - early < 16 << 20, "\(early) bytes, then \(late)")
  }

  @Test func queriesAndListingsShowDocuments() throws {
    let machine = try machine()
    let lines =
      "{\"_key\":\"a\",\"name\":\"Ada\",\"n\":3}\n{\"_key\":\"b\",\"name\":\"Bob\"}\n{\"_key\":\"c\",\"name\":\"Cy\",\"n\":10}\n"
    try machine.godwit("put", "people", input: Data(lines.utf8))
    let found = try machine.godwit("query", "--collection", "people", "--where", "n > 1", "--order", "n desc")
    #expect(found.lines == ["_key   n  name", "c     10  Cy", "a      3  Ada"])
    let keys = try machine.godwit("query", "--collection", "people", "--limit", "1", "--json").objects()
    #expect(keys.map { $0["key"] as? String } == ["a"])
    #expect(try machine.godwit("query", "SELECT name FROM documents_people WHERE n = 3").lines == ["name", "Ada"])
    #expect(
      try machine.godwit("tables").lines == ["table             rows  collection", "documents_people     3  people"])
    #expect(
      Set(try #require(try machine.godwit("tables", "--json").objects().first).keys) == ["table", "rows", "collection"])
    #expect(try machine.godwit("query", "--collection", "people", "--where", "n >").error.contains("column 4"))
    #expect(try machine.godwit("query", "--where", "n > 1", "SELECT 1").status == 64)
    #expect(try machine.godwit("query").status == 64)
  }

  @Test func documentsAreDeletedByKeyConditionAndAll() throws {
    let machine = try machine()
    let lines = (1...6).map { "{\"_key\":\"k\($0)\",\"n\":\($0)}\n" }.joined()
    try machine.godwit("put", "c", input: Data(lines.utf8))
    let partly = try machine.godwit("rm", "c", "k1", "none")
    #expect(partly.status == 0 && partly.error == "1 document deleted; under 1 key was none\n")
    #expect(try machine.godwit("rm", "c", "none").status == 1)
    #expect(
      try machine.godwit("rm", "c", "--where", "n > 4", "--json").text == "{\"collection\":\"c\",\"deleted\":2}\n")
    #expect(try machine.godwit("get", "c").lines.count == 3)
    #expect(try machine.godwit("rm", "c", "--all").error == "3 documents deleted\n")
    #expect(try machine.godwit("rm", "c", "--all").status == 1)
    #expect(try machine.godwit("rm", "c").status == 64)
    let typo = try machine.godwit("rm", "typo", "--where", "x >")
    #expect(typo.status == 1 && typo.error.contains("column 4"), "\(typo.error)")
    #expect(try machine.godwit("rm", "typo", "--where", "x > 1").status == 0)
  }

  @Test func anExpiryMayBeGiven() throws {
    let machine = try machine()
    try machine.godwit("put", "c", "--as", "old", "--expires", "2020-01-01", input: Data("{}".utf8))
    try machine.godwit("put", "c", "--as", "new", "--expires", "1h", input: Data("{}".utf8))
    let line = try #require(try machine.godwit("get", "c").objects().first)
    #expect(line["_key"] as? String == "new" && (line["_expires"] as? String)?.hasSuffix("Z") == true)
    let expires = try machine.godwit("get", "c", "new", "--json").objects().first?["expires"] as? String
    #expect(expires?.hasSuffix("Z") == true)
  }

  /// Debian's package iso-codes: countries, and languages, of which there are thousands.
  @Test(.enabled(if: IsoCodes.areInstalled, "the package iso-codes is not installed"))
  func isoCodesLoadMergeAndAnswerAlike() async throws {
    let (desk, laptop) = try await Machine.pair()
    let countries = ["put", "countries", "--at", "3166-1", "--key", "alpha_2", IsoCodes.countries]
    #expect(try desk.run(countries).error.hasSuffix(" documents put into countries\n"))
    let languages = ["put", "languages", "--at", "639-3", "--key", "alpha_3", IsoCodes.languages]
    #expect(try laptop.run(languages).status == 0)
    #expect(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    #expect(try laptop.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)

    // Both edit one country, each another member, neither with the other's edit.
    try desk.godwit("put", "countries", "--as", "FR", "--merge", input: Data("{\"visited\":true}".utf8))
    try laptop.godwit("put", "countries", "--as", "FR", "--merge", input: Data("{\"rating\":5}".utf8))
    #expect(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    #expect(try laptop.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)

    let queries = [
      ["query", "--collection", "countries", "--where", "rating = 5 and visited = true"],
      [
        "query", "--collection", "countries", "--where", "name contains 'land'", "--order", "numeric desc", "--limit",
        "9",
      ],
      ["query", "--collection", "languages", "--where", "scope = 'M' or alpha_2 in ('de', 'fr')", "--order", "name"],
      ["query", "SELECT count(*) AS languages FROM documents_languages"], ["get", "countries", "FR"], ["tables"],
    ]
    for query in queries {
      let here = try desk.run(query)
      #expect(here.status == 0 && !here.lines.isEmpty, "\(here.error)")
      #expect(try laptop.run(query).text == here.text, "\(query)")
    }
    let france = try #require(try desk.godwit("get", "countries", "FR").objects().first)
    #expect(
      france["rating"] as? Int == 5 && france["visited"] as? Bool == true && france["alpha_3"] as? String == "FRA")
    #expect(try desk.digest() == laptop.digest())
    #expect(try desk.godwit("conflicts").output.isEmpty)
  }
}

private enum IsoCodes {
  static let countries = "/usr/share/iso-codes/json/iso_3166-1.json"
  static let languages = "/usr/share/iso-codes/json/iso_639-3.json"
  static var areInstalled: Bool { [countries, languages].allSatisfy(FileManager.default.fileExists) }
}
