import Foundation
import Testing

@Suite struct TerminalTests {
  private static let script = "/usr/bin/script"
  private static var hasScript: Bool { FileManager.default.isExecutableFile(atPath: script) }

  /// Runs the program with a terminal for all three streams, which `script` (util-linux) provides.
  private func onTerminal(_ machine: Machine, _ command: String, environment: [String: String] = [:]) throws -> Outcome
  {
    let process = machine.process(
      ["-qec", "\(Program.path) \(command)", "/dev/null"], environment: environment)
    process.executableURL = URL(fileURLWithPath: Self.script)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(status: process.terminationStatus, output: Array(bytes), error: "")
  }

  @Test(
    .enabled(if: hasScript, "script(1) is not installed"),
    arguments: [
      "export -", "member add godwit1 --name x --invitation - --trust-first-use",
    ])
  func binaryIsNotWrittenToATerminal(command: String) async throws {
    let (desk, laptop) = try await Machine.pair()
    let identity = try laptop.godwit("identity").text.trimmingCharacters(in: .newlines)

    let outcome = try onTerminal(desk, command.replacing("godwit1", with: identity))

    #expect(outcome.status == 1)
    #expect(outcome.text.contains("not written to a terminal"))
    #expect(!outcome.text.contains("age-encryption.org"))
    #expect(try desk.godwit("member", "list", "--json").lines.count == 2)
  }

  @Test(.enabled(if: hasScript, "script(1) is not installed"), arguments: ["put c many.jsonl", "put c < many.jsonl"])
  func puttingManyDocumentsShowsHowFarItIs(command: String) throws {
    let machine = try Machine("progress")
    try #require(try machine.godwit("init").status == 0)
    let text = String(repeating: "x", count: 1_000)
    let lines = (0..<4_000).map { "{\"_key\":\"k\($0)\",\"text\":\"\(text)\"}\n" }.joined()
    try machine.write(Data(lines.utf8), to: "many.jsonl")

    let outcome = try onTerminal(machine, command, environment: ["NO_COLOR": "1"])

    #expect(outcome.status == 0)
    let drawn = outcome.text.split(separator: "\r").filter { $0.hasPrefix("putting ") }
    let numbers = drawn.compactMap { line in
      line.hasSuffix("%") ? Int(line.dropLast().suffix(3).drop { $0 == " " }) : Int(line.split(separator: " ")[1])
    }
    #expect(!numbers.isEmpty && numbers.count == drawn.count && numbers == numbers.sorted(), "\(drawn)")
    #expect(numbers.allSatisfy { command.contains("<") ? $0.isMultiple(of: 1_000) : $0 <= 100 })
    #expect(outcome.text.hasSuffix("4000 documents put into c\r\n"))
  }

  /// `fetching from stick: 12.0 KiB of 40.0 KiB, 9.8 KiB/s`, at first without a rate.
  private func drawn(_ outcome: Outcome, _ verb: String) throws -> [(bytes: Double, total: Double, rate: Double?)] {
    let form = /([0-9.]+) (B|KiB|MiB) of ([0-9.]+) (B|KiB|MiB)(?:, ([0-9.]+) (B|KiB|MiB)\/s)? *$/
    let units: [Substring: Double] = ["B": 1, "KiB": 1_024, "MiB": 1_048_576]
    return try outcome.text.split(separator: "\r").filter { $0.hasPrefix("\(verb) stick: ") }.map { line in
      let parts = try #require(line.firstMatch(of: form), "\(line)").output
      func size(_ number: Substring, _ unit: Substring) throws -> Double {
        try #require(Double(number)) * #require(units[unit])
      }
      let rate = try parts.5.flatMap { number in try parts.6.map { try size(number, $0) } }
      return (try size(parts.1, parts.2), try size(parts.3, parts.4), rate)
    }
  }

  @Test(.enabled(if: hasScript, "script(1) is not installed"))
  func aSyncShowsWhichWayBytesGoHowManyAndHowFast() async throws {
    let (desk, laptop) = try await Machine.pair()
    let stick = desk.path("stick")
    try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
    let text = (0..<30_000).map { _ in String(UInt64.random(in: 1 << 50..<1 << 51), radix: 36) }.joined()
    try #require(
      try desk.godwit("put", "c", "--as", "k", input: Data("{\"text\":\"\(text)\"}".utf8)).status == 0)
    for machine in [desk, laptop] { try #require(try machine.godwit("remote", "add", "stick", stick).status == 0) }
    for (machine, verb) in [(desk, "publishing to"), (laptop, "fetching from")] {
      let outcome = try onTerminal(machine, "sync --limit-rate 100k", environment: ["NO_COLOR": "1"])
      #expect(outcome.status == 0)
      let lines = try drawn(outcome, verb)
      #expect(lines.count >= 2 && lines.map(\.bytes) == lines.map(\.bytes).sorted(), "\(outcome.text)")
      #expect(lines.allSatisfy { $0.bytes <= $0.total && $0.total > 150_000 }, "\(lines)")
      #expect(lines.last?.rate != nil && lines.allSatisfy { $0.rate ?? 0 < 200 * 1_024 }, "\(lines)")
      // The line is erased, and the report stands in its place.
      let shown = try #require(outcome.text.split(separator: "\r").last { $0.hasPrefix("stick: ") })
      #expect(shown.contains(" published ("), "\(outcome.text)")
    }
    #expect(try laptop.digest() == desk.digest())
  }

