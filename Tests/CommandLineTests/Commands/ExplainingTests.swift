import Foundation
import Godwit
import Testing

/// What the commands say of conflicts, of what is held back or missing, and why.
@Suite struct ExplainingTests {
  private static let author: Set<String> = ["replica", "name", "incarnation", "sequence", "time"]

  /// Desk and laptop have set one title apart and then exchanged everything.
  private func edited() async throws -> (desk: Machine, laptop: Machine) {
    let (desk, laptop) = try await Machine.pair()
    try exchange(desk, laptop)
    try await desk.write { tx in _ = try tx.execute("UPDATE note SET title = 'desk' WHERE views = 1") }
    try await laptop.write { tx in _ = try tx.execute("UPDATE note SET title = 'laptop' WHERE views = 1") }
    try exchange(desk, laptop)
    return (desk, laptop)
  }

  private func exchange(_ desk: Machine, _ laptop: Machine) throws {
    try #require(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    try #require(try laptop.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)
  }

  private func keys(_ value: Any?) -> Set<String> { Set((value as? [String: Any])?.keys ?? [:].keys) }

  @Test func aConflictIsListedShownAndRestored() async throws {
    let (desk, laptop) = try await edited()
    let listed = try #require(try laptop.godwit("conflicts", "--json").objects().first)
    #expect(
      Set(listed.keys) == [
        "id", "kind", "table", "key", "column", "columns", "formerColumns", "lost", "won", "resolved",
      ])
    for side in ["lost", "won"] { #expect(keys(listed[side]) == Self.author.union(["value", "values"])) }
    let (number, lost) = (
      "\(try #require(listed["id"] as? Int))", (listed["lost"] as? [String: Any])?["value"] as? String
    )
    for options in [["--table", "note"], ["--kind", "edit"], ["--since", "1d"], ["--limit", "1"]] {
      #expect(try laptop.run(["conflicts", "list", "--json"] + options).objects().count == 1)
    }
    for options in [
      ["--kind", "delete"], ["--since", "2200-01-01"], ["--since", "9999-12-31"],
      ["--table", "note", "--key", String(repeating: "0", count: 32)],
    ] {
      #expect(try laptop.run(["conflicts", "--json"] + options).output.isEmpty)
    }
    let shown = try laptop.godwit("conflicts", "show", number)
    #expect(
      shown.lines.first == "conflict  \(number), edit" && shown.text.contains("godwit conflicts restore \(number)"))
    #expect(try laptop.godwit("--json", "conflicts", "show", number).objects().first?["id"] as? Int == Int(number))

