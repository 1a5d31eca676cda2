import Godwit
import Testing

@Suite("Merge policies")
struct PolicyTests {
  @Test("concurrent changes of a counter add up, and setting it is a difference")
  func counter() async throws {
    let group = try await MergeGroup(3)
    try await group.write(0, "INSERT INTO page (id, views) VALUES ('a', 10)")
    try await group.exchange()
    try await group.write(0, "UPDATE page SET views = views + 1")
    try await group.write(1, "UPDATE page SET views = views - 3")
    try await group.write(2, "UPDATE page SET views = 20")
    try await group.exchange()
    #expect(try await group.rows("SELECT views FROM page") == [[18]])
    #expect(try await group.conflicts(0).isEmpty)
  }

  @Test("a revived row has its whole count; an insert starts from its own value and what it had not seen")
  func counterOfRevivedRow() async throws {
    let group = try await MergeGroup(3)
    try await group.write(0, "INSERT INTO page (id, views) VALUES ('a', 10)")
    try await group.exchange()
    try await group.write(0, "DELETE FROM page")
    try await group.write(1, "UPDATE page SET views = views + 5")
    try await group.exchange()
    #expect(try await group.rows("SELECT views FROM page") == [[15]])

    try await group.write(0, "DELETE FROM page")
    try await group.write(1, "DELETE FROM page")
    try await group.write(0, "INSERT INTO page (id, views) VALUES ('a', 2)")
    try await group.write(2, "UPDATE page SET views = views + 100")
    try await group.exchange()
    #expect(try await group.rows("SELECT views FROM page") == [[102]])
  }

