import Foundation
import GodwitStorage
import TestFolders
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Leaving without encryption", .timeLimit(.minutes(1)))
struct PlaintextExportTests {
  @Test("writes the user's tables, and nothing of Godwit's own")
  func tables() async throws {
    let group = try await TestGroup(1)
    let file = try TestFolder.plaintext("leaving.db", in: group.folder.path)
    let folder = Folder(name: "work")
    try await group[0].write { tx in
      try tx.insert(folder)
      try tx.insert(Note(title: "one", body: "ü", views: 3, folder: folder.id))
      try tx.insert(Draft(title: "mine"))
      try tx.execute("CREATE TABLE own (a, b)")
      try tx.execute("INSERT INTO own VALUES (1, x'00FF')")
      try tx.execute("CREATE VIEW titles AS SELECT title FROM note")
      try tx.execute("CREATE TRIGGER noted AFTER INSERT ON own BEGIN UPDATE own SET b = 'seen' WHERE a = new.a; END")
    }
    let report = try await group[0].maintenance.exportPlaintext(to: file)

    #expect(report.tables == 4 && report.rows == 4)
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    let plain = try Connection(plaintext: file, mode: .reader)
    let names = try plain.withStatement("SELECT name FROM sqlite_master ORDER BY name") { statement in
      var names: [String] = []
      while try statement.step() { names.append(try statement.text(at: 0)) }
      return names
    }
    #expect(!names.contains { $0.lowercased().hasPrefix("godwit_") })
    #expect(Set(names).isSuperset(of: ["note", "folder", "draft", "own", "titles", "noted"]))
    #expect(try plain.scalar("SELECT body || views FROM note") == .text("ü3"))
    #expect(try plain.scalar("SELECT b FROM own") == .blob([0, 0xFF]))
    #expect(try plain.scalar("SELECT title FROM titles") == .text("one"))
    #expect(try plain.scalar("PRAGMA foreign_key_check") == nil)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: (file as NSString).deletingLastPathComponent) == [
        "leaving.db"
      ])
    await group[0].close()
  }

  @Test("leaves virtual tables out with what is of them, and tables that are called alike in")
  func virtual() async throws {
    let group = try await TestGroup(1)
    let file = try TestFolder.plaintext("leaving.db", in: group.folder.path)
    try await group[0].write { tx in
      try tx.execute("CREATE TABLE own (a, b)")
      try tx.execute("CREATE VIRTUAL TABLE own_search USING fts4(text)")
      try tx.execute("CREATE TABLE own_search_data (id INTEGER PRIMARY KEY, note TEXT)")
      try tx.execute("INSERT INTO own_search_data (note) VALUES ('kept')")
      try tx.execute("CREATE INDEX noted ON own_search_data (note)")
      try tx.execute(
        "CREATE TRIGGER searched AFTER INSERT ON own BEGIN INSERT INTO own_search VALUES (new.a); END")
    }
    let report = try await group[0].maintenance.exportPlaintext(to: file)
    #expect(Set(report.leftOut).isSuperset(of: ["own_search", "own_search_content", "searched"]))
    #expect(!report.leftOut.contains("own_search_data") && !report.leftOut.contains("noted"))
    let copied = "\(file)-copy"
    try FileManager.default.copyItem(atPath: file, toPath: copied)
    let plain = try Connection(plaintext: copied, mode: .copy)
    #expect(try plain.scalar("SELECT note FROM own_search_data INDEXED BY noted WHERE note = 'kept'") == .text("kept"))
    try plain.execute("INSERT INTO own VALUES (1, 2)")
  }

  @Test("writes columns that merge as others can write them, too")
  func merging() async throws {
    let group = try await MergeGroup(1, models: [Page.self])
    let file = try TestFolder.plaintext("leaving.db", in: group.folder.path)
    try await group.write(0, "INSERT INTO page (id, views, tags) VALUES ('p', 2, '[\"a\"]')")
    try await group[0].documents("things", members: [.set("words")]).set("key", ["words": ["x"]])
    _ = try await group[0].maintenance.exportPlaintext(to: file)
    let copied = "\(file)-copy"
    try FileManager.default.copyItem(atPath: file, toPath: copied)
    let plain = try Connection(plaintext: copied, mode: .copy)
    #expect(try plain.scalar("SELECT views || tags FROM page") == .text(#"2["a"]"#))
    try plain.execute("INSERT INTO page (id, tags) VALUES ('q', 'anything')")
  }

  @Test(
    "refuses a folder where others could exchange the file; one with the sticky bit is none",
    arguments: [(0o777, true), (0o775, true), (0o702, true), (0o1777, false), (0o755, false)])
  func shared(mode: Int, isRefused: Bool) async throws {
    let group = try await TestGroup(1)
    let file = try TestFolder.plaintext("shared/leaving.db", in: group.folder.path)
    let folder = (file as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try #require(chmod(folder, mode_t(mode)) == 0)
    let code = await code { try await group[0].maintenance.exportPlaintext(to: file) }
    #expect(code == (isRefused ? .unsafeFile : nil))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == (isRefused ? [] : ["leaving.db"]))
  }

  @Test("refuses a file that exists, and the replica's own folder")
  func refused() async throws {
    let group = try await TestGroup(1)
    let file = try TestFolder.plaintext("leaving.db", in: group.folder.path)
    try Data("kept".utf8).write(to: URL(fileURLWithPath: file))
    #expect(await code { try await group[0].maintenance.exportPlaintext(to: file) } == .invalidArgument)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("kept".utf8))
    #expect(
      await code { try await group[0].maintenance.exportPlaintext(to: "\(group[0].path)/plain.db") } == .invalidArgument
    )
    await group[0].close()
  }

  @Test("and coming back keeps every table and row")
  func roundTrip() async throws {
    let folder = try TemporaryFolder()
    let there = try TestFolder.plaintext("there.db", in: folder.path)
    let back = try TestFolder.plaintext("back.db", in: folder.path)
    let shop = try SourceDatabase(TestFolder.plaintext("shop.db", in: folder.path), SourceDatabase.shop)
    let first = try await Replica.make(at: folder.file("first"), from: .plaintext(at: shop.path), reader: .tested)
    let replica = try await Replica.open(at: folder.file("first"), configuration: .init(mustExist: true))
    let written = try await replica.maintenance.exportPlaintext(to: there)
    await replica.close()
    #expect(written.rows == first.tables.reduce(0) { $0 + $1.rows })
    let second = try await Replica.make(at: folder.file("second"), from: .plaintext(at: there), reader: .tested)
    #expect(second.tables.map(\.rows) == first.tables.map(\.rows))
    #expect(second.tables.map(\.obstacle) == first.tables.map(\.obstacle))
    let again = try await Replica.open(at: folder.file("second"), configuration: .init(mustExist: true))
    _ = try await again.maintenance.exportPlaintext(to: back)
    await again.close()
    let plain = try [there, back].map { try Connection(plaintext: $0, mode: .reader) }
    for table in ["customer", "purchase", "line", "ticket", "log", "price", "sqlite_sequence"] {
      let counts = try plain.map { try $0.scalar("SELECT count(*) FROM \(table)") }
      #expect(counts[0] == counts[1], "\(table)")
    }
  }

  @Test("and coming back keeps a collection of as many members as there may be")
  func widest() async throws {
    let group = try await TestGroup(1)
    let members = (0..<1_000).map { ("m\($0)", JSON.integer(Int64($0))) }
    try await group[0].documents("wide").set("here", Dictionary(uniqueKeysWithValues: members))
    let there = try TestFolder.plaintext("there.db", in: group.folder.path)
    #expect(try await group[0].maintenance.exportPlaintext(to: there).rows == 1)
    await group[0].close()
    let path = group.folder.file("back")
    let report = try await Replica.make(at: path, from: .plaintext(at: there), reader: .tested)
    #expect(report.tables.map(\.rows).reduce(0, +) == 1)
    let plain = try Connection(plaintext: there, mode: .reader)
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    let back = try await replica.rows("SELECT m0, m998, m999 FROM documents_wide").map(\.values)
    let written = try plain.rows("SELECT m0, m998, m999 FROM documents_wide")
    #expect(back == written && written.first?.contains(.null) == false)
    await replica.close()
  }
}
