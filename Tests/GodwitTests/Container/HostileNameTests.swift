import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// What a member may call things in a file it signs.
@Suite("Hostile names in a sync file")
struct HostileNameTests {
  private let group: TestGroup
  private let container: [UInt8]
  private let sender: Identity

  init() async throws {
    group = try await TestGroup(2)
    try await group[0].write { try $0.insert(Note(title: "kept")) }
    let file = group.folder.file("changes")
    _ = try await group[0].export(to: .file(file))
    sender = try Forgery.keys(of: group[0]).identity
    container = try Forgery.container(Forgery.bytes(file), sender)
  }

  /// The file with one more table, of this name and with this column beside its key.
  private func forge(table: String, column: String) async throws -> String {
    let stand = (Forgery.stand(for: table, "q"), Forgery.stand(for: column, "w"))
    let definition = try TableDefinition(
      name: stand.0, keyCount: 1,
      columns: ["id", stand.1].map { name in
        ColumnDefinition(
          name: name, type: .any, isNullable: name != "id",
          reference: name == "id" ? nil : Reference(table: stand.0, onDelete: .cascade))
      })
    let path = group.folder.file("forged")
    try Forgery.write(
      container, signedBy: sender, to: path, replacing: [(stand.0, table), (stand.1, column)]
    ) { $0.changing(tables: $0.tables + [definition]) }
    return path
  }

  private func files() throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: group.folder.path)).subtracting(["forged"])
  }

  static let hostile = [
    "\"xyzzy", "../../../../evil", "/tmp/godwit-evil", "x\"; DROP TABLE \"note", "note\" --", "x'; DROP TABLE note; --",
    "\"\"\"\"", "[note]", "`note`", "a\u{301}\"b", "back\\slash", "a\u{0}bcd", "\u{1B}[2Jx", "\u{9B}2Jxyz",
    "abc\u{202E}cba", "abc\u{200B}d", "abc\u{3164}", "a$bcd", "\u{1F426}abc",
  ]

  @Test("are refused as the names of tables and of columns, and nothing is changed", arguments: hostile)
  func names(name: String) async throws {
    let before = (try files(), try await group[1].maintenance.digest())
    for (table, column) in [(name, "fine1"), ("fine22", name)] {
      let path = try await forge(table: table, column: column)
      let error = await error { try await group[1].import(from: .file(path)) }
      #expect(error?.code == .invalidSchema && error?.hint == SchemaName.hint, "\(String(describing: error))")
      #expect(name == "a$bcd" || error?.message.contains(name) == false)
    }
    #expect(try (files(), await group[1].maintenance.digest()) == before)
    #expect(!FileManager.default.fileExists(atPath: "/tmp/godwit-evil"))
  }

  @Test("of any script, with spaces and dashes, are taken in", arguments: ["größe der-sache", "名前 1", "ที่อยู่", "order"])
  func honest(name: String) async throws {
    let path = try await forge(table: name, column: "a-b c_1")
    #expect(await error { try await group[1].import(from: .file(path)) } == nil)
    #expect(try await group[1].rows(SQL("SELECT count(*) FROM \(name: name)")).count == 1)
    #expect(try await group[1].maintenance.verify().isSound)
  }

  @Test("of more than 128 bytes, and more tables than 1,024, are refused")
  func many() async throws {
    let forged = try Forgery.replaceHeader(of: container, signedBy: sender) { header in
      header.changing(
        tables: try (0..<1_025).map { number in
          try TableDefinition(
            name: "t\(number)", keyCount: 1, columns: [ColumnDefinition(name: "id", type: .any, isNullable: false)])
        })
    }
    let path = group.folder.file("forged")
    let recipients = try Forgery.header(container).header.recipients
    try Data(Forgery.seal(forged, to: recipients)).write(to: URL(fileURLWithPath: path))
    #expect(await code { try await group[1].import(from: .file(path)) } == .limitExceeded)
  }
}
