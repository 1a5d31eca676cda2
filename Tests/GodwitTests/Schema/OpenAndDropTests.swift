import Foundation
import Godwit
import Testing

@Suite("Opening with a list of models")
struct ModelListTests {
  @Test("makes their tables, as naming them one by one does")
  func list() async throws {
    let folder = try TemporaryFolder()
    let models: [any Model.Type] = [Folder.self, Note.self]
    let replica = try await Replica.open(at: folder.file("replica"), models: models)
    try await replica.write { try $0.insert(Note(title: "listed")) }
    await replica.close()
    let again = try await Replica.open(
      at: folder.file("replica"), models: models, configuration: .init(migrations: .addMissing(), mustExist: true))
    #expect(try await again.fetch(Note.all).map(\.title) == ["listed"])
    await again.close()
    let named = try await Replica.open(at: folder.file("replica"), models: Folder.self, Note.self)
    #expect(try await named.count(Note.all) == 1)
  }
}

@Suite("Dropping a model's table")
struct DropTests {
  private let group: TestGroup
  init() async throws { group = try await TestGroup(1) }

  @Test("takes a local table away with its rows, and opening makes it anew")
  func local() async throws {
    let replica = group[0]
    try await replica.write { try $0.insert((0..<100).map { Draft(title: "draft \($0)") }) }
    try await replica.write { try $0.drop(Draft.self) }
    #expect(await code { try await replica.count(Draft.all) } == .notInSchema)
    #expect(await code { try await replica.write { try $0.insert(Draft()) } } == .notInSchema)
    #expect(await code { try await replica.write { try $0.drop(Draft.self) } } == .notInSchema)
    try await replica.write { try $0.insert(Note(title: "still works")) }
    await replica.close()
    let again = try await TestGroup.open(replica.path, group.clock)
    #expect(try await again.count(Draft.all) == 0)
    #expect(try await again.maintenance.verify().problems == [])
  }

  @Test("is taken back with its transaction or savepoint")
  func rolledBack() async throws {
    struct Stop: Error {}
    let replica = group[0]
    try await replica.write { try $0.insert(Draft(title: "kept")) }
    await #expect(throws: Stop.self) {
      try await replica.write { transaction in
        try transaction.drop(Draft.self)
        throw Stop()
      }
    }
    try await replica.write { transaction in
      try? transaction.savepoint {
        try transaction.drop(Draft.self)
        throw Stop()
      }
      try transaction.insert(Draft(title: "after"))
    }
    #expect(try await replica.fetch(Draft.order(by: \.title)).map(\.title) == ["after", "kept"])
  }

  @Test("is refused for a synced one, with a hint")
  func synced() async throws {
    let failure = await error { try await group[0].write { try $0.drop(Note.self) } }
    #expect(failure?.code == .notAuthorized)
    #expect(failure?.message == "table note is synced and cannot be dropped")
    #expect(failure?.hint?.contains("migration") == true)
    try await group[0].write { try $0.insert(Note()) }
  }
}
