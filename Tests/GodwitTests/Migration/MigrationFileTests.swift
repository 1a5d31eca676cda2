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
      $0.create("note") {
        $0.column("id", UUID.self)
        $0.column("title", String.self, default: "a \"b\" \u{1F426}", check: "title <> ''")
        $0.column("price", Double.self, default: 0.1)
        $0.column("count", Int.self, default: .min)
        $0.column("data", Data?.self)
        $0.column("next", UUID?.self, references: "note", onDelete: .setNull)
        $0.index("title", unique: true)
        $0.index("price", "count")
      }
      $0.create("draft", sync: .local) { $0.column("id", Int.self) }
    }
    Migration(2, "second") {
      $0.rename("note", to: "memo")
      $0.alter("memo") {
        $0.add("stars", Int.self, default: 3)
        $0.add("cents", Int.self, from: "price", by: "CAST(price * 100 AS INTEGER)", default: 0)
      }
      $0.alter("memo") {
        $0.add("number", Double?.self, from: "count")
        $0.drop("data")
      }
      $0.alter("memo") {
        $0.rename("price", to: "cost")
        $0.change("count", String?.self)
      }
      $0.alter("memo") {
        $0.dropIndex("cost", "count")
        $0.addIndex("stars", unique: false)
      }
      $0.drop("draft")
      $0.run("fill", "UPDATE memo SET stars = \(4) WHERE title = \("x")", "DELETE FROM memo WHERE stars = 0")
      $0.run("in code") { _ in }
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
    let group = try await MigrationGroup([0]) { Migration(1, "unused") { $0.drop("unused") } }
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
