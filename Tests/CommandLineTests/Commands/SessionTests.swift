import Foundation
import Testing

/// Two machines from nothing to the same data.
@Suite struct SessionTests {
  @Test func twoMachinesConvergeThroughAPipe() async throws {
    let (desk, laptop) = try await Machine.pair()
    let first = try desk.pipe(["export", "-"], to: laptop, ["import", "-"])
    #expect(first.status == 0)
    #expect(first.text.contains("1 applied (3 rows)"))
    try await laptop.write { tx in try tx.insert(Note(title: "from the laptop")) }

    let back = try laptop.pipe(["export", "-"], to: desk, ["import", "-"])

    #expect(back.status == 0)
    #expect(try desk.digest() == laptop.digest())
    #expect(try desk.godwit("query", "SELECT count(*) AS notes FROM note").lines == ["notes", "    4"])
  }

  @Test func aFileImportedTwiceChangesNothingTheSecondTime() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)

    let outcome = try laptop.godwit("import", desk.path("changes.sync"), desk.path("changes.sync"), "--json")

    let reports = try outcome.objects()
    #expect(reports.map { $0["applied"] as? Int } == [1, 0])
    #expect(reports.map { $0["duplicates"] as? Int } == [0, 1])
    #expect(try desk.digest() == laptop.digest())
  }

  @Test func concurrentEditsOfOneCellAreAConflict() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    try await desk.write { tx in _ = try tx.execute("UPDATE note SET title = 'desk' WHERE views = 1") }
    try await laptop.write { tx in _ = try tx.execute("UPDATE note SET title = 'laptop' WHERE views = 1") }

    let outcome = try desk.pipe(["export", "-"], to: laptop, ["import", "--fail-on-conflict", "-"])
    try #require(try laptop.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)

    #expect(outcome.status == 3)
    #expect(outcome.text.contains("1 conflict"))
    #expect(try desk.digest() == laptop.digest())
    let conflict = try #require(try laptop.godwit("conflicts", "--json").objects().first)
    #expect(conflict["table"] as? String == "note")
    #expect(conflict["column"] as? String == "title")
    #expect(conflict["kind"] as? String == "edit" && conflict["resolved"] as? Bool == false)
    let lost = try #require(conflict["lost"] as? [String: Any])
    #expect(["desk", "laptop"].contains(lost["value"] as? String))
  }

  @Test func aRemovedMemberCannotOpenLaterFiles() async throws {
    let (desk, laptop) = try await Machine.pair()
    #expect(try desk.godwit("member", "remove", "laptop").status == 0)

    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let outcome = try laptop.godwit("import", desk.path("changes.sync"))

    #expect(outcome.status == 12)
    #expect(outcome.output.isEmpty)
  }

  @Test func theInvitationAndTheIdentityGoThroughPipesToo() throws {
    let desk = try Machine("desk")
    let laptop = try Machine("laptop")
    try #require(try desk.godwit("init", "--name", "desk").status == 0)
    let identity = try laptop.godwit("identity", "--quiet")
    #expect(identity.error.isEmpty)

    let invitation = try desk.godwit(
      "member", "add", "-", "--name", "laptop", "--invitation", "-", "--fingerprint", laptop.fingerprint(),
      input: Data(identity.output))
    let joined = try laptop.godwit("join", "-", "--fingerprint", desk.fingerprint(), input: Data(invitation.output))

    #expect(joined.status == 0)
    #expect(try invitation.error.contains(desk.fingerprint()))
    let members = try laptop.godwit("member", "list", "--json").objects()
    #expect(Set(members.compactMap { $0["name"] as? String }) == ["desk", "laptop"])
  }

  @Test func aCopyIsALifeOfItsOwnUntilTheOriginalIsSaidToHaveEnded() async throws {
    let (desk, laptop) = try await Machine.pair()
    func lives() throws -> [[String: Any]] { try desk.godwit("member", "incarnations", "laptop", "--json").objects() }
    try #require(try laptop.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)
    let original = try #require(try lives().first?["incarnation"] as? String)
    let copy = try Machine("copy")
    try FileManager.default.copyItem(atPath: laptop.replica, toPath: copy.replica)
    try FileManager.default.copyItem(atPath: laptop.path("config"), toPath: copy.path("config"))
    try await copy.write { tx in _ = try tx.execute("UPDATE note SET title = 'by the copy'") }
    try #require(try copy.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)

    let two = try lives()
    let ended = try desk.godwit("member", "end", "laptop", original)
    let again = try desk.godwit("member", "end", "laptop", "00000000")

    #expect(two.map { $0["ended"] as? Bool } == [false, false])
    #expect(ended.status == 0 && again.status == 1)
    #expect(try lives().first { $0["incarnation"] as? String == original }?["ended"] as? Bool == true)
    // It lives on after all, and takes a new incarnation once a file states that it has ended.
    try #require(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    let own = try laptop.godwit("member", "incarnations", "--json").objects().first { $0["own"] as? Bool == true }
    #expect(own?["incarnation"] as? String != original)
  }

  @Test func identityIsMadeOnceAndStaysTheSame() throws {
    let laptop = try Machine("laptop")

    let first = try laptop.godwit("identity")
    let second = try laptop.godwit("identity")

    #expect(first.error.contains("made an identity"))
    #expect(!second.error.contains("made an identity"))
    #expect(first.output == second.output)
    #expect(first.text.hasPrefix("godwit1"))
  }

  @Test func theReplicaIsFoundFromAFolderBelowAndFromAfar() async throws {
    let (desk, laptop) = try await Machine.pair()
    try FileManager.default.createDirectory(atPath: desk.path("a/b"), withIntermediateDirectories: true)
    let below = desk.process(["status", "--quiet"])
    below.currentDirectoryURL = URL(fileURLWithPath: desk.path("a/b"))
    below.standardOutput = FileHandle.nullDevice
    try below.run()
    below.waitUntilExit()
    #expect(below.terminationStatus == 0)

    let afar = try laptop.godwit(
      "-C", desk.folder, "status", "--json", environment: ["GODWIT_MACHINE_KEY": desk.machineKey])

    #expect(try afar.objects().first?["name"] as? String == "desk")
  }

  @Test func aNewReplicaHasAFolderOfItsOwnWhateverLiesBeside() throws {
    let machine = try Machine("project")
    for name in ["database", "keyring"] {
      try FileManager.default.createDirectory(atPath: machine.path(name), withIntermediateDirectories: true)
    }
    try #require(try machine.godwit("init").status == 0)
    #expect(FileManager.default.fileExists(atPath: "\(machine.replica)/database"))
    #expect(try machine.godwit("status").status == 0)
    let second = try machine.godwit("init")
    #expect(second.status == 1 && second.error.contains("there is a replica in \(machine.replica) already"))
    #expect(try machine.godwit("init", "inner").status == 0)
    #expect(try machine.godwit("-C", "inner", "status").status == 0)
  }

  @Test func aCollectionsNameCannotCommandATerminal() throws {
    let machine = try Machine("names")
    try #require(try machine.godwit("init").status == 0)
    let hostile = "accounts\u{1B}[2J"
    try #require(try machine.godwit("put", hostile, "--as", "a", input: Data("{}".utf8)).status == 0)
    for arguments in [["get", "accounts"], ["query", "--collection", "accounts"], ["rm", "accounts", "a"]] {
      let outcome = try machine.run(arguments)
      #expect(outcome.error.contains("accounts\\u{1b}[2J") && !outcome.error.contains("\u{1B}"), "\(outcome.error)")
    }
  }
}
