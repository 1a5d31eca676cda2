import Foundation
import Testing

/// Who belongs to a group, at the command line (Specs/membership.md).
@Suite struct MembershipTests {
  private let desk: Machine
  private let laptop: Machine

  init() throws {
    desk = try Machine("desk")
    laptop = try Machine("laptop")
    try #require(try desk.godwit("init", "--name", "desk").status == 0)
    try laptop.write(Data(try laptop.godwit("identity").output), to: "identity")
  }

  private func members(_ machine: Machine) throws -> [String: Bool] {
    let listed = try machine.godwit("member", "list", "--json").objects()
    return Dictionary(
      listed.compactMap { member in
        (member["name"] as? String).flatMap { name in (member["active"] as? Bool).map { (name, $0) } }
      }, uniquingKeysWith: { $0 && $1 })
  }

  private func expectUnverified(_ outcome: Outcome, says text: String) {
    #expect(outcome.status == 13)
    #expect(outcome.error.contains("godwit: error: ") && outcome.error.contains("godwit: hint: "))
    #expect(outcome.error.contains(text), "\(outcome.error)")
    #expect(outcome.output.isEmpty)
  }

  @Test func withoutAComparisonNobodyIsAddedAndNobodyJoins() throws {
    expectUnverified(
      try desk.godwit("member", "add", laptop.path("identity"), "--name", "laptop"), says: "--fingerprint")
    #expect(try members(desk) == ["desk": true])
    #expect(!FileManager.default.fileExists(atPath: desk.path("laptop.godwit-invitation")))
    try desk.add(laptop.path("identity"), laptop)
    let keyring = try laptop.read(".godwit/keyring")
    expectUnverified(try laptop.godwit("join", desk.path("laptop.godwit-invitation")), says: "--fingerprint")
    #expect(try laptop.read(".godwit/keyring") == keyring)
  }

  @Test func nobodyIsAMemberWhoseInvitationCannotBeWritten() throws {
    let add = ["member", "add", laptop.path("identity"), "--name", "ghost", "--trust-first-use", "--invitation"]
    let full = try desk.run(add + ["-"], writingTo: "/dev/full")
    #expect(full.status == 1 && full.error.contains("nothing was changed"), "\(full.error)")
    for path in [desk.folder, desk.path("nowhere/invitation")] {
      #expect(try desk.run(add + [path]).status == 1)
    }
    #expect(try members(desk) == ["desk": true])
    #expect(try desk.run(add + ["invitation"]).status == 0)
    #expect(try members(desk) == ["desk": true, "ghost": true])
  }

  @Test func addingRenamesNobody() throws {
    try desk.add(laptop.path("identity"), laptop)
    let named = try desk.godwit("member", "add", laptop.path("identity"), "--name", "attic", "--trust-first-use")
    #expect(named.status == 1, "\(named.status): \(named.error)")
    #expect(named.error.contains("called laptop") && named.error.contains("member rename"), "\(named.error)")
    try desk.write(Data(try desk.godwit("identity").output), to: "own")
    let own = try desk.godwit("member", "add", "own", "--name", "me", "--trust-first-use")
    #expect(own.status == 1 && own.error.contains("this very replica"), "\(own.error)")
    let id = try #require(try laptop.godwit("identity", "--json").objects().first?["replica"] as? String)
    let taken = try desk.godwit("member", "rename", "desk", id)
    #expect(taken.status == 1 && taken.error.contains("is the ID of the replica laptop"), "\(taken.error)")
    #expect(try members(desk) == ["desk": true, "laptop": true])
    let folder = try desk.godwit("member", "add", desk.folder, "--name", "x", "--trust-first-use")
    #expect(folder.status == 1 && folder.error.contains("godwit: hint: give an identity"), "\(folder.error)")
  }