    let restored = try laptop.godwit("conflicts", "restore", number, "--json")
    #expect(try restored.objects().first?["written"] as? Bool == true)
    #expect(try laptop.godwit("query", "SELECT title FROM note WHERE views = 1").lines.last == lost)
    #expect(try laptop.godwit("conflicts").text.contains("resolved"))
    #expect(try laptop.godwit("conflicts", "restore", number).error.contains("nothing was left"))
    #expect(try laptop.godwit("conflicts", "restore", "99").status == 1)
    try exchange(desk, laptop)
    #expect(try desk.digest() == laptop.digest())
  }

  @Test func aListingSaysWhatItLeavesOutAndTellsACopysWritesFromTheOriginals() async throws {
    let (desk, laptop) = try await Machine.pair()
    try exchange(desk, laptop)
    let copy = try Machine("copy")
    for folder in [".godwit", "config"] {
      try FileManager.default.copyItem(atPath: laptop.path(folder), toPath: copy.path(folder))
    }
    for (machine, title) in [(laptop, "mine"), (copy, "the copy's")] {
      try await machine.write { tx in _ = try tx.execute("UPDATE note SET title = \(title) WHERE views = 1") }
    }
    try #require(try laptop.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)
    try #require(try copy.pipe(["export", "-"], to: desk, ["import", "-"]).status == 0)
    let log = try desk.godwit("log", "--limit", "2")
    #expect(log.error.contains("the newest 2; there are more: --limit"))
    let names = Set(log.lines.flatMap { $0.split(separator: " ").map(String.init) }.filter { $0.hasPrefix("laptop/") })
    #expect(names.count == 2, "\(log.text)")
    let row = try #require(log.lines.first { $0.contains("laptop/") }?.split(separator: " ").map(String.init))
    let place = try #require(row.firstIndex { $0.hasPrefix("laptop/") })
    #expect(try desk.godwit("log", "show", row[place], row[place + 1]).status == 0, "\(row)")
    #expect(try desk.godwit("log", "show", "laptop/00000000", "1").status == 1)
    #expect(try desk.godwit("log", "--limit", "50").error.isEmpty)
    #expect(try desk.godwit("log", "--limit", "2", "--json").objects().count == 2)
    let conflicts = try desk.godwit("conflicts").text
    #expect(names.allSatisfy(conflicts.contains), "\(conflicts)")
    let key = try #require(
      try desk.godwit("query", "--json", "SELECT hex(id) AS id FROM note WHERE views = 1").objects().first?["id"]
        as? String)
    let why = try desk.godwit("why", "note", key, "title").text
    #expect(names.allSatisfy(why.contains), "\(why)")
  }

  @Test func ofALongValueAListHasTheBeginningAndTheConflictAllOfIt() async throws {
    let (desk, laptop) = try await Machine.pair()
    try exchange(desk, laptop)
    let long = String(repeating: "long ", count: 5_000)
    for machine in [desk, laptop] {
      let title = long + machine.folder
      try await machine.write { tx in _ = try tx.execute("UPDATE note SET title = \(title) WHERE views = 1") }
    }
    try exchange(desk, laptop)
    let listed = try desk.godwit("conflicts").lines
    #expect(listed.count == 2 && listed.allSatisfy { $0.count < 250 }, "\(listed.map(\.count))")
    let number = try #require(listed.last?.split(separator: " ").first.map(String.init))
    #expect(try desk.godwit("conflicts", "show", number).text.contains(long))
  }

  @Test func conflictsArePrunedAndStayCounted() async throws {
    let (_, laptop) = try await edited()
    #expect(try laptop.godwit("conflicts", "prune").status == 64)
    #expect(try laptop.godwit("conflicts", "prune", "--before", "1d", "--json").objects().first?["pruned"] as? Int == 0)
    #expect(try laptop.godwit("conflicts", "prune", "--keep", "0").error == "dropped 1 conflict\n")
    #expect(try laptop.godwit("conflicts").error == "no conflicts\n1 older one dropped\n")
    #expect(try laptop.godwit("status", "--json").objects().first?["prunedConflicts"] as? Int == 1)
  }

  @Test func aRowTellsWhyItIsWhatItIs() async throws {
    let (_, laptop) = try await edited()
    let query = try laptop.godwit("query", "--json", "SELECT id, title FROM note WHERE views = 1").objects().first
    let title = try #require(query?["title"] as? String)
    let digits = try #require((query?["id"] as? [String: String])?["$blob"])
    let loser = title == "desk" ? "laptop" : "desk"
    let uuid = try #require(UUID(uuidString: digits.hyphenated)).uuidString

    let text = try laptop.godwit("why", "note", digits)
    #expect(text.lines.first == "note x'\(digits)' is in its table")
    #expect(text.text.contains("title = \(title)\n  written by \(title), transaction"))
    #expect(text.text.contains("  won over \(loser) by \(loser), transaction"))
    for key in [uuid, "x'\(digits)'", "[{\"$blob\":\"\(digits)\"}]"] {
      #expect(try laptop.godwit("why", "note", key).text == text.text)
    }
    let one = try laptop.godwit("why", "note", digits, "title", "--json")
    let row = try #require(try one.objects().first)
    #expect(
      Set(row.keys) == [
        "table", "key", "presence", "deletesWin", "older", "touches", "deletions", "reasons",
        "conflicts", "cells",
      ])
    let cell = try #require((row["cells"] as? [[String: Any]])?.first)
    #expect(Set(cell.keys) == ["column", "value", "hidden", "rule", "author", "parts", "conflicts"])
    #expect(keys(cell["author"]) == Self.author && (cell["conflicts"] as? [Any])?.count == 1)
    #expect((row["cells"] as? [Any])?.count == 1 && row["presence"] as? String == "shown")
    #expect(keys((row["touches"] as? [Any])?.first) == Self.author.union(["kind", "deleted"]))

    #expect(try laptop.godwit("why", "note", "zz").error.contains("UUID"))
    #expect(try laptop.godwit("why", "nothing", "1").error.contains("there is no synced table nothing"))
    #expect(try laptop.godwit("why", "note", String(repeating: "0", count: 32)).status == 1)
    #expect(try laptop.godwit("why", "note").status == 64)
  }

  @Test func theLogIsSearchedAndATransactionShown() async throws {
    let (desk, laptop) = try await edited()
    let id = try #require(try laptop.godwit("status", "--json").objects().first?["replica"] as? String)
    #expect(try desk.godwit("log", "--origin", "laptop", "--json").objects().count == 1)
    #expect(try desk.godwit("log", "--origin", String(id.prefix(8)), "--json").objects().count == 1)
    #expect(try desk.godwit("log", "list", "--table", "note", "--since", "1h", "--json").objects().count == 3)
    #expect(try desk.godwit("log", "--table", "nothing").error.contains("there is no synced table nothing"))
    #expect(try desk.godwit("log", "--table", "nothing").status != 0)
    #expect(try desk.godwit("log", "--table", "note", "--since", "2999-01-01").error == "no such transactions\n")
    #expect(try desk.godwit("log", "--origin", "nobody").error.contains("no member is called nobody"))
    #expect(try desk.godwit("log", "--since", "yesterday").status == 64)
    let shown = try desk.godwit("log", "show", "laptop", "1")
    #expect(shown.lines.first?.hasPrefix("transaction  1 of laptop (\(id), incarnation ") == true)
    #expect(shown.lines.last == "  title = laptop" && shown.lines.contains("seen         desk 1"))
    let object = try #require(try desk.godwit("log", "show", "laptop", "1", "--json").objects().first)
    #expect(
      Set(object.keys) == [
        "replica", "name", "incarnation", "sequence", "time", "changes", "schemaVersion", "seen", "operations",
      ])
    let operation = try #require((object["operations"] as? [[String: Any]])?.first)
    #expect(Set(operation.keys) == ["kind", "table", "key", "cells"])
    #expect(keys((operation["cells"] as? [Any])?.first) == ["column", "value", "relative"])
    #expect(keys((object["changes"] as? [Any])?.first) == ["table", "inserted", "updated", "deleted"])
    #expect(try desk.godwit("log", "show", "laptop", "9").status == 1)
  }

  @Test func aPlanTellsWhatAnImportWouldDoAndChangesNothing() async throws {
    let (desk, laptop) = try await Machine.pair()
    try exchange(desk, laptop)
    try await desk.write { tx in _ = try tx.execute("UPDATE note SET title = 'desk' WHERE views = 1") }
    try await laptop.write { tx in _ = try tx.execute("UPDATE note SET title = 'laptop' WHERE views = 1") }
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let digest = try laptop.digest()

    let planned = try laptop.godwit("import", "--plan", "--json", "--fail-on-conflict", desk.path("changes.sync"))
    let text = try laptop.godwit("import", "--plan", desk.path("changes.sync"))

    #expect(planned.status == 3 && text.status == 0)
    let object = try #require(try planned.objects().first)
    #expect(
      Set(object.keys) == [
        "file", "sender", "applied", "duplicates", "waiting", "rows", "conflicts", "prunedConflicts", "missing",
        "forks",
        "leftOut", "planned", "state", "stateRows", "losses", "members", "dropped", "differing",
        "changes", "conflictEntries", "limbo", "limboEntries", "held", "stateFile", "replayed", "needsStateFile",
      ])
    #expect(object["applied"] as? Int == 1 && (object["conflictEntries"] as? [Any])?.count == 1)
    #expect(text.lines.first?.hasPrefix("planned, not applied: ") == true && text.lines.count == 3)
    #expect(text.lines[1] == "  would write     note ~1")
    #expect(try laptop.digest() == digest && laptop.godwit("conflicts").output.isEmpty)
    #expect(try laptop.godwit("import", "--json", desk.path("changes.sync")).objects().first?["applied"] as? Int == 1)
  }

  @Test func aPlanOfAStateFileTellsWhatItWouldPutInThePlaceOfTheState() async throws {
    let (desk, laptop) = try await Machine.pair()
    let phone = try Machine("phone")
    try desk.invite(phone)
    for _ in 0..<2 {
      try exchange(desk, laptop)
      try exchange(desk, phone)
    }
    try #require(try desk.godwit("member", "remove", "phone").status == 0)
    try await desk.write { tx in try tx.insert(Note(title: "late")) }
    for _ in 0..<3 { try exchange(desk, laptop) }
    try #require(try desk.godwit("compact").status == 0)
    try desk.add(phone.path("identity"), phone)
    try #require(try desk.godwit("export", "--state", "all.sync").status == 0)
    let (file, digest) = (desk.path("all.sync"), try phone.digest())

    let refused = try phone.godwit("import", "--plan", file)
    let text = try phone.godwit("import", "--plan", "--rejoin", file)
    let object = try #require(try phone.godwit("import", "--plan", "--rejoin", "--json", file).objects().first)

    #expect(refused.status == 1 && refused.error.contains("--rejoin"))
    #expect(text.status == 0 && text.lines.contains("  would replace   note: 3 rows by 4"), "\(text.text)\(text.error)")
    #expect(text.lines.first?.contains("the whole state (4 rows)") == true)
    let state = try #require((object["state"] as? [[String: Any]])?.first)
    #expect(state["table"] as? String == "note" && state["before"] as? Int == 3 && state["rows"] as? Int == 4)
    #expect(object["stateFile"] as? Bool == true && object["stateRows"] as? Int == 4)
    #expect(try phone.digest() == digest)
    #expect(try phone.godwit("import", "--rejoin", file).status == 0)
    #expect(try phone.digest() == desk.digest())
  }

  @Test func theConflictsOfAStoppedTableAreListed() async throws {
    let (desk, _) = try await edited()
    try #require(try desk.godwit("table", "stop-sync", "note").status == 0)
    let listed = try desk.godwit("conflicts", "--table", "note", "--json").objects()
    #expect(listed.count == 1)
    let key = try #require(((listed.first?["key"] as? [Any])?.first as? [String: String])?["$blob"])
    #expect(try desk.godwit("conflicts", "--table", "note", "--key", key, "--json").objects().count == 1)
    let why = try desk.godwit("why", "note", key)
    #expect(why.status == 1 && why.error.contains("godwit conflicts --table note"))
  }

  @Test func aForgottenRowTellsItsConflicts() async throws {
    let (desk, laptop) = try await edited()
    let listed = try desk.godwit("conflicts", "--json").objects()
    let key = try #require(((listed.first?["key"] as? [Any])?.first as? [String: String])?["$blob"])
    try await desk.write { tx in _ = try tx.execute("DELETE FROM note") }
    for _ in 0..<3 { try exchange(desk, laptop) }
    try #require(try desk.godwit("compact").status == 0)
    let why = try desk.godwit("why", "note", key)
    #expect(why.lines.first == "note x'\(key)' is not in its table, and of itself nothing is remembered")
    #expect(why.lines.count == 2 && why.lines.last?.contains("lost to") == true)
    #expect(try desk.godwit("why", "note", key, "--json").objects().first?["presence"] as? String == "unknown")
    try #require(try desk.godwit("conflicts", "prune", "--keep", "0").status == 0)
    let none = try desk.godwit("why", "note", key)
    #expect(none.status == 1 && none.error.contains("is forgotten"))
  }

  @Test func nothingIsMissingOrHeldBack() async throws {
    let (desk, laptop) = try await edited()
    let missing = try desk.godwit("missing", "--json")
    #expect(try missing.status == 0 && keys(missing.objects().first) == ["waiting", "heldVersion", "missing"])
    #expect(try desk.godwit("missing").error == "nothing is missing\n")
    #expect(try laptop.godwit("limbo").error == "nothing is held back\n")
    #expect(try laptop.godwit("limbo", "--json").output.isEmpty)
  }

  @Test func aRowInLimboTellsWhatItWaitsFor() async throws {
    let (desk, laptop) = try await Machine.pair()
    try exchange(desk, laptop)
    try await desk.seat("east", 1, "ada")
    try await laptop.seat("west", 2, "ada")
    try exchange(desk, laptop)

    let row = try #require(try desk.godwit("limbo", "--json").objects().first)
    #expect(Set(row.keys) == ["table", "key", "shown", "values", "hidden", "reasons"])
    #expect(row["shown"] as? Bool == false && keys(row["values"]) == ["guest"])
    let reason = try #require((row["reasons"] as? [[String: Any]])?.first)
    #expect(Set(reason.keys) == ["kind", "columns", "values", "table", "key", "author"])
    #expect(reason["kind"] as? String == "unique" && keys(reason["author"]) == Self.author)
    #expect(try desk.godwit("limbo").text.contains("guest: ada is held by east, 1"))
    #expect(try desk.godwit("status").error.contains("see: godwit limbo"))
    #expect(try desk.godwit("status", "--json").objects().first?["limbo"] as? Int == 1)
    let open = try #require(try desk.godwit("conflicts", "--json").objects().first?["id"] as? Int)
    #expect(try desk.godwit("conflicts", "show", "\(open)").text.contains("its row waits: godwit limbo"))
    let (page, whole) = (try desk.godwit("report").text, try desk.godwit("report", "--values").text)
    #expect(
      page.contains("guest: another row holds the value") && !page.contains("ada is held") && !page.contains("west"))
    #expect(page.contains("1 row held back by a rule of the schema") && whole.contains("guest: ada is held by east, 1"))
    let why = try desk.godwit("why", "seat", "west", "2")
    #expect(why.lines.first == "seat west, 2 waits in limbo" && why.text.contains("\nguest = ada\n"))
    #expect(!why.text.contains("won over"))
    #expect(why.text.contains("  lost ada over a unique value by laptop, transaction"))
    #expect(try desk.godwit("why", "seat", "[\"west\",2]", "GUEST").text == why.text)
    #expect(try desk.godwit("why", "seat", "west", "two").error.contains("column number holds integer values"))
    #expect(try desk.godwit("why", "seat", "west").error.contains("is made of hall, number"))
    let listed = try desk.godwit("conflicts", "--json", "--table", "seat", "--key", "[\"west\",2]").objects().first
    let number = try #require(listed?["id"] as? Int)
    let refused = try desk.godwit("conflicts", "restore", "\(number)")
    #expect(refused.status == 1 && refused.error.contains("hint: give that row another value"))
  }

  @Test func whatWaitsIsToldWithWhoMayHaveTheRest() async throws {
    let (desk, laptop) = try await Machine.pair()
    let phone = try Machine("phone")
    try desk.invite(phone)
    try exchange(desk, laptop)
    // The phone says that it holds what the desk wrote, and is then restored from an earlier backup.
    let files = FileManager.default
    try files.copyItem(atPath: phone.replica, toPath: phone.path("backup"))
    try #require(try desk.pipe(["export", "--all", "-"], to: phone, ["import", "-"]).status == 0)
    try #require(try phone.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    try files.removeItem(atPath: phone.replica)
    try files.moveItem(atPath: phone.path("backup"), toPath: phone.replica)
    try await laptop.write { tx in _ = try tx.execute("UPDATE note SET title = 'laptop'") }
    try #require(try laptop.pipe(["export", "--for", "phone", "-"], to: phone, ["import", "-"]).status == 0)

    let told = try phone.godwit("missing")
    let object = try #require(try phone.godwit("missing", "--json").objects().first)

    #expect(told.status == 4 && told.lines.first?.hasPrefix("waiting  laptop 1, 1 transaction, ") == true)
    #expect(told.lines.last?.hasPrefix("missing  desk 1, ask ") == true)
    let page = try phone.godwit("report").text
    #expect(page.contains("What it waits for</caption>") && page.contains("1 transaction waiting for others"))
    let missing = try #require((object["missing"] as? [[String: Any]])?.first)
    #expect(Set(missing.keys) == ["replica", "name", "first", "last", "holders"])
    #expect(Set(object.keys) == ["waiting", "heldVersion", "missing"] && object["heldVersion"] is NSNull)
    let holders = try #require(missing["holders"] as? [[String: Any]])
    #expect(Set(holders.compactMap { $0["name"] as? String }) == ["desk", "laptop"])
    #expect(
      keys((object["waiting"] as? [Any])?.first) == [
        "replica", "name", "first", "last", "transactions", "bytes", "setAside",
      ])
    try #require(try desk.pipe(["export", "--all", "-"], to: phone, ["import", "-"]).status == 0)
    #expect(try phone.godwit("missing").status == 0)
  }
}

/// A key of two columns, and a unique value.
private struct Seat: Model {
  static let schema = Schema<Self>("seat") {
    Key(Column("hall", \.hall), Column("number", \.number))
    Column("guest", \.guest).unique()
  }
  var hall = ""
  var number = 0
  var guest: String?
  var id: PairKey<String, Int> {
    get { PairKey(hall, number) }
    set { (hall, number) = (newValue.first, newValue.second) }
  }
}

extension Machine {
  fileprivate func seat(_ hall: String, _ number: Int, _ guest: String) async throws {
    let replica = try await Replica.open(at: replica, models: Note.self, Seat.self, configuration: .init(key: keys))
    try await replica.write { _ = try $0.insert(Seat(hall: hall, number: number, guest: guest)) }
    await replica.close()
  }
}

extension String {
  /// 32 digits as a UUID is usually written.
  fileprivate var hyphenated: String {
    let digits = Array(self)
    let cuts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    guard digits.count == 32 else { return self }
    return cuts.map { String(digits[$0]) }.joined(separator: "-")
  }
}
