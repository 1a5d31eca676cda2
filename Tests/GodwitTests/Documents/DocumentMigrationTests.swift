import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Documents and migrations")
struct DocumentMigrationTests {
  @Migrations.Builder private static func steps() -> [Migration] {
    Migration(1, "notes") {
      $0.create("memo") {
        $0.column("id", Int.self)
        $0.column("a", String.self, default: "")
      }
    }
    Migration(2, "more") { $0.alter("memo") { $0.add("b", Int.self, default: 3) } }
  }

  @Test("collections go between replicas of different schema versions, and stay through a migration")
  func versions() async throws {
    let group = try await MigrationGroup([1, 2], Self.steps)
    try await group[0].documents("c").set("a", ["x": 1])
    try await group[1].documents("c").set("b", ["y": 2])
    #expect(try await group.send(0, to: 1).heldCount == 0)
    #expect(try await group.send(1, to: 0).heldCount == 0)
    for number in 0..<2 { #expect(try await group[number].documents("c").keys() == ["a", "b"]) }
    try await group.update(0, to: 2)
    try await group[0].documents("c").merge("b", ["z": 3])
    try await group.send(0, to: 1)
    #expect(try await group[1].documents("c").json("b") == #"{"y":2,"z":3}"#)
    try await group.expectSame()
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
    let made = Migrations { Migration(1, "taken") { $0.create("documents_taken") { $0.column("id", Int.self) } } }
    #expect(
      await code { try await Replica.open(at: folder.file("s"), configuration: .init(migrations: made)) }
        == .invalidSchema)
    let renamed = Migrations {
      Migration(1, "memo") { $0.create("memo") { $0.column("id", Int.self) } }
      Migration(2, "taken") { $0.rename("memo", to: "documents_taken") }
    }
    #expect(
      await code { try await Replica.open(at: folder.file("t"), configuration: .init(migrations: renamed)) }
        == .invalidSchema)
  }

  @Test("a table that the program itself made under a collection's name is left alone")
  func foreignTable() async throws {
    let replica = try await Replica.temporary()
    try await replica.write { _ = try $0.execute("CREATE TABLE documents_c (x)") }
    #expect(await code { try await replica.documents("c").set("a", ["x": 1]) } == .schemaMismatch)
    #expect(try await replica.rows("SELECT * FROM documents_c").isEmpty)
  }
}
