import Godwit
import Testing

private struct Ring: Model {
  static let schema = Schema<Self>("ring") {
    Column("parent", \.parent).references(Ring.self, onDelete: .cascade)
  }
  var id = 0
  var parent: Int?
}

@Suite("A delete that takes rows along")
struct CascadeDepthTests {
  private func chain(_ count: Int) async throws -> Replica {
    let replica = try await Replica.temporary(models: Ring.self)
    try await replica.write { tx in
      for number in 0..<count { try tx.insert(Ring(id: number, parent: number == 0 ? nil : number - 1)) }
    }
    return replica
  }

  @Test("goes as deep as SQLite's triggers do")
  func deep() async throws {
    let replica = try await chain(1_000)
    try await replica.write { _ = try $0.delete(Ring.self, key: 0) }
    #expect(try await replica.count(Ring.all) == 0)
    await replica.close()
  }

  @Test("deletes nothing where it would go deeper, and says how to delete")
  func tooDeep() async throws {
    let replica = try await chain(1_002)
    let failure = await #expect(throws: GodwitError.self) {
      try await replica.write { _ = try $0.delete(Ring.self, key: 0) }
    }
    #expect(failure?.code == .limitExceeded && failure?.hint?.contains("first") == true)
    #expect(try await replica.count(Ring.all) == 1_002)
    await replica.close()
  }
}
