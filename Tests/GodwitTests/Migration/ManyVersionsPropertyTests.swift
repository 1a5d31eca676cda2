import GodwitCore
import GodwitSimulation
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Random histories under four versions, of which the second has nothing for some values, the third drops a column,
/// gives another default and takes NULL, and the fourth converts again. A count comes with the second, and an ordinary
/// column after it.
@Suite("Four versions at random")
struct ManyVersionsPropertyTests {
  @Migrations.Builder private static func books() -> [Migration] {
    Migration(1, "books") {
      $0.create("shelf") {
        $0.column("id", String.self)
        $0.column("note", String?.self)
      }
      $0.create("book") {
        $0.column("id", String.self)
        $0.column("place", String.self)
        $0.column("extra", Int?.self)
        $0.column("room", String.self)
        $0.column("isbn", String?.self)
        $0.column("shelf", String?.self, references: "shelf", onDelete: .setNull)
        $0.column("next", String?.self, references: "book", onDelete: .cascade)
        $0.column("votes", Int.self, default: 0, merge: .counter)
        $0.index("isbn", unique: true)
      }
    }
    Migration(2, "numbers") {
      $0.alter("book") {
        $0.change("place", Int.self, default: 3, by: "CASE WHEN place GLOB '[0-9]*' THEN CAST(place AS INTEGER) END")
        $0.change("isbn", String?.self, by: "upper(isbn)")
        $0.add("pages", Int.self, default: 5)
        $0.add("points", Int.self, default: 0, merge: .counter)
      }
    }
    Migration(3, "owners") {
      $0.alter("book") {
        $0.change("place", Int.self, default: 7)
        $0.change("room", String?.self, default: "hall")
      }
      $0.alter("book") {
        $0.drop("extra")
        $0.add("owner", String?.self, references: "shelf", onDelete: .setNull)
      }
    }
    Migration(4, "more") {
      $0.alter("book") {
        $0.change("place", Int.self, default: 9, by: "place + 100")
        $0.rename("pages", to: "length")
        $0.add("weight", Int.self, default: 1)
      }
    }
  }

  private struct Writer {
    var random: SeededGenerator

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func place(_ version: Int) -> String {
      guard version == 1 else { return "\(number(1...50))" }
      return number(0...2) == 0 ? "'x\(number(1...50))'" : "'\(number(1...50))'"
    }

    private mutating func room(_ version: Int) -> String {
      version > 2 && number(0...2) == 0 ? "NULL" : "'r\(number(1...9))'"
    }

    private mutating func isbn(_ version: Int) -> String {
      version == 1 ? "'i\(number(0...2))'" : "'I\(number(0...2))'"
    }

    private mutating func some(_ table: String) -> String {
      "(SELECT id FROM \(table) WHERE id = '\(table.prefix(1))\(number(0...2))')"
    }

    mutating func statement(_ version: Int) -> String {
      let (book, shelf) = ("'b\(number(0...3))'", "'s\(number(0...2))'")
      switch number(0...15) {
      case 0: return "INSERT OR IGNORE INTO shelf VALUES (\(shelf), 'n\(number(1...9))')"
      case 1: return "DELETE FROM shelf WHERE id = \(shelf)"
      case 2: return "UPDATE OR IGNORE shelf SET id = 's\(number(0...2))' WHERE id = \(shelf)"
      case 3: return "DELETE FROM book WHERE id = \(book)"
      case 4, 5: return "UPDATE OR IGNORE book SET id = 'b\(number(0...3))' WHERE id = \(book)"
      case 6..<10: return insert(book, version)
      default: return "UPDATE OR IGNORE book SET \(change(version)) WHERE id = \(book)"
      }
    }

    private mutating func insert(_ book: String, _ version: Int) -> String {
      let how = number(0...2) == 0 ? "REPLACE" : "IGNORE"
      let extra =
        version < 3
        ? (", extra", ", \(number(1...9))") : version > 3 ? (", weight", ", \(number(1...9))") : ("", "")
      return """
        INSERT OR \(how) INTO book (id, place, room, isbn, shelf, next\(extra.0))
        VALUES (\(book), \(place(version)), \(room(version)), \(isbn(version)), \(some("shelf")), \(some("book"))\(extra.1))
        """
    }

    private mutating func change(_ version: Int) -> String {
      var all = [
        "place = \(place(version))", "room = \(room(version))", "isbn = \(isbn(version))", "shelf = \(some("shelf"))",
        "next = \(some("book"))",
        "votes = votes + \(number(1...9))",
      ]
      if version < 3 { all.append("extra = \(number(1...9))") }
      if version > 1 { all.append("\(version > 3 ? "length" : "pages") = \(number(1...99))") }
      if version > 1 { all.append("points = points + \(number(1...9))") }
      if version > 2 { all.append("owner = \(some("shelf"))") }
      if version > 3 { all.append("weight = \(number(1...9))") }
      return all.randomElement(using: &random) ?? all[0]
    }
  }

  /// What a replica shows and holds back.
  private struct State: Equatable {
    let digest: String
    let limbo: [String]

    init(_ replica: Replica) async throws {
      let report = try await replica.maintenance.verify()
      #expect(report.problems == [])
      digest = report.digest
      limbo = try await replica.history.limbo().map {
        "\($0.table) \($0.key): \($0.values.values) \($0.reasons.map(\.kind))"
      }
    }
  }

  /// Replicas of one version that hold the same show the same, whatever came when.
  private func expectAlike(_ group: MigrationGroup, _ versions: [Int], _ step: Int) async throws -> Int {
    var states: [Int: (held: VersionVector, state: State)] = [:]
    var count = 0
    for (number, replica) in group.replicas.enumerated() {
      let held = try await replica.standing().held
      guard let other = states[versions[number]], other.held == held else {
        if states[versions[number]] == nil { states[versions[number]] = (held, try await State(replica)) }
        continue
      }
      #expect(try await State(replica) == other.state, "version \(versions[number]), step \(step), replica \(number)")
      count += 1
    }
    return count
  }

  /// A row that others refer to keeps its key: such a write is refused, as any program's is.
  private func write(_ number: Int, _ statement: String, _ group: MigrationGroup) async throws {
    do {
      try await group.write(number, SQL(text: statement))
    } catch let error as GodwitError where error.code == .constraint {}
  }

  private func update(_ number: Int, _ group: MigrationGroup, _ versions: inout [Int]) async throws {
    versions[number] += 1
    try await group.update(number, to: versions[number])
  }

  @Test("same version and same transactions, same rows, at any time", arguments: 1...8)
  func converge(seed: Int) async throws {
    var writer = Writer(random: SeededGenerator(seed: UInt64(seed)))
    var versions = [1, 1, 1, 1, 1]
    let group = try await MigrationGroup(versions, Self.books)
    var compared = 0
    for step in 0..<120 {
      let number = writer.number(0...4)
      switch writer.number(0...39) {
      case 0..<3:
        try await group.exchange()
        compared += try await expectAlike(group, versions, step)
      case 3..<22: try await write(number, writer.statement(versions[number]), group)
      case 22..<36: try await group.send(number, to: (number + writer.number(1...4)) % 5)
      default:
        guard step > 20, versions[number] < 4 else { continue }
        try await update(number, group, &versions)
      }
    }
    try await group.exchange()
    compared += try await expectAlike(group, versions, 120)
    for number in versions.indices { while versions[number] < 4 { try await update(number, group, &versions) } }
    try await group.exchange()
    try await group.expectSame()
    #expect(compared > 0)
  }
}
