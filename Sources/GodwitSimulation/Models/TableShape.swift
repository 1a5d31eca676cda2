import Godwit

/// What the simulation knows of a table, stated apart from the models and the migrations: the independent model of
/// merging must not ask the product what the rules are.
struct TableShape: Sendable {
  enum Policy: Sendable {
    case lastWriterWins, counter, set, maximum, minimum, longest
  }

  struct Reference: Sendable {
    let table: String
    let action: DeleteAction
    var isAcyclic = false
  }

  /// A name that ends with a schema version.
  struct FormerName: Sendable {
    let name: String
    /// The first version that calls it otherwise.
    let until: Int
  }

  /// What a migration makes of every value of a column.
  struct Conversion: Sendable {
    let version: Int
    /// Whether values have another type from then on.
    var changesType = false
    let rule: @Sendable (Value) -> Value
  }

  /// Another column, and what is made of it.
  struct Source: Sendable {
    let column: Int
    let rule: @Sendable (Value) -> Value
  }

  struct ColumnShape: Sendable {
    let name: String
    var policy = Policy.lastWriterWins
    var reference: Reference?
    /// The schema versions that have the column.
    var versions = TableShape.always
    /// Of a row that was written without it.
    var defaultValue = Value.null
    /// In the place of the default: what it is made of.
    var source: Source?
    var formerName: FormerName?
    var conversions: [Conversion] = []
    let random: @Sendable (inout SeededGenerator) -> Value
  }

  struct UniqueIndex: Sendable {
    /// Column numbers.
    let columns: [Int]
    var versions = TableShape.always
  }

  static let always = 0..<Int.max

  let name: String
  var formerName: FormerName?
  var keyCount = 1
  var isDeleteWins = false
  /// The schema versions in which its rows travel.
  var versions = TableShape.always
  /// The key columns first; those that came later last.
  let columns: [ColumnShape]
  var unique: [UniqueIndex] = []

  static let all = [tally, guest, shelf, book, loan, dancer, leaf, ticket, seat, scratch, badge, twig]
  /// By the names that they have or had.
  static let numbers = Dictionary(
    uniqueKeysWithValues: all.enumerated().flatMap { number, shape in
      [shape.name, shape.formerName?.name].compactMap { $0 }.map { ($0, number) }
    })
  static let latestVersion = 5
  static let localTable = scratch

  /// The number of the column that is, or was, called so.
  func number(of name: String) -> Int? { columns.firstIndex { $0.name == name || $0.formerName?.name == name } }

  /// What the table is called at a schema version; nil when its rows do not travel then.
  func name(at version: Int) -> String? {
    guard versions.contains(version) else { return nil }
    return formerName.flatMap { version < $0.until ? $0.name : nil } ?? name
  }

  /// What the column is called at a schema version; nil when it is not there then.
  func name(of column: Int, at version: Int) -> String? {
    let shape = columns[column]
    guard shape.versions.contains(version) else { return nil }
    return shape.formerName.flatMap { version < $0.until ? $0.name : nil } ?? shape.name
  }

  func references(at version: Int) -> [(column: Int, reference: Reference)] {
    columns.enumerated().compactMap { number, column in
      column.versions.contains(version) ? column.reference.map { (number, $0) } : nil
    }
  }

  /// Whether what is listed of the column follows from what was written: values and columns may have become others
  /// since.
  func listsAll(of column: Int, through version: Int) -> Bool {
    let shape = columns[column]
    let changes = [versions.upperBound, shape.versions.upperBound] + shape.conversions.map(\.version)
    return shape.versions.lowerBound == 0 && versions.lowerBound == 0 && !changes.contains { $0 <= version }
  }
}

extension TableShape {
  private static func column(
    _ name: String, _ policy: Policy = .lastWriterWins, _ values: Value...
  ) -> ColumnShape {
    ColumnShape(name: name, policy: policy) { values.randomElement(using: &$0) ?? .null }
  }

