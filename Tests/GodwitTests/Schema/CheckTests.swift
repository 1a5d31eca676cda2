import Foundation
import Godwit
import GodwitBase
import GodwitReplication
import Testing

@testable import Godwit

private struct Product: Model {
  static let schema = Schema<Self>("product") {
    Column("price", \.price).check("price >= 0").check("price < 1000")
    Column("code", \.code).check("length(code) BETWEEN 1 AND 8 AND code NOT LIKE '%;)%'")
    Column("color", \.color).default("red")
  }
  var id = 0
  var price = 0
  var code = "x"
  var color: String?
}

@Suite("A column's check and default")
struct CheckTests {
  private let pair: ReplicaPair
  init() async throws { pair = try await ReplicaPair(models: [Product.self]) }

  @Test("a check refuses a value, naming table and column but not the value", arguments: [0, 100])
  func violated(insertsBefore: Int) async throws {
    let insert = await error {
      try await pair.sender.write { transaction in
        for number in 0..<insertsBefore { try transaction.insert(Product(id: number)) }
        try transaction.insert(Product(id: 1_000, price: -4_711))
      }
    }
    #expect(insert?.code == .constraint)
    #expect(insert?.message == "CHECK constraint failed: product.price")
    #expect(try await pair.sender.count(Product.all) == 0)
    let code = await error { try await pair.sender.write { try $0.insert(Product(id: 1, code: "secret code")) } }
    #expect(code?.message == "CHECK constraint failed: product.code")
  }

  @Test("a check refuses updates, and what passes is stored and travels")
  func passes() async throws {
    try await pair.sender.write { try $0.insert(Product(id: 1, price: 999)) }
    #expect(await code { try await pair.sender.write { try $0.update(Product(id: 1, price: 1_000)) } } == .constraint)
    #expect(await code { try await pair.sender.write { try $0.save(Product(id: 1, code: "")) } } == .constraint)
    try await pair.expectSame()
    #expect(try await pair.receiver.fetch(Product.self, key: 1)?.price == 999)
  }

  @Test("a default is what rows written without the column hold")
  func defaults() async throws {
    try await pair.sender.write { _ = try $0.execute("INSERT INTO product (id) VALUES (1)") }
    #expect(try await pair.sender.fetch(Product.self, key: 1)?.color == "red")
    #expect(try await pair.sender.fetch(Product.self, key: 1)?.code == "x")
    try await pair.sender.write { try $0.insert(Product(id: 2)) }
    #expect(try await pair.sender.fetch(Product.self, key: 2)?.color == nil)
    try await pair.expectSame()
  }

  @Test("a default of another type is invalid")
  func wrongDefault() async throws {
    struct Wrong: Model {
      static let schema = Schema<Self>("wrong") { Column("price", \.price).default("red") }
      var id = 0
      var price = 0
    }
    let folder = try TemporaryFolder()
    let failure = await error { try await ReplicaPair.open(folder.file("r"), [Wrong.self], TestClock()) }
    #expect(failure?.code == .invalidSchema)
    #expect(failure?.message == "table wrong gives column price of type integer a default of type text")
  }

  private static func definition(_ check: String) throws -> TableDefinition {
    try TableDefinition(
      name: "trial", keyCount: 1,
      columns: [
        ColumnDefinition(name: "id", type: .integer, isNullable: false),
        ColumnDefinition(name: "a", type: .integer, isNullable: true, check: check),
      ])
  }

  @Test(
    "a check that does not compile is invalid, naming the column",
    arguments: [
      "a >", "nosuch > 0", "id > 0", "nosuch(a)", "(SELECT 1)", "a > 0 AND", "godwit_insert(1, 0, a)",
      "sqlcipher_export('x')", "load_extension('x')",
    ])
  func uncompilable(check: String) async throws {
    let failure = await error { try await pair.sender.makeTable(try Self.definition(check)) }
    #expect(failure?.code == .invalidSchema)
    #expect(failure?.message == "the check of column a of table trial does not compile")
    #expect(try await pair.sender.rows("SELECT name FROM sqlite_master WHERE name = 'trial'").isEmpty)
  }

  @Test(
    "a check cannot leave its parentheses",
    arguments: [
      "1), b TEXT, CHECK (1", "1)); DROP TABLE product; --", "a > 0 -- b", "a /* b */ > 0", "a = 'x", "a = \"x",
      "[a > 0",
      "(a > 0", "a > 0)", "a > ?", "a > :b", "$a(') > 0", "", " ", "a > 0;", "a\u{0} > 0", "'\u{0}' = a",
      String(repeating: "a", count: 1_025),
    ])
  func uncontained(check: String) {
    let failure = #expect(throws: GodwitError.self) { try Self.definition(check) }
    #expect(failure?.code == .invalidSchema)
    #expect(failure?.message == "the check of column a of table trial is not one expression")
  }

  @Test("a definition comes back from its bytes", arguments: ["a > 0", "a <> 'it''s;' AND (\"a\" > (1))"])
  func encoding(check: String) throws {
    let definition = try Self.definition(check)
    var writer = ByteWriter()
    definition.write(to: &writer)
    var reader = ByteReader(writer.bytes)
    #expect(try TableDefinition(reading: &reader) == definition)
    #expect(reader.isAtEnd)
  }

  @Test("a table that only comes with a file has its checks too")
  func adopted() async throws {
    let pair = try await ReplicaPair(models: [])
    try await pair.sender.makeTable(try Self.definition("a > 0"))
    try await pair.sender.write { _ = try $0.execute("INSERT INTO trial VALUES (1, 1)") }
    try await pair.expectSame()
    let failure = await error {
      try await pair.receiver.write { _ = try $0.execute("INSERT INTO trial VALUES (2, 0)") }
    }
    #expect(failure?.message == "CHECK constraint failed: trial.a")
  }
}
