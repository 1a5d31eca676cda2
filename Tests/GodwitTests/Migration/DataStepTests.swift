import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

@Suite("A data step of a migration")
struct DataStepTests {
  private static let secret = "UPDATE note SET title = 'written by a data step'"

  private static func migrations(_ sql: SQL = SQL(text: secret)) -> [Migration] {
    [
      Migration(1, "notes") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("title", String.self, default: "")
        }
      },
      Migration(2, "fill") {
        $0.alter("note") { $0.add("stars", Int.self, default: 3) }
        $0.run("write the titles", sql)
      },
    ]
  }

  private func group(_ versions: [Int]) async throws -> MigrationGroup {
    try await MigrationGroup(versions) {
      Self.migrations()[0]
      Self.migrations()[1]
    }
  }

  @Test("travels by its name and checksum, and its SQL is in no file and no database")
  func secrecy() async throws {
    let group = try await group([2, 0])
    let file = group.folder.file("data")
    _ = try await group[0].export(to: .file(file))
    let keys = try Forgery.keys(of: group[0])
    let container = try Forgery.container(Forgery.bytes(file), keys.identity)
    let header = try Forgery.header(container).header
    let migrations = try MigrationHistory.decode(header.migrations)
    #expect(migrations.last?.lines.last?.contains("SQL with SHA-256 ") == true)
    for bytes in header.migrations {
      #expect(!String(decoding: bytes, as: UTF8.self).contains("UPDATE"))
    }
    #expect(
      try await group[0].rows("SELECT 1 FROM godwit_migration WHERE instr(steps, CAST('UPDATE' AS BLOB))").isEmpty)
    _ = try await group[1].import(from: .file(file))
    #expect(
      try await group[1].migrations.status().migrations.map(\.broughtBy) == [
        keys.identity.replica, keys.identity.replica,
      ])
    #expect(try await group[0].migrations.status().migrations.map(\.broughtBy) == [nil, nil])
  }

  @Test("is run from a program or its file, and never by what others have sent")
  func running() async throws {
    let group = try await group([1, 1])
    try await group.write(0, "INSERT INTO note VALUES (1, 'one')")
    try await group.update(0, to: 2)
    try await group.send(0, to: 1)
    let before = try await group[1].maintenance.digest()
    for dryRun in [true, false] {
      let failure = await error {
        let known = try await group[1].migrations.known()
        _ = try await dryRun ? group[1].migrations.plan(known) : group[1].migrations.run(known)
      }
      #expect(failure?.code == .needsMigration)
      #expect(failure?.message.contains("the data step \"write the titles\" is SQL of the program") == true)
      #expect(failure?.hint?.contains("godwit migrate FILE") == true)
    }
    #expect(try await group[1].maintenance.digest() == before)

    let other = await error { _ = try await group[1].migrations.run(Migrations(Self.migrations("DELETE FROM note"))) }
    #expect(other?.code == .migrationMismatch)
    #expect(other?.message.contains("- ") == true && other?.message.contains("SHA-256") == true)

    let file = try Migrations(json: Array(Migrations(Self.migrations()).json().utf8))
    let plan = try await group[1].migrations.run(file)
    #expect(plan.to == 2 && plan.versions.first?.written == 0 || plan.versions.first?.written == 1)
    #expect(plan.versions.first?.broughtBy != nil)
    #expect(try await group.rows(1, "SELECT title FROM note") == [["written by a data step"]])
    try await group.exchange()
    try await group.expectSame()
  }

  @Test("of a file in the form that brought SQL along is refused by its form, and nothing is run")
  func oldForm() async throws {
    let group = try await TestGroup(2)
    try await group[0].write { try $0.insert(Note(title: "kept")) }
    let file = group.folder.file("changes")
    _ = try await group[0].export(to: .file(file))
    let sender = try Forgery.keys(of: group[0]).identity
    let container = try Forgery.container(Forgery.bytes(file), sender)
    var old = ByteWriter()
    old.byte(1)
    old.varint(1)
    old.string("evil")
    old.varint(1)
    old.byte(10)
    old.string("step")
    old.byte(0)
    old.varint(1)
    old.string("DROP TABLE note")
    old.varint(0)
    try Forgery.write(container, signedBy: sender, to: group.folder.file("forged"), replacing: []) {
      $0.changing(migrations: [old.bytes])
    }
    let before = try await group[1].maintenance.digest()
    let failure = await error { try await group[1].import(from: .file(group.folder.file("forged"))) }
    #expect(failure?.code == .unsupportedVersion && failure?.message.contains("form 1") == true)
    #expect(try await group[1].maintenance.digest() == before)
  }

  @Test("has a form in migration files for its SQL, its code and its checksum, and no other")
  func files() throws {
    let step = #"{"step": "data", "name": "fill", MEMBERS}"#
    func json(_ members: String) -> [UInt8] {
      Array(
        #"{"format": "godwit migrations 1", "migrations": [{"version": 1, "name": "m", "steps": [STEP]}]}"#
          .replacing("STEP", with: step.replacing("MEMBERS", with: members)).utf8)
    }
    let digest = String(repeating: "a1", count: 32)
    for members in [#""code": true"#, #""statements": [{"sql": "DELETE FROM note"}]"#, "\"sha256\": \"\(digest)\""] {
      let read = try Migrations(json: json(members))
      #expect(try Migrations(json: Array(read.json().utf8)).schemaMigrations() == read.schemaMigrations())
    }
    for members in [
      #""code": false"#, #""statements": []"#, "\"sha256\": \"a1\"", "\"sha256\": \"\(digest)\", \"code\": true",
      #""statements": [{"sql": "DELETE FROM note"}], "code": true"#,
      "\"statements\": [{\"sql\": \"DELETE FROM note\"}], \"sha256\": \"\(digest)\"",
    ] {
      let failure = #expect(throws: GodwitError.self) { try Migrations(json: json(members)) }
      #expect(failure?.code == .invalidMigration, "\(members)")
    }
  }

  @Test("has at most 1,024 statements of 65,536 bytes, and at least one")
  func limits() throws {
    func work(_ statements: [SQL]) -> DataStepWork { .sql(statements) }
    #expect(throws: GodwitError.self) { try work([]).step(named: "none") }
    #expect(try work(Array(repeating: "DELETE FROM note", count: 1_024)).step(named: "all").digest.count == 32)
    for statements: [SQL] in [
      Array(repeating: "DELETE FROM note", count: 1_025), [SQL(text: String(repeating: " ", count: 65_537))],
    ] {
      let failure = #expect(throws: GodwitError.self) { try work(statements).step(named: "much") }
      #expect(failure?.code == .limitExceeded)
    }
  }
}
