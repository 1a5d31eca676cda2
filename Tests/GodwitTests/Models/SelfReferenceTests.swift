import Foundation
import Godwit
import GodwitCore
import Testing

private struct Branch: Model {
  static let schema = Schema<Self>("branch") {
    Column("parent", \.parent).references(Branch.self, onDelete: .cascade)
  }
  var id = 0
  var parent: Int?
}

@Suite("A model that refers to itself")
struct SelfReferenceTests {
  @Test("can be declared")
  func declared() async throws {
    let pair = try await ReplicaPair(models: [Branch.self])
    try await pair.sender.write { transaction in
      for number in 1...4 { try transaction.insert(Branch(id: number, parent: number > 1 ? number - 1 : nil)) }
    }
    try await pair.sender.write { _ = try $0.delete(Branch.self, key: 2) }
    #expect(try await pair.sender.latestCounts() == ChangeCounts(0, 0, 3))
    try await pair.expectSame()
  }

  @Test("cascades through its generations, and all of it is in the log")
  func cascades() async throws {
    let pair = try await ReplicaPair(models: [])
    try await pair.sender.makeTable(
      TableDefinition(
        name: "branch", keyCount: 1,
        columns: [
          ColumnDefinition(name: "id", type: .integer, isNullable: false),
          ColumnDefinition(
            name: "parent", type: .integer, isNullable: true,
            reference: Reference(table: "branch", onDelete: .cascade)),
        ]))
    try await pair.sender.write { transaction in
      _ = try transaction.execute("INSERT INTO branch VALUES (4, 3), (3, 2), (2, 1), (1, NULL), (9, NULL)")
    }
    try await pair.sender.write { _ = try $0.execute("DELETE FROM branch WHERE id = 2") }
    #expect(try await pair.sender.latestCounts() == ChangeCounts(0, 0, 3))
    try await pair.expectSame()
    #expect(try await pair.receiver.rows("SELECT id FROM branch ORDER BY id").map(\.values) == [[1], [9]])
  }
}
