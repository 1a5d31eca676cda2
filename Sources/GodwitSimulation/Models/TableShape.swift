import Godwit

/// What the simulation knows of a table, told apart from the models: the independent model of merging must not ask
/// the product what the rules are.
struct TableShape: Sendable {
  enum Policy: Sendable {
    case lastWriterWins, counter, set, maximum, minimum, longest
  }

  struct Reference: Sendable {
    let table: String
    let action: DeleteAction
    var isAcyclic = false
  }

  struct ColumnShape: Sendable {
    let name: String
    var policy = Policy.lastWriterWins
    var reference: Reference?
    /// The first schema version that has the column.
    var since = 0
    /// Of a row that was written without it.
    var defaultValue = Value.null
    /// What it was called before version 1.
    var formerName: String?
    let random: @Sendable (inout SeededGenerator) -> Value
  }

  let name: String
  var keyCount = 1
  var isDeleteWins = false
  /// The key columns first.
  let columns: [ColumnShape]
  /// Column numbers.
  var unique: [[Int]] = []

  static let all = [tally, guest, shelf, book, loan, dancer, leaf, ticket, seat]
  static let numbers = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.name, $0) })

  /// The number of the column that is, or was, called so.
  func number(of name: String) -> Int? { columns.firstIndex { $0.name == name || $0.formerName == name } }

  /// What the column is called at a schema version; nil when it is not there yet.
  func name(of column: Int, at version: Int) -> String? {
    let shape = columns[column]
    guard shape.since <= version else { return nil }
    return version == 0 ? shape.formerName ?? shape.name : shape.name
  }

  func references() -> [(column: Int, reference: Reference)] {
    columns.enumerated().compactMap { number, column in column.reference.map { (number, $0) } }
  }
}

extension TableShape {
  private static func column(
    _ name: String, _ policy: Policy = .lastWriterWins, _ values: Value...
  ) -> ColumnShape {
    ColumnShape(name: name, policy: policy) { values.randomElement(using: &$0) ?? .null }
  }

  private static func added(_ name: String, _ policy: Policy = .lastWriterWins, _ values: Value...) -> ColumnShape {
    ColumnShape(name: name, policy: policy, since: 1, defaultValue: values.first ?? .null) {
      values.randomElement(using: &$0) ?? .null
    }
  }

  private static func set(_ name: String) -> ColumnShape {
    ColumnShape(name: name, policy: .set) { generator in
      SetText.text(Set(["a", "b", "ö"].filter { _ in Bool.random(using: &generator) }))
    }
  }

  private static func key(_ prefix: String, _ count: Int) -> ColumnShape {
    ColumnShape(name: "id") { .text("\(prefix)\(Int.random(in: 0..<count, using: &$0))") }
  }

  private static func reference(
    _ name: String, _ table: String, _ action: DeleteAction, prefix: String, isAcyclic: Bool = false
  ) -> ColumnShape {
    ColumnShape(name: name, reference: Reference(table: table, action: action, isAcyclic: isAcyclic)) {
      .text("\(prefix)\(Int.random(in: 0..<4, using: &$0))")
    }
  }

  private static let tally = TableShape(
    name: "tally",
    columns: [
      key("t", 4), column("word", .lastWriterWins, "", "alpha", "bravo", "nul\u{0}l", "e\u{301}", "\u{e9}"),
      column("ratio", .lastWriterWins, .null, 0.0, -0.0, 1.0, 0.5, .real(.infinity)),
      column("views", .counter, 0, 1, 2, 5, -3, 1000, .integer(.max)), set("tags"),
      column("high", .maximum, 0, 1, 2, 3, 50, -7), column("low", .minimum, 0, 1, 2, -4),
      column("longest", .longest, "", "a", "b", "bb", "aaa", "ccc"),
    ])

  private static let guest = TableShape(
    name: "guest",
    columns: [
      key("g", 5), column("name", .lastWriterWins, "ann", "bob", "cid", "dan"),
      column("room", .lastWriterWins, 1, 2), column("bed", .lastWriterWins, .null, 1, 2),
      column("note", .lastWriterWins, "", "late", "quiet"), added("mood", .lastWriterWins, 3, 1, 2, 9),
    ], unique: [[1], [2, 3]])

  private static let shelf = TableShape(
    name: "shelf",
    columns: [
      key("s", 3),
      ColumnShape(name: "caption", formerName: "label") { ["x", "y", "z"].randomElement(using: &$0) ?? "x" },
      reference("favorite", "book", .setNull, prefix: "b"),
    ])

  private static let book = TableShape(
    name: "book",
    columns: [
      key("b", 4), reference("shelf", "shelf", .cascade, prefix: "s"),
      column("title", .lastWriterWins, .null, "emma", "ulysses", "walden", "momo"),
    ], unique: [[2]])

  private static let loan = TableShape(
    name: "loan",
    columns: [
      key("l", 4), reference("book", "book", .setNull, prefix: "b"),
      reference("guest", "guest", .restrict, prefix: "g"), column("days", .counter, 0, 1, 7, 14),
    ])

  private static let dancer = TableShape(
    name: "dancer",
    columns: [
      key("d", 5), reference("partner", "dancer", .cascade, prefix: "d"), column("step", .lastWriterWins, 1, 2, 3),
    ])

  private static let leaf = TableShape(
    name: "leaf",
    columns: [
      key("n", 5), reference("parent", "leaf", .setNull, prefix: "n", isAcyclic: true),
      column("label", .lastWriterWins, "p", "q"),
    ])

  private static let ticket = TableShape(
    name: "ticket", isDeleteWins: true,
    columns: [
      key("k", 3), column("state", .lastWriterWins, "open", "done", "held"), column("votes", .counter, 0, 1, 3),
      set("labels"), column("rank", .maximum, 1, 2, 3), added("stars", .counter, 2, 1, 4),
    ])

  private static let seat = TableShape(
    name: "seat", keyCount: 2,
    columns: [
      column("row", .lastWriterWins, "A", "B"), column("number", .lastWriterWins, 1, 2),
      column("holder", .lastWriterWins, .null, "ann", "bob"), column("price", .minimum, 10, 20, 30),
    ])
}
