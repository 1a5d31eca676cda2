import Foundation
import Testing

@Suite struct UsageTests {
  @Test(arguments: [
    (["stauts"], "did you mean: godwit status"), (["member", "lst"], "did you mean: godwit member list"),
    (["frobnicate"], "see: godwit --help"), (["export"], "see: godwit export --help"),
    (["export", "a", "--fro", "x"], "did you mean '--for'"), (["log", "--limit", "0"], "--limit"),
    (["log", "--limit", "-1"], "--limit"), (["log", "show", "desk", "7", "--incarnation", "zz"], "--incarnation"),
    (["status", "extra"], "see: godwit status --help"), (["init", "--name", ""], "name is empty"),
    (["member", "add", "godwit1x", "--name", "../x"], "--invitation"),
    (["export", "--plaintext", "--max-size", "1M", "x"], "--max-size"),
    (["join", "x.godwit-invitation", "--limit-rate", "1M"], "--limit-rate are for joining at a remote"),
    (["log", "--since", "2026-01-31T23:00"], "--since"), (["log", "--since", "2026-01-31 18:00"], "--since"),
    (["log", "--since", "2026-01-31x"], "--since"), (["log", "--since", "2026-02-30"], "--since"),
    (["log", "--since", "2026-01-31T25:00:00Z"], "--since"), (["init", "--name", "a\nb"], "control characters"),
    (["query", "-", "--passphrase-file", "-"], "asked for twice"), (["inspect", "-", "-"], "asked for twice"),
    (["migrate", "-", "--recovery-code-file", "-"], "asked for twice"),
    (["keyring", "add", "passphrase:-", "--passphrase-file", "-"], "asked for twice"),
    (["keyring", "add", "passphrase", "--secret-file", "f"], "credential:NAME"),
    (["member", "add", "", "--from", "home"], "who is to be added is empty"),
    (["-C", "a", "serve", "--stdio", "b"], "not by both"),
    (["help", "fromats"], "did you mean: godwit help formats"), (["help", "frobnicate"], "see: godwit --help"),
  ])
  func aCommandLineThatMakesNoSenseExitsWith64(arguments: [String], hint: String) throws {
    let machine = try Machine("usage")
    let process = machine.process(arguments)
    let error = Pipe()
    let output = Pipe()
    process.standardError = error
    process.standardOutput = output
    try process.run()
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()

    #expect(process.terminationStatus == 64)
    #expect(text.hasPrefix("godwit: error: "))
    #expect(text.lowercased().contains(hint.lowercased()), "\(text)")
    #expect(output.fileHandleForReading.readDataToEndOfFile().isEmpty)
  }

  @Test(arguments: [("formats", "A sync file:"), ("keys", "recovery-code"), ("sync", "godwit remote add")])
  func aTopicIsExplainedInLinesOfATerminal(topic: String, part: String) throws {
    let machine = try Machine("help")
    let shown = try machine.godwit("help", topic)
    #expect(shown.status == 0 && shown.error.isEmpty)
    #expect(shown.text.contains(part))
    #expect(shown.lines.allSatisfy { $0.count <= 82 })
    // A command of the same name comes first.
    #expect(shown.text.contains("USAGE: godwit sync") == (topic == "sync"))
    #expect(try machine.godwit("help").text.contains("godwit help \(topic)"))
    #expect(try machine.godwit("help", "export").text.contains("USAGE: godwit export"))
  }

