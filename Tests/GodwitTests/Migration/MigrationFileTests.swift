import Foundation
import Godwit
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("A migration file")
struct MigrationFileTests {
  static let everyStep = Migrations {
    Migration(1, "first") {
      CreateTable(
        "note",
        [
          NewColumn("id", UUID.self),
          NewColumn("title", String.self, default: "a \"b\" \u{1F426}", check: "title <> ''"),
          NewColumn("price", Double.self, default: 0.1), NewColumn("count", Int.self, default: .min),
          NewColumn("data", Data?.self), NewColumn("next", UUID?.self, references: "note", onDelete: .setNull),
        ], unique: [["title"]], indexes: [["price", "count"]])
      CreateTable("draft", [NewColumn("id", Int.self)], sync: .local)
    }
    Migration(2, "second") {
      RenameTable("note", to: "memo")
      AddColumn("stars", Int.self, default: 3, to: "memo")
      AddColumn("cents", Int.self, from: "price", by: "CAST(price * 100 AS INTEGER)", default: 0, to: "memo")
      AddColumn("number", Double?.self, from: "count", to: "memo")
      DropColumn("data", from: "memo")
      RenameColumn("price", to: "cost", in: "memo")
      ChangeColumn("count", String?.self, in: "memo")
      DropIndex("cost", "count", from: "memo")
      AddIndex("stars", to: "memo", isUnique: false)
      DropTable("draft")
      DataStep("fill", "UPDATE memo SET stars = \(4) WHERE title = \("x")", "DELETE FROM memo WHERE stars = 0")
      DataStep("in code") { _ in }
    }
  }

  @Test("says the same as the migrations it was made of")
  func roundTrip() throws {
    let folder = try TemporaryFolder()
    try Self.everyStep.write(to: folder.file("migrations"))
    let read = try Migrations(contentsOf: folder.file("migrations"))
    #expect(try read.schemaMigrations() == Self.everyStep.schemaMigrations())
    #expect(try read.json() == Self.everyStep.json())
  }

  @Test("keeps the checksums of this version")
  func checksums() throws {
    let checksums = try Self.everyStep.schemaMigrations().map { $0.checksum.hexadecimal.prefix(16) }
    #expect(checksums == ["c754fa4c74eef624", "7a863388cd911cec"])
  }

  @Test(
    "with anything else in it is refused",
    arguments: [
      ("\"name\" : \"first\"", "\"name\" : \"first\", \"more\" : 1"), ("\"synced\" : true", "\"synced\" : 1"),
      ("\"dropTable\"", "\"dropEverything\""), ("\"type\" : \"blob\"", "\"type\" : \"bytes\""),
      ("\"version\" : 2", "\"version\" : 3"), ("\"integer\" : \"3\"", "\"integer\" : \"three\""),
      ("\"integer\" : \"3\"", "\"integer\" : \"3\", \"text\" : \"3\""),
      ("\"table\" : \"memo\"", "\"tables\" : \"memo\""),
      ("\"step\" : \"dropColumn\"", "\"step\" : \"dropTable\""), ("title <> ''", "title <> '"), ("{", "["),
    ])
  func refused(old: String, new: String) throws {
    let text = try Self.everyStep.json()
    let range = try #require(text.range(of: old))
    let changed = text.replacingCharacters(in: range, with: new)
    #expect(throws: GodwitError.self) { try Migrations(json: Array(changed.utf8)) }
  }

  @Test("with a version that is no whole number says where", arguments: ["-1", "1.5", "1e30"])
  func misfit(text: String) throws {
    let json = #"{"format": "godwit migrations 1", "migrations": [{"version": \#(text), "name": "x", "steps": []}]}"#
    let failure = #expect(throws: GodwitError.self) { try Migrations(json: Array(json.utf8)) }
    #expect(failure?.code == .invalidMigration)
    #expect(failure?.message.contains("migrations[0].version is no whole number from 0 on") == true)
  }

  @Test("runs on a replica without its program, but for steps that are code")
  func running() async throws {
    let group = try await MigrationGroup([0]) { Migration(1, "unused") { DropTable("unused") } }
    let read = try Migrations(json: Array(Self.everyStep.json().utf8))
    let failure = await error { try await group[0].migrations.run(read) }
    #expect(failure?.code == .needsMigration)
    #expect(failure?.message.contains("\"in code\"") == true)
    #expect(try await group[0].migrations.status().version == 0)

    let first = Migrations(Array(read.all.prefix(1)))
    #expect(try await group[0].migrations.run(first).to == 1)
    try await group.write(0, "INSERT INTO note (id, title, count) VALUES (x'01', 'one', 5)")
    let second = Migrations(Array(Self.everyStep.all))
    let plan = try await group[0].migrations.run(second)
    #expect(plan.to == 2)
    let rows = try await group.rows(0, "SELECT id, title, cost, count, stars, cents, number FROM memo")
    #expect(rows == [[.blob([1]), "one", 0.1, "5", 3, 10, 5.0]])
  }

  @Test("canonical bytes that were cut, extended or changed are refused or say something else")
  func bytes() throws {
    for migration in try Self.everyStep.schemaMigrations() {
      let bytes = migration.bytes
      #expect(try SchemaMigration(bytes: bytes[...]) == migration)
      for length in bytes.indices {
        #expect(throws: GodwitError.self) { try SchemaMigration(bytes: bytes[..<length]) }
      }
      #expect(throws: GodwitError.self) { try SchemaMigration(bytes: (bytes + [0])[...]) }
      for place in bytes.indices {
        var changed = bytes
        changed[place] ^= 0x15
        if let other = try? SchemaMigration(bytes: changed[...]) { #expect(other.bytes == changed) }
      }
    }
  }
}
