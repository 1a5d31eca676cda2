import Foundation
import Godwit
import GodwitBase
import GodwitReplication
import Testing

@testable import Godwit

@Suite("Documents and migrations")
struct DocumentMigrationTests {
  @MigrationsBuilder private static func steps() -> [Migration] {
    Migration(1, "notes") {
      CreateTable("memo", [NewColumn("id", Int.self), NewColumn("a", String.self, default: "")])
    }
    Migration(2, "more") { AddColumn("b", Int.self, default: 3, to: "memo") }
  }

  @Test("collections go between replicas of different schema versions, and stay through a migration")
  func versions() async throws {
    let group = try await MigrationGroup([1, 2], Self.steps)
    try await group[0].documents("c").set("a", ["x": 1])
    try await group[1].documents("c").set("b", ["y": 2])
    #expect(try await group.send(0, to: 1).quarantined == 0)
    #expect(try await group.send(1, to: 0).quarantined == 0)
    for number in 0..<2 { #expect(try await group[number].documents("c").keys() == ["a", "b"]) }
    try await group.update(0, to: 2)
    try await group[0].documents("c").merge("b", ["z": 3])
    try await group.send(0, to: 1)
    #expect(try await group[1].documents("c").json("b") == #"{"y":2,"z":3}"#)
    try await group.expectSame()
  }

  @Test("what comes by way of a program that does not know documents is not held up by that")
  func olderProgram() async throws {
    let group = try await TestGroup(2)
    try await group[0].documents("c").set("a", ["x": 1])
    try await group.settle()
    try await group[0].documents("c").merge("a", ["later": "here"])
    try await group[0].documents("d", members: [.counter("n")]).set("k", ["n": 1])
    // Such a program passes the transactions on, and lists none of what it has no place for among its tables.
    try await group[0].withWriter { writer in
      try writer.inTransaction {
        let old = try #require(try CollectionTable.definition("documents_c", members: ["x"]))
        var bytes = ByteWriter()
        old.write(to: &bytes)
        try writer.connection.run(
          "UPDATE godwit_table SET definition = ? WHERE name = 'documents_c'", [.blob(bytes.bytes)])
        try writer.connection.run("DELETE FROM godwit_table WHERE name = 'documents_d'")
      }
    }
    #expect(try await group.send(from: 0, to: 1).quarantined == 0)
    #expect(try await group[1].documents("c").json("a") == #"{"later":"here","x":1}"#)
    #expect(try await group[1].documents("d").json("k") == #"{"n":1}"#)
    #expect(try await group[1].status().quarantined == 0)
    #expect(try await group[1].verify().isSound)
  }

  @Test("a model or a migration may not take a collection's name")
  func reserved() async throws {
    struct Taken: Model {
      static let schema = Schema<Self>("documents_taken") { Column("title", \.title) }
      var id = RecordID<Taken>()
      var title = ""
    }
    let folder = try TemporaryFolder()
    #expect(await code { try await Replica.open(at: folder.file("r"), models: Taken.self) } == .invalidSchema)
    let made = Migrations { Migration(1, "taken") { CreateTable("documents_taken", [NewColumn("id", Int.self)]) } }
    #expect(await code { try await Replica.open(at: folder.file("s"), migrations: made) } == .invalidSchema)
    let renamed = Migrations {
      Migration(1, "memo") { CreateTable("memo", [NewColumn("id", Int.self)]) }
      Migration(2, "taken") { RenameTable("memo", to: "documents_taken") }
    }
    #expect(await code { try await Replica.open(at: folder.file("t"), migrations: renamed) } == .invalidSchema)
  }

  @Test("a table that the program itself made under a collection's name is left alone")
  func foreignTable() async throws {
    let replica = try await Replica.temporary()
    try await replica.write { _ = try $0.execute("CREATE TABLE documents_c (x)") }
    #expect(await code { try await replica.documents("c").set("a", ["x": 1]) } == .schemaMismatch)
    #expect(try await replica.rows("SELECT * FROM documents_c").isEmpty)
  }
}
