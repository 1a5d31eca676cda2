import Foundation
import GodwitStorage
import TestFolders
import Testing

@testable import Godwit
@testable import GodwitEngine

/// A SQLite with JSON functions, which the one that Godwit is made for lacks: Python's own.
private enum SQLiteWithJSON {
  static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3"].first { python in
    FileManager.default.isExecutableFile(atPath: python)
      && (try? run(python, ["-c", "import sqlite3; sqlite3.connect(':memory:').execute(\"SELECT json('{}')\")"])) != nil
  }

  /// The first column of what a statement finds in a database.
  static func column(_ sql: String, _ values: [Value] = [], in path: String) throws -> [String] {
    let script = """
      import json, sqlite3, sys
      connection = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
      values = [bytes.fromhex(v["blob"]) if isinstance(v, dict) else v for v in json.loads(sys.argv[3])]
      for row in connection.execute(sys.argv[2], values): print(row[0])
      """
    let bound = values.map { value -> Any in
      switch value {
      case .null: NSNull()
      case .integer(let number): number
      case .real(let number): number
      case .text(let text): text
      case .blob(let bytes): ["blob": bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()]
      }
    }
    let json = String(decoding: try JSONSerialization.data(withJSONObject: bound), as: UTF8.self)
    let text = try run(try #require(python), ["-c", script, path, sql, json])
    return text.split(separator: "\n").map(String.init)
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    return String(decoding: data, as: UTF8.self)
  }
}

@Suite(
  "Documents where SQLite has JSON functions",
  .enabled(if: SQLiteWithJSON.python != nil, "there is no python3 whose SQLite has JSON functions"))
struct JSONFunctionTests {
  private let folder: TemporaryFolder
  private let path: String
  private let goods: Documents

  init() async throws {
    folder = try TemporaryFolder()
    path = try TestFolder.plaintext("exported.db", in: folder.path)
    let replica = try await Replica.temporary()
    goods = replica.documents("goods")
    let documents: [String: String] = [
      "apple": #"{"name":"Apple","price":3,"tags":["fruit","red",3],"of":{"land":"Malus","parts":[1,2.5]}}"#,
      "beet": #"{"name":"b\u00e9et","price":1.5,"tags":["root"],"of":{"land":"Beta"}}"#,
      "coal": #"{"name":"Coal","price":"3","tags":[],"of":{}}"#, "date": #"{"name":"[date","price":9}"#,
    ]
    for (key, json) in documents { try await goods.set(key, json: json) }
    _ = try await replica.maintenance.exportPlaintext(to: path)
  }

  @Test("arrays and objects are JSON to them, and what they find in it is what conditions find")
  func sameElements() async throws {
    let select = "SELECT _key FROM documents_goods WHERE"
    for element in ["fruit", "red", "root", "nothing"] {
      let found = try SQLiteWithJSON.column(
        "\(select) EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?) ORDER BY _key", [.text(element)], in: path)
      #expect(try await goods.keys(where: "tags contains '\(element)'") == found, "\(element)")
    }
    let valid = try SQLiteWithJSON.column("\(select) json_valid(tags) AND json_valid(\"of\") ORDER BY _key", in: path)
    #expect(valid == ["apple", "beet", "coal"])
    for (key, land) in [("apple", "Malus"), ("beet", "Beta")] {
      #expect(try await goods.get(key)?["of"]?["land"] == .string(land))
      let extracted = try SQLiteWithJSON.column(
        "SELECT json_extract(\"of\", '$.land') FROM documents_goods WHERE _key = ?", [.text(key)], in: path)
      #expect(extracted == [land])
    }
    let parts = try SQLiteWithJSON.column(
      "SELECT json_extract(\"of\", '$.parts[1]') FROM documents_goods WHERE _key = 'apple'", in: path)
    #expect(parts == ["2.5"])
  }

  @Test(
    "the statement of a request finds there what it finds here",
    arguments: ["name = 'Apple'", "name < 'D'", "tags is null"])
  func sameRows(condition: String) async throws {
    let request = goods.where(condition).order(by: .ascending("_key"))
    let sql = try request.sql
    let found = try SQLiteWithJSON.column("SELECT _key FROM (\(sql.text))", sql.values, in: path)
    #expect(try await goods.keys(where: condition) == found && !found.isEmpty)
  }
}
