import Foundation
import Godwit
import GodwitBase
import GodwitModel
import GodwitCore
import Testing

/// A table of as many columns as a test wants: a model's schema is written by hand, so it is made in the catalog.
private enum WideTable {
  static func definition(_ columns: Int) throws -> TableDefinition {
    let types: [ColumnType] = [.integer, .text, .real, .blob, .any]
    return try TableDefinition(
      name: "wide", keyCount: 1,
      columns: (0..<columns).map { number in
        ColumnDefinition(
          name: "c\(number)", type: number == 0 ? .integer : types[number % types.count], isNullable: number > 0)
      })
  }

  /// A value of the column's own kind, different for every column and turn.
  static func value(_ column: Int, turn: Int) -> Value {
    let number = Int64(turn * 1_000 + column)
    return switch column % 5 {
    case 0: .integer(number)
    case 1: .text("text \(number)")
    case 2: .real(Double(number) / 2)
    case 3: .blob(Array("\(number)".utf8))
    default: turn == 1 ? .null : .integer(number)
    }
  }

  static func insert(_ columns: Int, key: Int, turn: Int) -> SQL {
    SQL(
      text: "INSERT INTO wide VALUES (\(Array(repeating: "?", count: columns).joined(separator: ", ")))",
      values: [.integer(Int64(key))] + (1..<max(1, columns)).map { value($0, turn: turn) })
  }

  static func update(_ columns: [Int], key: Int, turn: Int) -> SQL {
    SQL(
      text: "UPDATE wide SET \(columns.map { "c\($0) = ?" }.joined(separator: ", ")) WHERE c0 = ?",
      values: columns.map { value($0, turn: turn) } + [.integer(Int64(key))])
  }
}

@Suite("A table of any width")
struct WideTableTests {
  /// The sender has the table; the receiver learns of it from the first file.
  private func pair(columns: Int) async throws -> ReplicaPair {
    let pair = try await ReplicaPair(models: [])
    let definition = try WideTable.definition(columns)
    try await pair.sender.makeTable(definition)
    return pair
  }

  @Test("is inserted, updated and deleted the same on another replica", arguments: [1, 2, 16, 17, 18, 90, 91, 200])
  func roundTrip(columns: Int) async throws {
    let pair = try await pair(columns: columns)
    let others = Array(1..<max(1, columns))
    try await pair.sender.write { transaction in
      for key in 1...4 { try transaction.execute(WideTable.insert(columns, key: key, turn: key)) }
    }
    #expect(try await pair.sender.latestCounts() == ChangeCounts(4, 0, 0))
    try await pair.expectSame("insert")

    if columns > 1 {
      try await pair.sender.write { transaction in
        try transaction.execute(WideTable.update([columns - 1], key: 1, turn: 7))
        try transaction.execute(WideTable.update(others, key: 2, turn: 8))
        try transaction.execute(WideTable.update(others.filter { $0 % 7 == 1 }, key: 3, turn: 9))
        try transaction.execute(WideTable.update(others.reversed(), key: 3, turn: 10))
      }
      #expect(try await pair.sender.latestCounts() == ChangeCounts(0, 3, 0))
      try await pair.expectSame("update")
    }

    try await pair.sender.write { transaction in
      try transaction.execute("UPDATE wide SET c0 = 9 WHERE c0 = 2")
      try transaction.execute("DELETE FROM wide WHERE c0 = 1")
    }
    #expect(try await pair.sender.latestCounts() == ChangeCounts(1, 0, 2))
    try await pair.expectSame("key and delete")
    #expect(try await pair.receiver.rows("SELECT c0 FROM wide ORDER BY c0").map(\.values) == [[3], [4], [9]])
  }

  @Test("a deleted wide row that another replica edited comes back whole", arguments: [2, 91, 200])
  func revival(columns: Int) async throws {
    let pair = try await pair(columns: columns)
    try await pair.sender.write { _ = try $0.execute(WideTable.insert(columns, key: 1, turn: 1)) }
    try await pair.carry()
    try await pair.receiver.write { _ = try $0.execute(WideTable.update([columns - 1], key: 1, turn: 2)) }
    pair.clock.advance(1)
    try await pair.sender.write { _ = try $0.execute("DELETE FROM wide") }

    let path = pair.folder.file("back")
    _ = try await pair.receiver.export(to: .file(path))
    _ = try await pair.sender.import(from: .file(path))

    let row = try #require(try await pair.sender.rows("SELECT * FROM wide").first)
    let expected = [1] + (1..<columns).map { WideTable.value($0, turn: $0 == columns - 1 ? 2 : 1) }
    #expect(row.values == expected)
    try await pair.expectSame()
  }
}