  @Test func joiningThatWasBrokenOffGoesOn() throws {
    try desk.add(laptop.path("identity"), laptop)
    try FileManager.default.createDirectory(atPath: laptop.path(".godwit/database"), withIntermediateDirectories: false)
    #expect(try laptop.join(desk).status == 1)
    try FileManager.default.removeItem(atPath: laptop.path(".godwit/database"))
    let status = try laptop.godwit("status")
    #expect(status.status == 10 && status.error.contains("where joining was broken off"), "\(status.error)")
    #expect(try laptop.join(desk).status == 0)
    #expect(try members(laptop) == ["desk": true, "laptop": true])
    #expect(try laptop.join(desk).status == 1)
    try desk.write(Data("hello".utf8), to: "none")
    let other = try Machine("other")
    try #require(try other.godwit("identity").status == 0)
    for file in ["none", "laptop.godwit-invitation"] {
      let refused = try other.godwit("join", desk.path(file), "--trust-first-use")
      #expect(refused.status != 0 && refused.error.contains("ask the inviter for another"), "\(refused.error)")
    }
  }

  @Test func anotherFingerprintIsRefusedOnBothSidesAndNothingIsStored() throws {
    let wrong = try desk.fingerprint()
    expectUnverified(
      try desk.godwit("member", "add", laptop.path("identity"), "--name", "laptop", "--fingerprint", wrong),
      says: "fingerprint")
    #expect(try members(desk) == ["desk": true])
    try desk.add(laptop.path("identity"), laptop)
    let keyring = try laptop.read(".godwit/keyring")
    expectUnverified(
      try laptop.godwit(
        "join", desk.path("laptop.godwit-invitation"), "--fingerprint", laptop.fingerprint()), says: "fingerprint")
    #expect(try laptop.read(".godwit/keyring") == keyring)
    #expect(try laptop.join(desk).status == 0)
  }

