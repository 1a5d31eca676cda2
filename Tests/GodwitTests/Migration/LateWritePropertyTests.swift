import Testing

@testable import Godwit

/// Random histories of few keys, under which rows are inserted, deleted and inserted anew, also by changes of keys, while replicas of the older of two versions
/// hold what they cannot show.
@Suite("Writes that come late, at random")
struct LateWritePropertyTests {
  @MigrationsBuilder private static func books() -> [Migration] {
    Migration(1, "books") {
      table("book", .editWins)
      table("leaf", .deleteWins)
      CreateTable("card", [NewColumn("id", String.self), NewColumn("title", String?.self)])
    }
    Migration(2, "second") {
      ChangeColumn("shelf", String?.self, in: "book", by: "'s' || shelf")
      ChangeColumn("code", String.self, in: "book", by: "'c' || code")
      AddColumn("size", Int?.self, from: "title", by: "length(title)", to: "book")
      AddColumn("owner", String?.self, default: "nobody", to: "book")
      AddColumn("votes", Int.self, default: 2, to: "book", merge: .counter)
      AddColumn("marks", Set<String>.self, default: ["new"], to: "book", merge: .addWinsSet)
      ChangeColumn("shelf", String?.self, in: "leaf", by: "'s' || shelf")
      ChangeColumn("code", String.self, in: "leaf", by: "'c' || code")
      AddColumn("size", Int?.self, from: "title", by: "length(title)", to: "leaf")
      AddColumn("owner", String?.self, default: "nobody", to: "leaf")
      AddColumn("votes", Int.self, default: 2, to: "leaf", merge: .counter)
      AddColumn("marks", Set<String>.self, default: ["new"], to: "leaf", merge: .addWinsSet)
      // Nothing but this, so the table is not made anew.
      AddColumn("owner", String?.self, to: "card")
    }
  }

  private static func table(_ name: String, _ deletes: DeletePolicy) -> CreateTable {
    CreateTable(
      name,
      [
        NewColumn("id", String.self), NewColumn("shelf", Int?.self), NewColumn("title", String?.self),
        NewColumn("code", Int.self),
        NewColumn("count", Int.self, default: 0, merge: .counter),
        NewColumn("tags", Set<String>.self, default: [], merge: .addWinsSet),
      ], deletes: deletes)
  }

  private typealias Column = (name: String, value: String)

  /// What is written to each column, by version.
  private static let columns: [[Column]] = [
    [("shelf", "%"), ("title", "'t%'"), ("code", "%"), ("count", "count + %"), ("tags", "'[\"%\"]'")],
    [
      ("shelf", "'x%'"), ("title", "'t%'"), ("code", "'y%'"), ("count", "count + %"), ("tags", "'[\"%\"]'"),
      ("size", "%"),
      ("votes", "votes + %"), ("marks", "'[\"%\"]'"), ("owner", "'o%'"),
    ],
  ]
  private static let cardColumns: [[Column]] = [[("title", "'t%'")], [("title", "'t%'"), ("owner", "'o%'")]]

  private func statement(to table: String, _ version: Int, _ random: inout SeededGenerator) -> String {
    let key = "'k\(Int.random(in: 0...2, using: &random))'"
    let value = Int.random(in: 0...99, using: &random)
    func set(_ column: Column) -> String { "\(column.name) = \(column.value.replacing("%", with: "\(value)"))" }
    let columns = (table == "card" ? Self.cardColumns : Self.columns)[version - 1]
    let column = columns.randomElement(using: &random) ?? ("title", "'t'")
    func row(_ title: String) -> String {
      var cells = [("id", key), ("title", "'\(title)'")]
      if table != "card" { cells.append(("code", "\(value)")) }
      if version > 1 { cells.append(("owner", "'i\(value)'")) }
      return "(\(cells.map(\.0).joined(separator: ", "))) VALUES (\(cells.map(\.1).joined(separator: ", ")))"
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<2: return "INSERT OR IGNORE INTO \(table) \(row("n\(value)"))"
    case 2: return "INSERT OR REPLACE INTO \(table) \(row("r\(value)"))"
    case 3: return "DELETE FROM \(table) WHERE id = \(key)"
    case 4..<6: return "UPDATE OR IGNORE \(table) SET id = 'k\(value % 4)' WHERE id = \(key)"
    case 6: return "UPDATE OR IGNORE \(table) SET id = 'k\(value % 4)', \(set(column)) WHERE id = \(key)"
    default: return "UPDATE \(table) SET \(set(column)) WHERE id = \(key)"
    }
  }

  /// A step so small that it forgets in part.
  private func forget(_ replica: Replica, _ random: inout SeededGenerator) async throws {
    let portion = Forgetting.Portion(
      bytes: Int.random(in: 0...100, using: &random), rows: Int.random(in: 1...8, using: &random), pages: 0)
    _ = try await replica.forget(portion: portion)
  }

  @Test("end in one state on all replicas once all have migrated", arguments: 1...10)
  func converge(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    // While anything waits nothing is forgotten, so at first all are of one version.
    var versions = [1, 1, 1, 1]
    let group = try await MigrationGroup(versions, Self.books)
    for step in 0..<100 {
      if step == 40 {
        versions[0] = 2
        try await group.update(0, to: 2)
      }
      let number = Int.random(in: 0..<4, using: &random)
      switch Int.random(in: 0..<40, using: &random) {
      case 0..<2: try await group.exchange()
      case 2..<24:
        let table = ["book", "leaf", "card"].randomElement(using: &random) ?? "book"
        try await group.write(number, SQL(text: statement(to: table, versions[number], &random)))
      case 24..<26: try await forget(group[number], &random)
      case 26..<39: try await group.send(number, to: (number + Int.random(in: 1...3, using: &random)) % 4)
      default:
        guard step > 40 else { continue }
        versions[number] = 2
        try await group.update(number, to: 2)
      }
    }
    if Bool.random(using: &random) { try await group.exchange() }
    for number in 0..<4 { try await group.update(number, to: 2) }
    try await group.exchange()
    try await group.expectSame()
    for replica in group.replicas { #expect(try await replica.status().quarantined == 0) }
  }

  @Test("end in one state where nothing waited, as all had migrated before they heard of each other", arguments: 1...60)
  func apart(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let table = ["book", "leaf", "card"][seed % 3]
    var versions = [1, 1, 1]
    let group = try await MigrationGroup(versions, Self.books)
    for phase in 0..<3 {
      for _ in 0..<10 {
        let number = Int.random(in: 0..<3, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0: try await forget(group[number], &random)
        case 1:
          let other = (number + Int.random(in: 1...2, using: &random)) % 3
          if versions[number] <= versions[other] { try await group.send(number, to: other) }
        default: try await group.write(number, SQL(text: statement(to: table, versions[number], &random)))
        }
      }
      guard phase < 2 else { continue }
      if phase == 0, Bool.random(using: &random) { try await group.exchange() }
      for number in 0..<2 where versions[number] == 1 && Bool.random(using: &random) {
        versions[number] = 2
        try await group.update(number, to: 2)
      }
    }
    for number in 0..<3 { try await group.update(number, to: 2) }
    try await group.exchange()
    try await group.expectSame()
  }
}