  /// The first value is the default.
  private static func added(
    in version: Int, _ name: String, _ policy: Policy = .lastWriterWins, _ values: Value...
  ) -> ColumnShape {
    ColumnShape(name: name, policy: policy, versions: version..<Int.max, defaultValue: values.first ?? .null) {
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
    _ name: String, _ table: String, _ action: DeleteAction, prefix: String, isAcyclic: Bool = false,
    since version: Int = 0
  ) -> ColumnShape {
    ColumnShape(
      name: name, reference: Reference(table: table, action: action, isAcyclic: isAcyclic), versions: version..<Int.max
    ) {
      .text("\(prefix)\(Int.random(in: 0..<4, using: &$0))")
    }
  }

  private static let tally = TableShape(
    name: "tally",
    columns: [
      key("t", 4),
      column("word", .lastWriterWins, "", "alpha", "bravo", "nul\u{0}l", "e\u{301}", "\u{e9}")
        .converted(in: 4) { $0 == "bravo" ? "alpha" : $0 },
      column("ratio", .lastWriterWins, .null, 0.0, -0.0, 1.0, 0.5, .real(.infinity)),
      column("views", .counter, 0, 1, 2, 5, -3, 1000, .integer(.max)), set("tags"),
      column("high", .maximum, 0, 1, 2, 3, 50, -7), column("low", .minimum, 0, 1, 2, -4),
      column("longest", .longest, "", "a", "b", "bb", "aaa", "ccc"),
      added(in: 3, "peak", .maximum, .null, 2, 7),
    ])

  private static let guest = TableShape(
    name: "guest",
    columns: [
      key("g", 5), column("name", .lastWriterWins, "ann", "bob", "cid", "dan"),
      column("room", .lastWriterWins, 1, 2),
      column("bed", .lastWriterWins, .null, 1, 2).converted(in: 5) { $0 == .null ? 0 : $0 },
      column("note", .lastWriterWins, "", "late", "quiet"),
      added(in: 1, "mood", .lastWriterWins, 3, 1, 2, 9),
    ], unique: [UniqueIndex(columns: [1]), UniqueIndex(columns: [2, 3], versions: 0..<2)])

  private static let shelf = TableShape(
    name: "shelf",
    columns: [
      key("s", 3),
      ColumnShape(name: "caption", formerName: FormerName(name: "label", until: 2)) {
        ["x", "y", "z"].randomElement(using: &$0) ?? "x"
      }.converted(in: 5) { $0 },
      reference("favorite", "book", .setNull, prefix: "b"),
    ], unique: [UniqueIndex(columns: [1], versions: 5..<Int.max)])

  private static let book = TableShape(
    name: "book",
    columns: [
      key("b", 4), reference("shelf", "shelf", .cascade, prefix: "s"),
      column("title", .lastWriterWins, .null, "emma", "ulysses", "walden", "momo"),
      added(in: 2, "size", .lastWriterWins, .null, 4, 77).made(of: 2) {
        if case .text(let title) = $0 { .integer(Int64(title.unicodeScalars.count)) } else { .null }
      },
    ], unique: [UniqueIndex(columns: [2])])

  private static let loan = TableShape(
    name: "loan",
    columns: [
      key("l", 4), reference("book", "book", .setNull, prefix: "b"),
      reference("guest", "guest", .restrict, prefix: "g"), column("days", .counter, 0, 1, 7, 14),
    ], unique: [UniqueIndex(columns: [1])])

  private static let dancer = TableShape(
    name: "dancer",
    columns: [
      key("d", 5), reference("partner", "dancer", .cascade, prefix: "d"),
      column("step", .lastWriterWins, 1, 2, 3).converted(in: 2, changesType: true) {
        if case .integer(let number) = $0 { .text("\(number)") } else { $0 }
      },
    ])

  private static let leaf = TableShape(
    name: "leaf",
    columns: [
      key("n", 5), reference("parent", "leaf", .setNull, prefix: "n", isAcyclic: true),
      column("label", .lastWriterWins, "p", "q"),
      reference("owner", "guest", .setNull, prefix: "g", since: 3),
    ], unique: [UniqueIndex(columns: [1, 2])])

  private static let twig = TableShape(
    name: "twig",
    columns: [
      key("w", 4), reference("parent", "twig", .cascade, prefix: "w", isAcyclic: true),
      column("code", .lastWriterWins, .null, "x", "y"),
      added(in: 1, "rings", .counter, 0, 1, 4), added(in: 3, "bark", .lastWriterWins, "plain", "rough", "smooth"),
    ], unique: [UniqueIndex(columns: [2])])

  private static let ticket = TableShape(
    name: "voucher", formerName: FormerName(name: "ticket", until: 2), isDeleteWins: true, versions: 0..<5,
    columns: [
      key("k", 3), column("state", .lastWriterWins, "open", "done", "held"),
      column("votes", .counter, 0, 1, 3),
      set("labels"), column("rank", .maximum, 1, 2, 3), added(in: 1, "stars", .counter, 0, 1, 4),
    ])

  private static let seat = TableShape(
    name: "seat", keyCount: 2, versions: 0..<4,
    columns: [
      column("row", .lastWriterWins, "A", "B"), column("number", .lastWriterWins, 1, 2),
      column("holder", .lastWriterWins, .null, "ann", "bob").dropped(in: 2),
      column("price", .minimum, 10, 20, 30),
    ])

  /// Its rows stay where they were written, until version 4.
  private static let scratch = TableShape(
    name: "scratch", versions: 4..<Int.max,
    columns: [key("x", 3), column("owner", .lastWriterWins, 7, 8, 9)])

  private static let badge = TableShape(
    name: "badge", versions: 3..<Int.max,
    columns: [
      key("e", 3), column("text", .lastWriterWins, "star", "moon"), column("points", .counter, 0, 1, 5),
      reference("wearer", "guest", .cascade, prefix: "g"),
    ], unique: [UniqueIndex(columns: [1])])
}

extension TableShape.ColumnShape {
  /// What a row has that was inserted by nobody who had the column: only one with a merge policy is not written then.
  func begun(at version: Int) -> Value {
    let first = policy == .counter && defaultValue == .null ? 0 : policy == .set ? "[]" : defaultValue
    return HistoricOperation.carry(first, of: self, from: versions.lowerBound, to: version)
  }
}

extension TableShape.ColumnShape {
  fileprivate func converted(
    in version: Int, changesType: Bool = false, _ rule: @escaping @Sendable (Value) -> Value
  ) -> Self {
    var column = self
    column.conversions.append(TableShape.Conversion(version: version, changesType: changesType, rule: rule))
    return column
  }

  fileprivate func made(of source: Int, _ rule: @escaping @Sendable (Value) -> Value) -> Self {
    var column = self
    column.source = TableShape.Source(column: source, rule: rule)
    return column
  }

  fileprivate func dropped(in version: Int) -> Self {
    var column = self
    column.versions = column.versions.lowerBound..<version
    return column
  }
}
