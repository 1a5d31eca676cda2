import Foundation
import Godwit
import Testing

/// `godwit inspect` and `godwit verify FILE`.
@Suite struct InspectTests {
  @Test func aMembersFileIsShownAndTakenInByNobody() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let outcome = try laptop.godwit("inspect", desk.path("changes.sync"))
    #expect(outcome.status == 0, "\(outcome.error)")
    let expected = [
      "2 × X25519", "from        desk", "for ", "laptop", "1 transaction", "note +3", "desk 1", "verified",
    ]
    for words in expected {
      #expect(outcome.text.contains(words), "\(words) is not in \(outcome.text)")
    }
    #expect(try laptop.godwit("log", "--json").output.isEmpty)
  }

  @Test func itsContentsAreShownWithWhatTheyWrote() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let input = try desk.read("changes.sync")
    let outcome = try laptop.godwit("inspect", "--contents", "-", input: input)
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.text.contains("insert note") && outcome.text.contains("title = note 2"))
  }

  @Test func withoutAKeyTheOutsideIsShownAndTheExitCodeIs12() async throws {
    let (desk, _) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let bare = try Machine("bare")
    let stranger = try Machine("stranger")
    try #require(try stranger.godwit("identity").status == 0)
    for machine in [bare, stranger] {
      let outcome = try machine.godwit("inspect", desk.path("changes.sync"))
      #expect(outcome.status == 12)
      #expect(outcome.text.contains("2 × X25519") && outcome.text.contains("no key here opens it"))
      #expect(!outcome.text.contains("desk 1") && !outcome.text.contains("note"))
      #expect(outcome.error.contains("godwit: error: ") && outcome.error.contains("godwit: hint: "))
    }
    #expect(!FileManager.default.fileExists(atPath: bare.replica))
  }

  @Test func namesThatCommandATerminalAreShownByTheirCodes() async throws {
    let desk = try Machine("desk")
    let laptop = try Machine("laptop")
    try #require(try desk.godwit("init", "--name", "desk").status == 0)
    try desk.invite(laptop)
    let replica = try await Replica.open(at: desk.replica, configuration: .init(key: desk.keys, mustExist: true))
    try await replica.documents("no\u{1B}[2Jtes").set("k\u{1B}]0;x\u{7}", ["a\u{202E}b": "\u{9B}31m"])
    await replica.close()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    for arguments in [[], ["--contents"], ["--json"], ["--contents", "--json"]] {
      let outcome = try laptop.run(["inspect", desk.path("changes.sync")] + arguments)
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(!outcome.output.contains(0x1B) && !outcome.output.contains(0x07))
      if !arguments.contains("--json") { #expect(!outcome.text.unicodeScalars.contains("\u{202E}")) }
    }
  }

  @Test func aDamagedFileIsRefusedByBoth() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    try desk.write(try desk.read("changes.sync").dropLast(30), to: "short.sync")
    for command in ["inspect", "verify"] {
      let outcome = try laptop.godwit(command, desk.path("short.sync"), desk.path("changes.sync"))
      #expect(outcome.status == 13)
      #expect(outcome.error.contains("short.sync") && !outcome.error.contains("changes.sync"))
      #expect(outcome.text.contains("changes.sync") && !outcome.text.contains("short.sync"))
    }
  }

  @Test func verifySaysWhoSignedAndImportsNothing() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let outcome = try laptop.godwit("verify", desk.path("changes.sync"))
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.text.contains("sound, 1 transaction, signed by desk"))
    #expect(try laptop.godwit("log", "--json").output.isEmpty)
    #expect(try laptop.godwit("verify", "--digest-only", desk.path("changes.sync")).status == 64)
    let (stranger, _) = try await Machine.pair()
    #expect(try stranger.godwit("verify", desk.path("changes.sync")).status == 12)
  }
}
