import Foundation
import Godwit

/// The same numbers from the same seed (Vigna's SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  /// Not a multiple of what every step adds, or each seed's choices would be those of the seed before, less one.
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Random writes of every kind to ``Item`` and ``Shelf``, many of which fail.
struct RandomWrites {
  private var random: SeededGenerator
  private var fresh = 1_000
  /// Whether a unique value may go from one row to another.
  private let movesUniqueValues: Bool
  private struct TakenBack: Error {}

  init(seed: UInt64, movesUniqueValues: Bool) {
    random = SeededGenerator(seed: seed)
    self.movesUniqueValues = movesUniqueValues
  }

  /// Between one and eight writes; a write that a constraint refuses is left at that.
  mutating func transaction(_ transaction: Transaction) throws {
    for _ in 0..<Int.random(in: 1...8, using: &random) { try attempt(transaction, depth: 0) }
  }

  private mutating func attempt(_ transaction: Transaction, depth: Int) throws {
    do {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...5: try transaction.execute(statement())
      case 6, 7: try model(transaction)
      case 8: try run(transaction)
      default: if depth < 3 { try savepoint(transaction, depth: depth) }
      }
    } catch let error as GodwitError where [.constraint, .valueMismatch].contains(error.code) {
      return
    }
  }

  private mutating func savepoint(_ transaction: Transaction, depth: Int) throws {
    let isTakenBack = Bool.random(using: &random)
    var copy = self
    do {
      try transaction.savepoint {
        for _ in 0..<Int.random(in: 1...4, using: &copy.random) { try copy.attempt(transaction, depth: depth + 1) }
        if isTakenBack { throw TakenBack() }
      }
    } catch is TakenBack {}
    self = copy
  }

  /// So many inserts in a row that they are captured without triggers.
  private mutating func run(_ transaction: Transaction) throws {
    for _ in 0..<Int.random(in: 60...90, using: &random) {
      fresh += 1
      var item = item()
      item.id = "run-\(fresh)"
      try transaction.insert(item)
    }
  }

  private mutating func model(_ transaction: Transaction) throws {
    let item = item()
    switch Int.random(in: 0..<5, using: &random) {
    case 0: try transaction.insert(item)
    case 1: try transaction.save(item)
    case 2: try transaction.delete(Item.self, key: item.id)
    case 3: try transaction.save(Shelf(id: shelf() ?? 9, name: text()))
    default:
      guard var stored = try transaction.fetch(Item.self, key: item.id) else { return }
      stored.title = item.title
      if Bool.random(using: &random) { stored.note = item.note }
      try transaction.update(stored)
    }
  }

  private mutating func item() -> Item {
    Item(
      id: key(), code: code(), title: text(), amount: Double(Int.random(in: -2...5, using: &random)) / 2,
      note: Bool.random(using: &random) ? text() : nil,
      payload: Bool.random(using: &random) ? Data(text().utf8) : nil, shelf: shelf())
  }

  private mutating func key() -> String { "k\(Int.random(in: 0..<8, using: &random))" }
  private mutating func shelf() -> Int? { Bool.random(using: &random) ? nil : Int.random(in: 1...4, using: &random) }
  private mutating func text() -> String { ["", "a", "b", "aa", "ü", "long text"].randomElement(using: &random) ?? "" }

  private mutating func code() -> Int? {
    if Bool.random(using: &random) { return nil }
    fresh += 1
    return movesUniqueValues ? Int.random(in: 1...6, using: &random) : fresh
  }

  /// A row that gets another key is another row, and takes its unique value along.
  private var withoutCode: String { movesUniqueValues ? "" : ", code = NULL" }

  private mutating func conflictClause() -> String {
    ["", "OR ABORT ", "OR FAIL ", "OR IGNORE ", "OR REPLACE "].randomElement(using: &random) ?? ""
  }

  private mutating func values(_ count: Int) -> SQL {
    let items = (0..<count).map { _ in item() }
    let values: [[Value]] = items.map { item in
      [
        .text(item.id), item.code.map { .integer(Int64($0)) } ?? .null, .text(item.title), .real(item.amount),
        item.shelf.map { .integer(Int64($0)) } ?? .null, item.note.map { .text($0) } ?? .null,
      ]
    }
    return SQL(
      text: "(id, code, title, amount, shelf, parent) VALUES "
        + values.map { _ in "(?, ?, ?, ?, ?, (SELECT id FROM item WHERE id = ?))" }.joined(separator: ", "),
      values: values.flatMap { $0 })
  }

  private mutating func statement() -> SQL {
    switch Int.random(in: 0..<16, using: &random) {
    case 0...2:
      let rows = values(Int.random(in: 1...4, using: &random))
      return SQL(text: "INSERT \(conflictClause())INTO item \(rows.text)", values: rows.values)
    case 3: return "UPDATE item SET amount = amount + 1 WHERE title >= \(text())"
    case 4: return "UPDATE item SET title = title, note = note"
    case 5:
      return SQL(
        text: "UPDATE \(conflictClause())item SET id = ?, title = ?\(withoutCode) WHERE id = ?",
        values: [.text(key()), .text(text()), .text(key())])
    case 6: return "UPDATE item SET id = id, note = \(text()) WHERE id >= \(key())"
    case 7: return "DELETE FROM item WHERE id >= \(key()) AND amount > \(1.0)"
    case 8: return "DELETE FROM shelf WHERE id = \(Int.random(in: 1...4, using: &random))"
    case 9, 10:
      return SQL(
        text: "INSERT \(conflictClause())INTO shelf (id, name) VALUES (?, ?)",
        values: [.integer(Int64.random(in: 1...4, using: &random)), .text(text())])
    case 11:
      return SQL(
        text: "UPDATE \(conflictClause())item SET code = ? WHERE id = ?",
        values: [code().map { .integer(Int64($0)) } ?? .null, .text(key())])
    case 12: return "UPDATE item SET origin = (SELECT max(id) FROM shelf), parent = \(key()) WHERE id = \(key())"
    case 13:
      fresh += 1
      return "INSERT INTO item (id, title) SELECT id || \("-\(fresh)"), title FROM item LIMIT 3"
    case 14:
      return SQL(text: "UPDATE OR FAIL item SET id = substr(id, 1, 2)\(withoutCode) WHERE length(id) > 2")
    default: return "UPDATE item SET title = amount, amount = title WHERE id = \(key())"
    }
  }
}
