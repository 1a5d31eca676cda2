import Foundation
import GodwitKeys
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Databases that SQLCipher 4.12 made with its defaults, and with those of version 3: Specs/golden/sqlcipher.
@Suite("A replica of a SQLCipher database from elsewhere", .timeLimit(.minutes(1)))
struct SQLCipherGoldenTests {
  private static let folder = URL(fileURLWithPath: GoldenReplica.folder).appendingPathComponent("sqlcipher").path

  private func source(_ name: String) throws -> String {
    let path = "\(Self.folder)/\(name)"
    try #require(FileManager.default.fileExists(atPath: path))
    return path
  }

  private func expectTaken(_ name: String, openedBy secret: SlotSecret) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    let report = try await Replica.make(at: path, from: .sqlcipher(at: source(name), openedBy: secret), reader: .tested)
    #expect(report.tables.map(\.name) == ["note"] && report.tables.map(\.rows) == [100])
    #expect(report.tables.allSatisfy { $0.obstacle == nil })
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    let rows = try await replica.rows("SELECT id, title, body FROM note ORDER BY id").map(\.values)
    #expect(
      rows
        == (0..<100).map { number in
          let body = String(repeating: "\(number)", count: 50)
          return [.integer(Int64(number)), .text("Grüße \(number)"), .blob(Array(body.utf8))]
        })
    #expect(try await replica.rows("PRAGMA index_list(note)").count == 1)
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
    let left = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("database") }
    #expect(Set(left) == ["database", "database-gate"])
  }

  @Test(
    "opens with its passphrase and becomes a replica with every row",
    arguments: ["version-4", "version-3", "version-3-large-pages"])
  func passphrase(name: String) async throws {
    try await expectTaken(name, openedBy: .passphrase("correct horse"))
  }

  @Test("opens with its key")
  func key() async throws {
    try await expectTaken("version-4-key", openedBy: .passphrase("x'\(String(repeating: "5a", count: 32))'"))
  }

  @Test(
    "does not open with another secret, and nothing is made of it",
    arguments: ["version-4", "version-4-key", "version-3", "version-3-large-pages"])
  func wrong(name: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    let source = DatabaseSource.sqlcipher(at: try source(name), openedBy: .passphrase("wrong horse"))
    #expect(await code { try await Replica.make(at: path, from: source, reader: .tested) } == .wrongKey)
    #expect(
      await code { try await Replica.make(at: path, from: .plaintext(at: source.path), reader: .tested) }
        == .notADatabase)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/database"))
  }
}