  @Test("two inserts of one key add their counts")
  func counterOfTwoInserts() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, views) VALUES ('a', 2)", "UPDATE page SET views = views + 1")
    try await group.write(1, "INSERT INTO page (id, views) VALUES ('a', 40)")
    try await group.write(1, "UPDATE page SET views = views + 1")
    try await group.exchange()
    #expect(try await group.rows("SELECT views FROM page") == [[44]])
  }

  @Test("a count wraps around at 64 bits, the same everywhere")
  func counterOverflow() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, views) VALUES ('a', 9223372036854775807)")
    try await group.exchange()
    try await group.write(0, "UPDATE page SET views = views - 1")
    try await group.write(1, "UPDATE page SET views = 9223372036854775806")
    try await group.exchange()
    #expect(try await group.rows("SELECT views FROM page") == [[9_223_372_036_854_775_805]])
  }

  @Test("what is not an integer cannot be counted")
  func counterOfText() async throws {
    let group = try await MergeGroup(1)
    try await group.write(0, "INSERT INTO page (id) VALUES ('a')")
    #expect(await code { try await group.write(0, "UPDATE page SET views = 'many'") } == .constraint)
    #expect(try await group.rows("SELECT views FROM page") == [[0]])
  }

  @Test("an element added stays when the remove had not seen the add")
  func addWins() async throws {
    let group = try await MergeGroup()
    try await group.write(0, #"INSERT INTO page (id, tags) VALUES ('a', '["x","y"]')"#)
    try await group.exchange()
    try await group.write(0, #"UPDATE page SET tags = '["y"]'"#, #"UPDATE page SET tags = '["x","y"]'"#)
    try await group.write(1, #"UPDATE page SET tags = '["y"]'"#)
    try await group.exchange()
    // The first replica's transaction came to nothing, so the second's remove had seen all there is.
    #expect(try await group.rows("SELECT tags FROM page") == [[#"["y"]"#]])

    try await group.write(0, #"UPDATE page SET tags = '["y","z"]'"#)
    try await group.write(1, #"UPDATE page SET tags = '["w"]'"#)
    try await group.exchange()
    #expect(try await group.rows("SELECT tags FROM page") == [[#"["w","z"]"#]])

    try await group.write(0, #"UPDATE page SET tags = '["w"]'"#)
    try await group.write(0, #"UPDATE page SET tags = '["w","z"]'"#)
    try await group.write(1, #"UPDATE page SET tags = '["w"]'"#)
    try await group.exchange()
    #expect(try await group.rows("SELECT tags FROM page") == [[#"["w","z"]"#]])
  }

  @Test("a model's set is stored and merged element by element")
  func setOfAModel() async throws {
    let group = try await MergeGroup()
    var page = Page()
    page.id = "a"
    page.tags = ["ü", "b", "10", "1"]
    let stored = page
    try await group[0].write { try $0.insert(stored) }
    try await group.exchange()
    for (replica, tag) in [(0, "left"), (1, "right")] {
      try await group[replica].write { transaction in
        var page = stored
        page.tags.insert(tag)
        page.tags.remove("b")
        try transaction.update(page)
      }
    }
    try await group.exchange()
    let merged = try await group[1].fetch(Page.self, key: "a")
    #expect(merged?.tags == ["ü", "10", "1", "left", "right"])
  }

  @Test("text that is no set in its one form is refused")
  func notASet() async throws {
    let group = try await MergeGroup(1)
    try await group.write(0, "INSERT INTO page (id) VALUES ('a')")
    for text in ["x", "{}", #"["b","a"]"#, #"["a","a"]"#, #"["a", "b"]"#] {
      #expect(await code { try await group.write(0, "UPDATE page SET tags = \(text)") } == .constraint)
    }
    #expect(try await group.rows("SELECT tags FROM page") == [["[]"]])
  }

  @Test("of concurrent values the greatest, the least and the function's choice stay; a later write is a write")
  func choices() async throws {
    let group = try await MergeGroup(3)
    try await group.write(0, "INSERT INTO page (id, best, first, note) VALUES ('a', 5, 5, 'five')")
    try await group.exchange()
    try await group.write(0, "UPDATE page SET best = 9, first = 9, note = 'a long note'")
    try await group.write(1, "UPDATE page SET best = 7, first = 2, note = 'short'")
    try await group.write(2, "UPDATE page SET best = 8, first = NULL, note = ''")
    try await group.exchange()
    #expect(try await group.rows("SELECT best, first, note FROM page") == [[9, 2, "a long note"]])
    try await group.write(2, "UPDATE page SET best = 1, first = 30, note = 'x'")
    try await group.exchange()
    #expect(try await group.rows("SELECT best, first, note FROM page") == [[1, 30, "x"]])
    #expect(try await group.conflicts(0).isEmpty)
  }

  @Test("a maximum commutes with a delete")
  func maximumAgainstDelete() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, title, best) VALUES ('a', 'kept', 5)")
    try await group.exchange()
    try await group.write(0, "DELETE FROM page")
    try await group.write(1, "UPDATE page SET best = 3")
    try await group.exchange()
    #expect(try await group.rows("SELECT title, best FROM page") == [["kept", 3]])
  }

  @Test("a program without the function refuses the file, which needs the application, and changes nothing")
  func functionElsewhere() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, note) VALUES ('a', '')")
    try await group.exchange()
    try await group.write(0, "UPDATE page SET note = 'left'")
    try await group.write(1, "UPDATE page SET note = 'right!'")
    await group[1].close()
    let plain = try await Replica.open(at: group[1].path, configuration: .init(mustExist: true))
    let file = group.folder.file("left.godwit-sync")
    _ = try await group[0].export(to: .file(file), includesAll: true)
    #expect(await code { try await plain.import(from: .file(file)) } == .needsApplication)
    #expect(try await plain.rows("SELECT note FROM page").map(\.values) == [["right!"]])
    await plain.close()
  }

  @Test("a merge function that depends on the order is found by its own check")
  func lawsOfAFunction() throws {
    let sound = ColumnMerge<Int>.custom("greatest") { max($0, $1) }
    #expect(try sound.violations(among: [-1, 0, 3, 3]).isEmpty)
    let unsound = ColumnMerge<Int>.custom("difference") { $0 - $1 }
    #expect(try !unsound.violations(among: [1, 2]).isEmpty)
  }

  @Test("where deletes win an unseen edit is lost to the conflict log, and only an insert that saw the delete revives")
  func deleteWins() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO session (id, user, hits) VALUES ('a', 'ada', 1)")
    try await group.exchange()
    try await group.write(0, "DELETE FROM session")
    try await group.write(1, "UPDATE session SET user = 'bob'")
    try await group.exchange()
    #expect(try await group.rows("SELECT * FROM session").isEmpty)
    for replica in 0...1 {
      let conflict = try #require(try await group.conflicts(replica).last)
      #expect(conflict.kind == .edit && conflict.column == "user" && conflict.losingValue == "bob")
    }
    try await group.write(1, "INSERT INTO session (id, user, hits) VALUES ('a', 'eve', 7)")
    try await group.exchange()
    #expect(try await group.rows("SELECT user, hits FROM session") == [["eve", 7]])
  }
}