  /// Foundation starts no program with such an argument, so a shell makes it.
  @Test func anArgumentThatIsNotUTF8IsRefused() throws {
    let machine = try Machine("bytes")
    try #require(try machine.godwit("init", "--name", "x").status == 0)
    let process = machine.process(["-c", #"exec "$0" export "$(printf 'x\377.godwit-sync')""#, Program.path])
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let error = Pipe()
    process.standardError = error
    try process.run()
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 64 && text.contains("argument 2 is not UTF-8"), "\(text)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: machine.folder).allSatisfy { !$0.hasPrefix("x") })
  }

  /// Two folders would be one, and neither the one that was meant.
  @Test func aFolderHereThatIsNotUTF8IsRefusedAndSoIsAVariableThatNamesAPlace() throws {
    let machine = try Machine("places")
    let folder = #"f=$(printf 'caf\351'); mkdir -p "$f"; "#
    for (command, message) in [
      (#"cd "$f"; "$GODWIT" init"#, "the path of the folder here is not UTF-8"),
      (#"HOME="$PWD/$f" "$GODWIT" init"#, "the variable HOME is not UTF-8"),
      (#"XDG_CONFIG_HOME="$PWD/$f" "$GODWIT" init"#, "the variable XDG_CONFIG_HOME is not UTF-8"),
      (#"GODWIT_KEYRING="$PWD/$f/k" "$GODWIT" init"#, "the variable GODWIT_KEYRING is not UTF-8"),
    ] {
      let outcome = try machine.shell(folder + command)
      #expect(outcome.status == 64 && outcome.error.contains(message), "\(outcome.error)")
    }
    #expect(try machine.shell(#"OTHER="$(printf '\351')" "$GODWIT" init"#).status == 0)
    let folders = try machine.shell("find . -type d -name '*caf*' | wc -l; find . -name .godwit | wc -l").lines
    #expect(folders.map { $0.trimmingCharacters(in: .whitespaces) } == ["1", "1"])
  }

  private static let setpriv = "/usr/bin/setpriv"

  @Test(.enabled(if: getuid() == 0 && access(Self.setpriv, X_OK) == 0, "nobody else can be here"))
  func aReplicaOfAnotherUsersIsSaidToBeThere() throws {
    let machine = try Machine("theirs")
    try #require(try machine.godwit("init", "--name", "x").status == 0)
    // Tests lie where nobody else may look.
    try FileManager.default.copyItem(atPath: Program.path, toPath: machine.path("program"))
    // It has texts that no database may show.
    defer { unlink(machine.path("program")) }
    for place in [machine.folder, machine.path("program")] { try #require(chmod(place, 0o755) == 0) }
    for options in ["", "-C \(machine.folder)"] {
      let outcome = try machine.shell(
        "HOME=/tmp \(Self.setpriv) --reuid 65534 --regid 65534 --clear-groups ./program \(options) status")
      #expect(outcome.status == 1 && outcome.error.contains(".godwit is not open to this user"), "\(outcome.error)")
    }
  }

  @Test func aWarningOfTheLibrarysIsALineUnlessOnlyErrorsAreWanted() throws {
    let machine = try Machine("copied")
    try #require(try machine.godwit("init", "--name", "x").status == 0)
    for (index, option) in [nil, "--quiet", "--json"].enumerated() {
      try FileManager.default.copyItem(atPath: machine.replica, toPath: machine.path("copy\(index)"))
      let outcome = try machine.run(["-C", "copy\(index)", "status"] + (option.map { [$0] } ?? []))
      #expect(outcome.status == 0)
      let warned = outcome.error.contains("godwit: warning: the database is a copy or an earlier state")
      #expect(warned == (option == nil) && (warned || outcome.error.isEmpty), "\(outcome.error)")
    }
  }

  @Test func commonOptionsMayStandBeforeTheCommand() throws {
    let machine = try Machine("order")
    try #require(try machine.godwit("-C", "notes", "init", "--name", "x").status == 0)

    let before = try machine.godwit("--json", "-Cnotes", "member", "list")
    let after = try machine.godwit("member", "list", "-C", "notes", "--json")

    #expect(before.status == 0)
    #expect(before.output == after.output)
    #expect(try before.objects().first?["name"] as? String == "x")
    #expect(try machine.godwit("-C", "notes", "--help").text.contains("SUBCOMMANDS"))
  }

  @Test func tellsItsVersionItsFormatsAndItsSQLite() throws {
    let lines = try Machine("version").godwit("--version").text.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.first?.wholeMatch(of: /godwit \d+\.\d+\.\d+(-[a-z]+)?/) != nil)
    #expect(lines.dropFirst().first == "formats: database 9, sync file 5")
    #expect(lines.last?.wholeMatch(of: /SQLite 3\.\d+\.\d+, SQLCipher \d+\.\d+\.\d+.*/) != nil)
  }

  @Test func namesOfOneCharacterAreNamesLikeOthers() throws {
    let machine = try Machine("short")
    let invited = try Machine("other")
    func run(_ arguments: String...) throws { #expect(try machine.run(["-C", "n"] + arguments).status == 0) }
    try run("init", "--name", "a")
    try machine.write(Data(try invited.godwit("-C", "o", "identity").output), to: "i")
    try run("member", "add", "i", "--name", "b", "--invitation", "v", "--trust-first-use")
    try invited.write(try machine.read("v"), to: "v")
    #expect(try invited.godwit("-C", "o", "join", "v", "--trust-first-use").status == 0)
    try machine.write(Data(#"{"x":1}"#.utf8), to: "j")
    try run("put", "d", "j", "--as", "k")
    try run("export", "e")
    try run("export", "--state", "s")
    try run("backup", "b")
    try run("export", "--plaintext", "p")
    #expect(try machine.godwit("-C", "r", "restore", "b").status == 0)
    #expect(try machine.godwit("-C", "f", "init", "--from", "p").status == 0)
    // Not encrypted, as was asked for.
    try FileManager.default.removeItem(atPath: machine.path("p"))
  }

  @Test func helpShowsTheGroupsAndTheExamples() throws {
    let machine = try Machine("help")
    let root = try machine.godwit("--help")
    let export = try machine.godwit("help", "export")

    for group in ["START", "DATA", "SYNC", "CARE"] { #expect(root.text.contains("\(group) SUBCOMMANDS")) }
    let example = try #require(export.text.range(of: "godwit export -"))
    let options = try #require(export.text.range(of: "OPTIONS"))
    #expect(example.lowerBound < options.lowerBound)
    #expect(root.status == 0 && export.status == 0)
    #expect(root.error.isEmpty && export.error.isEmpty)
  }
}
