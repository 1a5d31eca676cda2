import Foundation
import Godwit
import Testing

private struct Branch: Model {
  static let schema = Schema<Self>("branch") {
    Column("parent", \.parent).references(Branch.self, onDelete: .setNull, acyclic: true)
  }
  var id = ""
  var parent: String?
}

/// Found by the simulator: one replica closed a circle by itself. Others hid the reference, the author did not.
@Suite("Own circles")
struct OwnCircleTests {
  private func replica(_ folder: TemporaryFolder) async throws -> Replica {
    try await Replica.open(at: folder.file("tree"), models: Branch.self)
  }

  @Test("a transaction that closes a circle of an acyclic reference is refused whole")
  func refuseCircle() async throws {
    let folder = try TemporaryFolder()
    let replica = try await replica(folder)
    try await replica.write { transaction in
      try transaction.insert([Branch(id: "a"), Branch(id: "b", parent: "a"), Branch(id: "c", parent: "b")])
    }
    let refused = await code {
      try await replica.write { transaction in
        try transaction.insert(Branch(id: "d"))
        try transaction.execute("UPDATE branch SET parent = 'c' WHERE id = 'a'")
      }
    }
    #expect(refused == .constraint)
    #expect(try await replica.count(Branch.all) == 3)
    await replica.close()
  }

  @Test("of a long chain that one transaction writes each row is looked at a few times")
  func longChain() async throws {
    let folder = try TemporaryFolder()
    let lines = StatementLines()
    let replica = try await Replica.open(
      at: folder.file("tree"), models: Branch.self, configuration: .init(statements: .redacted, logger: lines.logger))
    let count = 500
    lines.clear()
    try await replica.write { transaction in
      for number in 0..<count {
        try transaction.insert(Branch(id: "\(number)", parent: number == 0 ? nil : "\(number - 1)"))
      }
    }
    #expect(lines.all.count < count * 10)
    let refused = await code {
      try await replica.write { _ = try $0.execute("UPDATE branch SET parent = '499' WHERE id = '0'") }
    }
    #expect(refused == .constraint)
    await replica.close()
  }

  @Test("a row cannot be its own parent")
  func refuseItself() async throws {
    let folder = try TemporaryFolder()
    let replica = try await replica(folder)
    #expect(await code { try await replica.write { try $0.insert(Branch(id: "a", parent: "a")) } } == .constraint)
    await replica.close()
  }

  @Test("a circle that is open again at the end of the transaction is none")
  func allowPassingCircle() async throws {
    let folder = try TemporaryFolder()
    let replica = try await replica(folder)
    try await replica.write { transaction in
      try transaction.insert([Branch(id: "a"), Branch(id: "b", parent: "a")])
      try transaction.execute("UPDATE branch SET parent = 'b' WHERE id = 'a'")
      try transaction.execute("UPDATE branch SET parent = NULL WHERE id = 'b'")
    }
    #expect(try await replica.fetch(Branch.self, key: "a")?.parent == "b")
    await replica.close()
  }
}
