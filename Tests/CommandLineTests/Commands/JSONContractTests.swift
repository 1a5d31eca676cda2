import Foundation
import Testing

/// The objects have the members that Specs/cli.md promises.
@Suite struct JSONContractTests {
  private func keys(_ outcome: Outcome) throws -> Set<String> {
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.error.isEmpty)
    return Set(try #require(try outcome.objects().first).keys)
  }

  @Test func makingAndInviting() throws {
    let desk = try Machine("desk")
    let laptop = try Machine("laptop")
    #expect(try keys(desk.godwit("init", "--json")) == ["path", "replica", "group", "name"])
    let identity = try laptop.godwit("identity", "--json")
    #expect(try keys(identity) == ["identity", "replica", "fingerprint", "words", "ageRecipient", "postQuantum"])
    let text = try #require(try identity.objects().first?["identity"] as? String)
    let added = try desk.add(text, laptop, "--json")
    #expect(
      try keys(added) == ["name", "replica", "fingerprint", "invitation", "inviterFingerprint", "inviterWords"])
    let joined = try laptop.join(desk, "--json")
    #expect(try keys(joined) == ["path", "replica", "group", "name"])
    let listed = try desk.godwit("member", "list", "--json")
    #expect(try keys(listed) == ["name", "replica", "active", "own", "fingerprint", "words", "identity"])
    #expect(try keys(desk.godwit("identity", "rotate", "--json")) == keys(desk.godwit("identity", "--json")))
    #expect(try keys(desk.godwit("member", "rename", "laptop", "attic", "--json")) == ["renamed", "name"])
    #expect(try keys(desk.godwit("member", "rename", "attic", "laptop", "--json")) == ["renamed", "name"])
    let lives = try laptop.godwit("member", "incarnations", "--json")
    #expect(try keys(lives) == ["replica", "name", "incarnation", "own", "ended", "transactions", "stated"])
    #expect(try keys(desk.godwit("member", "remove", "laptop", "--json")) == ["removed", "revoke"])
  }

  @Test func tables() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    try await desk.makeLocalTable()
    #expect(try keys(desk.godwit("table", "start-sync", "draft", "--json")) == ["table", "synced", "rows"])
    #expect(try desk.godwit("table", "start-sync", "draft").status == 1)
    #expect(try keys(desk.godwit("table", "stop-sync", "draft", "--json")) == ["table", "synced"])
    #expect(try desk.godwit("table", "start-sync", "draft", "--as-of", "tomorrow").status == 64)
  }

  @Test func keysAndWhatIsDroppedOrEnded() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try laptop.godwit("export", "own.sync").status == 0)
    try #require(try desk.godwit("import", laptop.path("own.sync")).status == 0)
    #expect(try keys(desk.godwit("keyring", "new-key", "--json")) == ["key"])
    #expect(try keys(desk.godwit("keyring", "accept", "--json")) == ["accepted"])
    let added = try desk.godwit("keyring", "add", "recovery-code", "--label", "paper", "--json")
    #expect(try keys(added) == ["added", "recoveryCodes"])
    #expect(try keys(desk.godwit("keyring", "remove", "paper", "--json")) == ["removed"])
    let put = try desk.godwit("put", "todo", "--as", "1", "--json", input: Data(#"{"text": "plants"}"#.utf8))
    #expect(try keys(put) == ["collection", "documents"])
    #expect(try keys(desk.godwit("missing", "--drop", "laptop", "--json")) == ["dropped", "bytes"])
    let lives = try desk.godwit("member", "incarnations", "laptop", "--json").objects()
    let life = try #require(lives.first?["incarnation"] as? String)
    #expect(try keys(desk.godwit("member", "end", "laptop", life, "--json")) == ["ended", "name"])
  }

  @Test func exchanging() async throws {
    let (desk, laptop) = try await Machine.pair()
    #expect(try keys(desk.godwit("report", "page.html", "--json")) == ["file", "bytes", "values"])
    let exported = try desk.godwit("export", "changes.sync", "--json")
    let export: Set = ["file", "transactions", "recipients", "bytes", "stateFile", "files", "earlierFiles"]
    #expect(try keys(exported) == export)
    #expect(try exported.objects().first?["bytes"] as? Int == desk.read("changes.sync").count)
    let imported = try laptop.godwit("import", "--json", desk.path("changes.sync"))
    #expect(
      try keys(imported)
        == [
          "file", "sender", "applied", "duplicates", "waiting", "rows", "conflicts", "prunedConflicts", "held",
          "missing",
          "stateFile", "stateRows", "replayed", "needsStateFile", "forks", "leftOut", "losses", "members", "dropped",
          "differing",
        ])
  }

  @Test func inspecting() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let file = desk.path("changes.sync")
    let outside: Set<String> = ["file", "bytes", "headerBytes", "armored", "stanzas", "opens"]
    let inside: Set<String> = [
      "format", "acknowledgements", "unknownFields", "group", "ownGroup", "sender", "made", "recipients", "stateFile",
      "transactions",
      "ranges", "tables", "schemaVersion", "migrations", "applied", "waiting", "forgotten", "containerBytes",
      "containerHeaderBytes",
      "frames", "packedBytes", "unpackedBytes", "signature",
    ]
    let shown = try laptop.godwit("inspect", "--json", file)
    #expect(try keys(shown) == outside.union(inside))
    let object = try #require(try shown.objects().first)
    #expect((object["sender"] as? [String: Any])?["name"] as? String == "desk")
    #expect((object["tables"] as? [[String: Any]])?.first?["inserted"] as? Int == 3)
    let contents = try laptop.godwit("inspect", "--contents", "--json", file)
    #expect(contents.lines.count == 2)
    #expect(
      try keys(contents) == [
        "replica", "name", "incarnation", "sequence", "time", "changes", "schemaVersion", "seen", "operations",
      ])
    let closed = try Machine("bare").godwit("inspect", "--json", file)
    #expect(closed.status == 12)
    #expect(Set(try #require(try closed.objects().first).keys) == outside)
    #expect(
      try keys(laptop.godwit("verify", file, "--json")) == ["file", "sound", "sender", "transactions", "stateFile"])
  }

  @Test func caring() async throws {
    let (desk, laptop) = try await Machine.pair()
    #expect(try keys(desk.godwit("compact", "--json")) == ["transactions", "rows", "bytes"])
    let written = try desk.godwit("export", "--state", "all.sync", "--json")
    #expect(try keys(written) == ["file", "transactions", "recipients", "bytes", "stateFile", "files", "earlierFiles"])
    #expect(try laptop.godwit("import", "--rejoin", desk.path("all.sync")).status == 0)
    #expect(try laptop.digest() == desk.digest())
  }

  @Test func lookingAround() async throws {
    let (desk, _) = try await Machine.pair()
    let status = try desk.godwit("status", "--json")
    #expect(
      try keys(status) == [
        "path", "replica", "incarnation", "name", "group", "members", "tables", "applied", "unsent", "waiting",
        "waitingOf", "missing",
        "conflicts", "prunedConflicts", "limbo", "databaseBytes", "cipherVersion", "sqliteVersion", "schemaVersion",
        "heldVersion",
        "forks", "differing", "altered", "copied", "remotes",
      ])
    let object = try #require(try status.objects().first)
    #expect((object["tables"] as? [[String: Any]])?.first?["rows"] as? Int == 3)
    #expect((object["applied"] as? [[String: Any]])?.first?["sequence"] as? Int == 1)
    let log = try desk.godwit("log", "--json")
    #expect(try keys(log) == ["replica", "name", "incarnation", "sequence", "time", "changes"])
    let change = try #require((try log.objects().first?["changes"] as? [[String: Any]])?.first)
    #expect(change["table"] as? String == "note")
    #expect(change["inserted"] as? Int == 3)
    let verified = try desk.godwit("verify", "--json")
    #expect(try keys(verified) == ["sound", "digest", "stateHash", "transactions", "rows", "problems", "differing"])
    let state = try #require(try verified.objects().first?["stateHash"] as? String)
    #expect(state.count == 32)
    // Each with the end of its line.
    #expect(try desk.godwit("verify").text == "digest \(try desk.digest())state  \(state)\n")
  }

  @Test func anExportToTheStandardOutputReportsOnTheStandardError() async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try desk.godwit("export", "-", "--json")
    #expect(outcome.output.starts(with: Array("age-encryption.org/v1".utf8)))
    let report = try JSONSerialization.jsonObject(with: Data(outcome.error.utf8)) as? [String: Any]
    #expect(report?["bytes"] as? Int == outcome.output.count)
  }
}