  @Test func wordsCompareAsWellAndTrustOnFirstUseMustBeAskedFor() throws {
    let words = try #require(
      try laptop.godwit("identity", "--json").objects().first?["words"] as? String)
    let added = try desk.godwit(
      "member", "add", laptop.path("identity"), "--name", "laptop", "--fingerprint",
      words.uppercased().replacing("-", with: " "))
    #expect(added.status == 0 && added.output.isEmpty)
    #expect(try added.error.contains(desk.fingerprint()))
    let joined = try laptop.godwit("join", desk.path("laptop.godwit-invitation"), "--trust-first-use")
    #expect(joined.status == 0)
    let both = try laptop.godwit("join", "x", "--trust-first-use", "--fingerprint", words)
    #expect(both.status == 64)
  }

  @Test func aRenameTravels() throws {
    try desk.invite(laptop)
    #expect(try desk.godwit("member", "rename", "laptop", "attic").status == 0)
    #expect(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    #expect(try members(laptop) == ["desk": true, "attic": true])
    let taken = try laptop.godwit("member", "rename", "desk", "attic")
    #expect(taken.status == 1 && taken.error.contains("attic already"))
    #expect(try laptop.godwit("member", "rename", "nobody", "x").status == 1)
    #expect(try laptop.godwit("member", "rename", "desk", "").status == 64)
  }

  @Test func everyChangeOfMembersIsReportedAndListed() throws {
    try desk.invite(laptop)
    let phone = try Machine("phone")
    try phone.write(Data(try phone.godwit("identity").output), to: "identity")
    try desk.add(phone.path("identity"), phone)
    #expect(try desk.godwit("member", "rename", "laptop", "attic").status == 0)
    let first = try desk.pipe(["export", "-"], to: laptop, ["import", "-", "--json"])
    let news = try #require(try first.objects().first?["members"] as? [[String: Any]])
    #expect(Set(news.map { "\($0["kind"] ?? "") \($0["name"] ?? "")" }) == ["added phone", "renamed attic"])
    #expect(news.first { $0["kind"] as? String == "renamed" }?["formerName"] as? String == "laptop")
    #expect(news.allSatisfy { ($0["by"] as? [String: Any])?["name"] as? String == "desk" })
    #expect(try laptop.godwit("member", "remove", "phone").status == 0)
    let second = try laptop.pipe(["export", "-"], to: desk, ["import", "-"])
    #expect(second.text.contains("; members: phone removed by attic"), "\(second.text)")
    let log = try desk.godwit("member", "log", "--json").objects()
    #expect(
      log.map { "\($0["kind"] ?? "") \($0["name"] ?? "")" }
        == ["founded desk", "added laptop", "added phone", "renamed attic", "removed phone"])
    #expect(Set(log[0].keys) == ["kind", "replica", "name", "formerName", "by", "time"])
    let lines = try desk.godwit("member", "log").lines
    #expect(
      lines.count == 6 && lines[0].hasPrefix("TIME") && lines[5].contains("removed") && lines[5].hasSuffix("attic"))
  }

  @Test func aReplacedIdentityIsBelievedWithTheNextFile() async throws {
    try desk.invite(laptop)
    try #require(try laptop.godwit("export", "old.sync").status == 0)
    try #require(try laptop.godwit("export", "older.sync").status == 0)
    let before = try laptop.fingerprint()

    let rotated = try laptop.godwit("identity", "rotate")

    #expect(rotated.status == 0 && rotated.text.hasPrefix("godwit1"))
    #expect(try laptop.fingerprint() != before)
    #expect(try rotated.error.contains(laptop.fingerprint()))
    try #require(try desk.godwit("import", laptop.path("older.sync")).status == 0)
    try await laptop.write { tx in try tx.insert(Note(title: "new keys")) }
    #expect(try laptop.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)
    let listed = try desk.godwit("member", "list", "--json").text
    #expect(try listed.contains(laptop.fingerprint()) && !listed.contains(before))
    let late = try desk.godwit("import", laptop.path("old.sync"))
    #expect(late.status == 13 && late.error.contains("replaced"))
    let shown = try desk.godwit("inspect", "--json", laptop.path("old.sync"))
    #expect(shown.status == 13 && shown.text.contains("replacedKey"))
    #expect(try desk.pipe(["export", "--all", "-"], to: laptop, ["import", "-"]).status == 0)
    #expect(try desk.digest() == laptop.digest())
  }

  @Test func replacingAnIdentityNeedsAGroup() throws {
    let outcome = try laptop.godwit("identity", "rotate")
    #expect(outcome.status == 10 && outcome.error.contains("hint"))
  }

  @Test func aReplacedMachineOfOneNameIsNotTakenForTheOther() async throws {
    try desk.invite(laptop)
    let other = try Machine("laptop")
    let ids = try [laptop, other].map { machine in
      try #require(try machine.godwit("identity", "--json").objects().first?["replica"] as? String)
    }
    try await laptop.write { tx in try tx.insert(Note(title: "old")) }
    try #require(try laptop.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)
    try #require(try desk.godwit("member", "remove", "laptop").status == 0)
    try desk.invite(other)
    try await other.write { tx in try tx.insert([Note(title: "new"), Note(title: "newer")]) }
    try #require(try other.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)

    let shown = try desk.godwit("log", "--origin", "laptop", "--json").objects()
    #expect(shown.compactMap { $0["replica"] as? String } == [ids[1]])
    #expect(try desk.godwit("log", "--origin", ids[0], "--json").objects().count == 1)
    for text in [ids[1], String(ids[1].prefix(12)), "laptop"] {
      let lives = try desk.godwit("member", "incarnations", text, "--json").objects()
      #expect(!lives.isEmpty && lives.allSatisfy { $0["replica"] as? String == ids[1] })
    }
    let life = try #require(
      try desk.godwit("member", "incarnations", ids[1], "--json").objects().first?["incarnation"] as? String)
    #expect(try desk.godwit("member", "end", String(ids[1].prefix(12)), life).status == 0)
    let nobody = try desk.godwit("member", "incarnations", "nobody")
    #expect(nobody.status == 1 && nobody.error.contains("no member is called nobody"))
  }
}
