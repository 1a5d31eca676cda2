import Foundation
import Godwit
import GodwitBase
import GodwitReplication
import Testing

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

  /// Imports the file with one more table of this name; the error, if any.
  private func importing(table name: String) async throws -> GodwitError? {
    let forged = try Forgery.replaceHeader(of: container, signedBy: sender) { header in
      let columns = ["id", name].map { ColumnDefinition(name: $0, type: .any, isNullable: $0 != "id") }
      let table = try TableDefinition(name: name, keyCount: 1, columns: columns)
      return header.changing(tables: header.tables + [table])
    }
    let path = group.folder.file("forged")
    let recipients = try Forgery.header(container).header.recipients
    try Data(Forgery.seal(forged, to: recipients)).write(to: URL(fileURLWithPath: path))
    return await error { try await group[1].import(from: .file(path)) }
  }

  private func files() throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: group.folder.path)).subtracting(["forged"])
  }

  @Test(
    "build no path and end no statement",
    arguments: [
      "../../../../evil", "/tmp/godwit-evil", "..", "x\"; DROP TABLE \"note", "note\" --", "x'; DROP TABLE note; --",
      "\"\"", "[note]", "`note`", "a\u{301}\"b",
    ])
  func names(name: String) async throws {
    let before = try files()
    let error = try await importing(table: name)
    #expect(error == nil, "\(String(describing: error))")
    #expect(try files() == before)
    #expect(!FileManager.default.fileExists(atPath: "/tmp/godwit-evil"))
    #expect(try await group[1].fetch(Note.all).map(\.title) == ["kept"])
    #expect(try await group[1].rows(SQL("SELECT count(*) FROM \(name: name)")).count == 1)
    #expect(try await group[1].verify().isSound)
  }

  @Test("that no table can have are refused, and nothing is changed")
  func impossible() async throws {
    // A definition with such a name cannot be made, so its bytes are changed.
    let before = try await group[1].digest()
    for (name, evil) in [("namex", [0x6E, 0x61, 0x00, 0x65, 0x78]), ("named", [0x1B, 0x5B, 0x32, 0x4A, 0x64])] {
      let path = group.folder.file("forged")
      let (header, end) = try Forgery.header(container)
      var body = ByteWriter()
      let columns = ["id", "v"].map { ColumnDefinition(name: $0, type: .any, isNullable: $0 != "id") }
      let table = try TableDefinition(name: name, keyCount: 1, columns: columns)
      header.changing(tables: header.tables + [table]).write(to: &body)
      var bytes = body.bytes
      let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array(name.utf8)) })
      bytes.replaceSubrange(place..<place + 5, with: evil.map(UInt8.init))
      let forged = try Forgery.replaceHeader(of: container, endingAt: end, signedBy: sender, by: bytes)
      try Data(Forgery.seal(forged, to: header.recipients)).write(to: URL(fileURLWithPath: path))
      let error = await error { try await group[1].import(from: .file(path)) }
      #expect(error?.code == .invalidSchema && error?.hint != nil, "\(String(describing: error))")
      #expect(try await group[1].digest() == before)
    }
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
