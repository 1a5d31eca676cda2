import Foundation
import Godwit
import Synchronization
import Testing

private struct Paper: Model {
  static let schema = Schema<Self>("paper") {
    Column("note", \.note)
    Column("payload", \.payload)
    Column("number", \.number)
  }
  var id = ""
  var note: String?
  var payload: Data?
  var number: Int?
}

/// SQLite 3.15 leaves what a statement did before a function in it failed, unless some constraint could be broken.
@Suite("A write that fails half way")
struct HalfDoneTests {
  private let pair: ReplicaPair
  private var sender: Replica { pair.sender }

  init() async throws { pair = try await ReplicaPair(models: [Paper.self, Shelf.self]) }

  private func swallowing(_ sql: SQL) async throws {
    try await sender.write { tx in _ = try? tx.execute(sql) }
    try await pair.carry()
    try await pair.expectSame()
  }

  @Test(
    "leaves nothing, when the capture refuses a later row or a function fails",
    arguments: [
      "UPDATE paper SET note = CAST(payload AS TEXT)", "UPDATE OR IGNORE paper SET note = CAST(payload AS TEXT)",
      "UPDATE paper SET number = 10 + abs(number)",
    ])
  func update(sql: String) async throws {
    try await sender.write { tx in
      try tx.insert(Paper(id: "1", payload: Data("abc".utf8), number: 1))
      try tx.insert(Paper(id: "2", payload: Data([0xFF]), number: .min))
    }
    try await swallowing(SQL(text: sql))
    #expect(try await sender.fetch(Paper.order(by: \.id)).map(\.note) == [nil, nil])
    #expect(try await sender.fetch(Paper.order(by: \.id)).map(\.number) == [1, .min])
  }

  @Test("does not insert a number that no integer holds")
  func beyondIntegers() async throws {
    let refusal = await error {
      try await sender.write { try $0.execute("INSERT INTO paper (id, number) VALUES ('x', 9223372036854775807 + 1)") }
    }
    #expect(refusal?.code == .valueNotStorable && refusal?.message.contains("row 'x' of table paper") == true)
    #expect(try await sender.fetch(Paper.all).isEmpty)
  }

  @Test("leaves nothing of a document, whatever the program's own triggers do")
  func documents() async throws {
    let accounts = sender.documents("accounts")
    try await accounts.set("a", ["name": "Ada"])
    try await sender.write { tx in
      try tx.execute("CREATE TABLE audit (n INTEGER PRIMARY KEY)")
      try tx.execute(
        "CREATE TRIGGER own AFTER INSERT ON documents_accounts BEGIN INSERT INTO audit VALUES (1); END")
      try tx.execute(
        """
        CREATE TRIGGER keep BEFORE DELETE ON documents_accounts WHEN OLD._key = 'b' BEGIN SELECT RAISE(FAIL, 'no'); END
        """)
    }
    try await accounts.set("b", ["name": "Bob"])
    let failures = try await sender.write { tx in
      let inserting = #expect(throws: GodwitError.self) { try accounts.in(tx).set("c", ["name": "Cid"]) }
      let deleting = #expect(throws: GodwitError.self) { try accounts.in(tx).delete(accounts.all) }
      return [inserting?.code, deleting?.code]
    }
    #expect(failures == [.constraint, .constraint])
    #expect(try await sender.fetch(accounts.all.keys).sorted() == ["a", "b"])
    try await pair.carry()
    try await pair.expectSame()
  }

  @Test("makes no document by a member that is not declared")
  func undeclared() async throws {
    let accounts = sender.documents("accounts")
    try await sender.write { tx in
      let failure = #expect(throws: GodwitError.self) { try accounts.in(tx).add(1, to: "visits", of: "new") }
      #expect(failure?.code == .invalidArgument)
    }
    #expect(try await accounts.get("new") == nil)
  }

  @Test("is not committed when it was cancelled, though its body continued")
  func cancelled() async throws {
    let accounts = sender.documents("accounts")
    try await accounts.set("a", ["name": "Ada"])
    let sender = sender
    let isCancelled = Mutex(false)
    let task = Task {
      try await sender.write { @Sendable tx in
        do {
          try tx.forEach(accounts.all) { _ in
            try tx.savepoint {
              try tx.insert(Paper(id: "1"))
              while !isCancelled.withLock({ $0 }) { usleep(1_000) }
              try tx.insert(Paper(id: "2"))
            }
          }
        } catch {}
      }
    }
    try await Task.sleep(for: .milliseconds(200))
    task.cancel()
    isCancelled.withLock { $0 = true }
    _ = await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await sender.fetch(Paper.all).isEmpty)
  }

  @Test("by SQLite's names of a row's number changes the key, and travels", arguments: ["rowid", "oid", "_rowid_"])
  func rowNumber(name: String) async throws {
    try await sender.write { try $0.insert(Shelf(id: 1, name: "first")) }
    try await pair.carry()
    try await swallowing(SQL(text: "UPDATE shelf SET \(name) = 9, name = 'moved' WHERE id = 1"))
    #expect(try await pair.receiver.fetch(Shelf.all).map { [$0.name, "\($0.id)"] } == [["moved", "9"]])
  }
}