  @Test(
    .enabled(if: hasScript, "script(1) is not installed"),
    arguments: [("", true), ("--quiet", false), ("--json", false)])
  func aSyncForProgramsShowsNone(option: String, isShown: Bool) throws {
    let machine = try Machine("quiet")
    let stick = machine.path("stick")
    try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
    try #require(try machine.godwit("init").status == 0)
    try #require(try machine.godwit("remote", "add", "stick", stick).status == 0)
    let text = (0..<400).map { _ in String(UInt64.random(in: 1 << 50..<1 << 51), radix: 36) }.joined()
    try #require(
      try machine.godwit("put", "c", "--as", "k", input: Data("{\"text\":\"\(text)\"}".utf8)).status == 0)
    // Some 3 kB, slow enough for the line to appear.
    let outcome = try onTerminal(machine, "sync --limit-rate 1000 \(option)", environment: ["NO_COLOR": "1"])
    #expect(outcome.status == 0 && outcome.text.contains("publishing to stick: ") == isShown, "\(outcome.text)")
    #expect(try #require(FileManager.default.contentsOfDirectory(atPath: "\(stick)/m").first).count == 41)
  }

  @Test(.enabled(if: hasScript, "script(1) is not installed"))
  func aDocumentCommandsNoTerminalAndIsWrittenToAFileAsItIs() throws {
    let machine = try Machine("marks")
    try #require(try machine.godwit("init").status == 0)
    let document = "{\"text\":\"\u{9B}2J\u{202E}\"}"
    let put = try machine.godwit("put", "c", "-", input: Data("{\"_key\":\"k\",\(document.dropFirst())".utf8))
    try #require(put.status == 0, "\(put.error)")
    let escaped = #"{"text":"\u009b2J\u202e"}"#
    #expect(try onTerminal(machine, "get c k").text == escaped + "\r\n")
    #expect(try machine.godwit("get", "c", "k").text == document + "\n")
    for arguments in [["get", "c", "k", "--json"], ["get", "c", "--json"], ["query", "--collection", "c", "--json"]] {
      #expect(try machine.run(arguments).text.contains(escaped), "\(arguments)")
    }
  }

  @Test(
    .enabled(if: hasScript, "script(1) is not installed"),
    arguments: [
      (["GODWIT_PAGER": "sed s/^/page:/"], "page:", 1...), (["PAGER": "sed s/^/page:/"], "page:", 1...),
      (["PAGER": "false", "GODWIT_PAGER": "sed s/^/page:/"], "page:", 1...),
      (["PAGER": "head -n 2 | sed s/^/page:/"], "page:", 2...2),
      (["GODWIT_PAGER": "", "PAGER": "sed s/^/page:/"], "page:", 0...0), (["PAGER": "cat"], "page:", 0...0),
      // It can read the keyboard.
      (["PAGER": "cat >/dev/null; set -- $(cat /proc/$$/stat); [ $5 = $8 ] && echo page:"], "page:", 1...1),
      (["PAGER": "no-such-pager"], "A sync file:", 1...1), (["PAGER": "cat >/dev/null; echo $LESS"], "FRX", 1...1),
    ] as [([String: String], String, any RangeExpression<Int> & Sendable)])
  func aLongListGoesToAPager(
    environment: [String: String], mark: String, count: any RangeExpression<Int> & Sendable
  ) throws {
    let outcome = try onTerminal(try Machine("pager"), "help formats", environment: environment)
    #expect(outcome.status == 0)
    let found = outcome.text.split(whereSeparator: \.isNewline).count { $0.contains(mark) }
    #expect(count.contains(found), "\(outcome.text)")
  }

  @Test(.enabled(if: hasScript, "script(1) is not installed"))
  func aListThatFitsAndOneForProgramsGoToNone() async throws {
    let (desk, _) = try await Machine.pair()
    let environment = ["PAGER": "sed s/^/page:/"]
    #expect(try !onTerminal(desk, "log", environment: environment).text.contains("page:"))
    for number in 0..<30 {
      try await desk.write { tx in _ = try tx.execute("UPDATE note SET title = \(number)") }
    }
    #expect(try onTerminal(desk, "log", environment: environment).text.split(separator: "page:").count > 30)
    #expect(try !onTerminal(desk, "log --json", environment: environment).text.contains("page:"))
    let query = #"query "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40) SELECT i FROM n""#
    #expect(try onTerminal(desk, query, environment: environment).text.split(separator: "page:").count > 40)
    #expect(try !onTerminal(desk, query + " --json", environment: environment).text.contains("page:"))
  }

  @Test(.enabled(if: hasScript, "script(1) is not installed"))
  func documentsThatDoNotFitGoToAPager() throws {
    let machine = try Machine("documents")
    try #require(try machine.godwit("init").status == 0)
    let documents = (1...60).map { #"{"_key":"\#($0)","n":\#($0)}"# }.joined(separator: "\n")
    try #require(try machine.godwit("put", "c", "-", input: Data(documents.utf8)).status == 0)
    let environment = ["PAGER": "sed s/^/page:/"]
    #expect(try onTerminal(machine, "get c", environment: environment).text.split(separator: "page:").count == 60)
    // With its heading.
    let query = "query --collection c"
    #expect(try onTerminal(machine, query, environment: environment).text.split(separator: "page:").count == 61)
    #expect(try !onTerminal(machine, query + " --limit 5", environment: environment).text.contains("page:"))
    for command in ["get c --json", "get c 7"] {
      #expect(try !onTerminal(machine, command, environment: environment).text.contains("page:"))
    }
  }

  @Test(.enabled(if: hasScript, "script(1) is not installed"))
  func colourIsForTerminalsThatWantIt() throws {
    let machine = try Machine("colour")
    let plain = try onTerminal(machine, "status", environment: ["NO_COLOR": "1", "TERM": "xterm"])
    let coloured = try onTerminal(machine, "status", environment: ["TERM": "xterm"])
    #expect(!plain.text.contains("\u{1B}["))
    #expect(coloured.text.contains("\u{1B}["))
  }
}
