import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

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

  private final class Shared: Model, @unchecked Sendable {
    static let schema = Schema<Shared>("shared") { Column("name", \.name) }
    var id = 0
    var name = ""
  }

  @Test("a model that is a class is refused: rows are read into copies, and a class has none")
  func classes() async throws {
    let folder = try TemporaryFolder()
    let failure = await error { try await ReplicaPair.open(folder.file("r"), [Shared.self], TestClock()) }
    #expect(failure?.code == .invalidSchema)
    #expect(failure?.message == "table shared is of a class, and models are structs")
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
    "a check that is no expression of the language is invalid, naming the column, also in a definition that is read",
    arguments: [
      "a >", "nosuch > 0", "id > 0", "nosuch(a)", "(SELECT 1)", "godwit_insert(1, 0, a)", "sqlcipher_export('x')",
      "printf('%.*g', 2147483647, 0.01)", "random() > 0", "a > CURRENT_TIMESTAMP", "1), b TEXT, CHECK (1",
      "1)); DROP TABLE product; --", "a > 0 -- b", "a > ?", "", "a\u{0} > 0", String(repeating: "a", count: 1_025),
    ])
  func refused(check: String) throws {
    let failure = #expect(throws: GodwitError.self) { try Self.definition(check) }
    #expect(failure?.code == .invalidSchema)
    #expect(failure?.message.hasPrefix("the check of column a of table trial ") == true)
    #expect(failure?.hint?.contains("substr") == true)
    guard (1...1_024).contains(check.utf8.count) else { return }
    var writer = ByteWriter()
    let stand = String(repeating: "1", count: check.utf8.count)
    try Self.definition(stand).write(to: &writer)
    let bytes = Array(writer.bytes.dropLast(1 + stand.utf8.count) + Array(check.utf8) + writer.bytes.suffix(1))
    #expect(bytes.count == writer.bytes.count)
    var reader = ByteReader(bytes)
    let read = #expect(throws: GodwitError.self) { try TableDefinition(reading: &reader) }
    #expect(read?.code == .invalidSchema && read?.message == failure?.message)
  }

  @Test("a check that SQLite compiles otherwise than the language reads it is invalid")
  func compiled() async throws {
    // `order` is a word of SQLite's that the language does not know.
    let definition = try TableDefinition(
      name: "trial", keyCount: 1,
      columns: [
        ColumnDefinition(name: "id", type: .integer, isNullable: false),
        ColumnDefinition(name: "order", type: .integer, isNullable: true, check: "order > 0"),
      ])
    let failure = await error { try await pair.sender.makeTable(definition) }
    #expect(failure?.code == .invalidSchema)
    #expect(failure?.message == "the check of column order of table trial does not compile")
    #expect(try await pair.sender.rows("SELECT name FROM sqlite_master WHERE name = 'trial'").isEmpty)
  }

  @Test("SQLite compiles what the language takes")
  func language() async throws {
    let checks = [
      "a IN (1, -2, 'a', x'00', NULL) OR a NOT BETWEEN -1 AND +1", "a LIKE '%a%' AND a NOT LIKE 'a!%' ESCAPE '!'",
      "a GLOB '[0-9]*' AND NOT (a ISNULL) AND a NOTNULL AND a NOT NULL", "CASE a WHEN 1 THEN 2 ELSE -a END IS NOT NULL",
      "coalesce(a, '') || 's' == 'x' COLLATE NOCASE", "CAST(round(a * 100, 2) AS INTEGER) <> 0xFF",
      "trim(a, ' .') = ltrim(rtrim(a, '.'), ' ') AND instr(a, '@') > 1",
      "max(a, 0) + min(a, 1, 2) % 7 != ~a & 1 << 3 | 1 >> 2",
      "unicode(a) <> 32 AND nullif(a, '') IS NOT '' AND ifnull(a, 1.5e-3) = .5", "abs(a) < 10 AND typeof(a) = 'real'",
      "substr(upper(lower(a)), 1, 3) = substr(a, length(a))",
      (0..<8).map { _ in "a LIKE 'a'" }.joined(separator: " OR "), "a" + String(repeating: "+a", count: 127),
      String(repeating: "(", count: 31) + "a" + String(repeating: ")", count: 31),
      "a" + String(repeating: " COLLATE BINARY", count: 60),
    ]
    for (number, check) in checks.enumerated() {
      var definition = try Self.definition(check)
      definition = try TableDefinition(name: "trial \(number)", keyCount: 1, columns: definition.columns)
      let failure = await error { try await pair.sender.makeTable(definition) }
      #expect(failure == nil, "\(check): \(String(describing: failure))")
    }
  }

  @Test("a check that comes to no result lets the value through nowhere, and stops no import")
  func noResult() async throws {
    let pair = try await ReplicaPair(models: [])
    let least = "-9223372036854775808"
    try await pair.sender.makeTable(try Self.definition("typeof(a) = 'integer'"))
    try await pair.receiver.makeTable(try Self.definition("abs(a) >= 0"))
    try await pair.sender.write { try $0.execute("INSERT INTO trial VALUES (1, 7)") }
    for file in ["insert", "update"] {
      try await pair.sender.write { transaction in
        _ = try transaction.execute("INSERT OR IGNORE INTO trial VALUES (2, \(file == "insert" ? Int64.min : 5))")
        _ = try transaction.execute("UPDATE trial SET a = \(Int64.min) WHERE id = 2 OR id = 1 AND \(file == "update")")
      }
      try await pair.carry()
      #expect(try await pair.receiver.status().limbo == (file == "insert" ? 1 : 2))
    }
    let own = await error {
      try await pair.receiver.write { _ = try $0.execute(SQL(text: "INSERT INTO trial VALUES (3, \(least))")) }
    }
    #expect(own?.code == .sql && own?.message.contains("integer overflow") == true)
    #expect(try await pair.receiver.rows("SELECT id FROM trial").isEmpty)
    #expect(try await pair.receiver.maintenance.verify().isSound)
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
