import Foundation
import Godwit
import Testing

@Suite("A query")
struct QueryTests {
  private let group: TestGroup
  private var replica: Replica { group[0] }
  private static let titles = [
    "", "Buy milk", "buy bread", "100% sure", "100 sure", "a_b", "aXb", "a\\b", "q'uote\"", "ünï", "x\0y", "x\0z",
  ]

  init() async throws {
    group = try await TestGroup(1)
    try await group[0].write { transaction in
      for (number, title) in Self.titles.enumerated() {
        try transaction.insert(
          Note(title: title, body: number.isMultiple(of: 3) ? nil : "body \(number % 3)", views: number))
      }
    }
  }

  private func titles(_ query: Query<Note>) async throws -> [String] {
    try await replica.fetch(query.order(by: \.views)).map(\.title)
  }

  /// The query finds what Swift finds among the same titles, compared by their characters as they are spelt.
  private func expect(
    _ query: Query<Note>, finds condition: (Int, String) -> Bool, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let wanted = Self.titles.enumerated().filter { condition($0.offset, $0.element) }.map(\.element)
    #expect(try await titles(query) == wanted, sourceLocation: location)
    #expect(try await replica.count(query) == wanted.count, sourceLocation: location)
  }

  @Test("compares with every operator")
  func operators() async throws {
    try await expect(Note.where { $0.views == 3 }) { number, _ in number == 3 }
    try await expect(Note.where { $0.views != 3 }) { number, _ in number != 3 }
    try await expect(Note.where { $0.views < 3 }) { number, _ in number < 3 }
    try await expect(Note.where { $0.views <= 3 }) { number, _ in number <= 3 }
    try await expect(Note.where { $0.views > 3 }) { number, _ in number > 3 }
    try await expect(Note.where { $0.views >= 3 }) { number, _ in number >= 3 }
    try await expect(Note.where { $0.views.isIn(2...4) }) { number, _ in (2...4).contains(number) }
    try await expect(Note.where { $0.views.isIn([1, 5, 99]) }) { number, _ in [1, 5].contains(number) }
    try await expect(Note.where { $0.views.isNotIn([1, 5]) }) { number, _ in ![1, 5].contains(number) }
    try await expect(Note.where { $0.views.isIn([]) }) { _, _ in false }
    try await expect(Note.where { $0.views.isNotIn([]) }) { _, _ in true }
    try await expect(Note.where { !$0.title.hasSuffix("k") }) { _, title in !title.hasSuffix("k") }
    try await expect(Note.where { $0.title.notLike("%b%") }) { _, title in !title.lowercased().contains("b") }
    try await expect(Note.where { $0.views > 1 && ($0.views < 4 || $0.title == "ünï") && !($0.views == 2) }) {
      number, title in
      number > 1 && (number < 4 || title == "ünï") && number != 2
    }
    try await expect(Note.where { !($0.views > 2 || $0.views == 0) }.where { $0.views != 1 }) { number, _ in number == 2
    }
  }

  @Test("treats nil as a value like any other")
  func nilEquality() async throws {
    let none: String? = nil
    try await expect(Note.where { $0.body == none }) { number, _ in number % 3 == 0 }
    try await expect(Note.where { $0.body != none }) { number, _ in number % 3 != 0 }
    try await expect(Note.where { $0.body == "body 1" }) { number, _ in number % 3 == 1 }
    try await expect(Note.where { $0.body != "body 1" }) { number, _ in number % 3 != 1 }
    try await expect(Note.where { !($0.body == "body 1") }) { number, _ in number % 3 != 1 }
    try await expect(Note.where { $0.body.isNull() }) { number, _ in number % 3 == 0 }
    try await expect(Note.where { $0.body.isIn([nil, "body 1"]) }) { number, _ in number % 3 != 2 }
    try await expect(Note.where { $0.body.isNotIn(["body 1"]) }) { number, _ in number % 3 != 1 }
    try await expect(Note.where { $0.body.isNotIn([nil, "body 1"]) }) { number, _ in number % 3 == 2 }
  }

  @Test(
    "finds text by its start, end and middle, whatever its characters",
    arguments: [
      "", "b", "B", "Buy", "100%", "%", "_", "a_", "\\", "'", "\"", "ü", "ï", "milk", "long beyond any title",
    ])
  func text(part: String) async throws { try await expectParts(part) }

  @Test("finds text around a NUL")
  func textWithNUL() async throws {
    for part in ["x\0y", "x\0", "\0z", "y"] { try await expectParts(part) }
  }

  private func expectParts(_ part: String) async throws {
    let bytes = Array(part.utf8)
    try await expect(Note.where { $0.title.hasPrefix(part) }) { _, title in title.utf8.starts(with: bytes) }
    try await expect(Note.where { $0.title.hasSuffix(part) }) { _, title in
      title.utf8.suffix(bytes.count).elementsEqual(bytes)
    }
    try await expect(Note.where { $0.title.contains(part) }) { _, title in
      bytes.isEmpty || Data(title.utf8).range(of: Data(bytes)) != nil
    }
    try await expect(Note.where { !$0.title.hasPrefix(part) }) { _, title in !title.utf8.starts(with: bytes) }
  }

  @Test("fits patterns")
  func like() async throws {
    try await expect(Note.where { $0.title.like("100\\%%") }) { _, title in title == "100% sure" }
    try await expect(Note.where { $0.title.like("BUY%") }) { _, title in title.lowercased().hasPrefix("buy") }
    try await expect(Note.where { $0.title.like("a_b") }) { _, title in ["a_b", "aXb", "a\\b"].contains(title) }
  }

  @Test("finds a row by its key")
  func key() async throws {
    let note = try #require(try await replica.fetch(Note.where { $0.views == 4 }).first)
    try await expect(Note.where { $0.id == note.id }) { number, _ in number == 4 }
    try await expect(Note.where { $0.id != note.id }) { number, _ in number != 4 }
    try await expect(Note.where { $0.id > note.id }) { number, _ in number > 4 }
  }

  @Test("sorts, limits and skips")
  func orderAndLimit() async throws {
    let all = try await replica.fetch(Note.order(by: \.views, .descending)).map(\.views)
    #expect(all == Array((0..<Self.titles.count).reversed()))
    let query = Note.order(by: \.body).order(by: \.views, .descending)
    let wanted = (0..<Self.titles.count).sorted { ($0 % 3, -$0) < ($1 % 3, -$1) }
    #expect(try await replica.fetch(query).map(\.views) == wanted)
    #expect(try await replica.fetch(query.limit(3)).map(\.views) == Array(wanted.prefix(3)))
    #expect(try await replica.fetch(query.limit(0)).isEmpty)
    #expect(try await replica.fetch(query.offset(4)).map(\.views) == Array(wanted.dropFirst(4)))
    #expect(try await replica.fetch(query.limit(2).offset(4)).map(\.views) == Array(wanted[4..<6]))
    #expect(try await replica.fetch(query.offset(99)).isEmpty)
    #expect(try await replica.count(query.limit(2).offset(4)) == 2)
    #expect(try await replica.count(query.offset(4)) == Self.titles.count - 4)
    #expect(await code { try await replica.fetch(query.limit(-1)) } == .invalidArgument)
    #expect(await code { try await replica.count(query.offset(-1)) } == .invalidArgument)
    #expect(try await replica.read { try $0.first(query) }?.views == wanted.first)
  }

  @Test("that is kept and run again finds what is there then, and what is made of it is another one")
  func kept() async throws {
    let last = Note.where { $0.views >= 10 }.order(by: \.views)
    let views = last.select { $0.views }
    let first = try last.sql
    #expect(try await replica.fetch(last).map(\.views) == [10, 11])
    #expect(try await replica.fetch(views) == [10, 11])
    try await replica.write { _ = try $0.insert(Note(title: "new", views: 12)) }
    #expect(try await replica.fetch(last).map(\.views) == [10, 11, 12])
    #expect(try await replica.fetch(views) == [10, 11, 12])
    #expect(try await replica.fetch(last.limit(1)).map(\.views) == [10])
    #expect(try await replica.fetch(views.offset(1)) == [11, 12])
    #expect(try await replica.fetch(last.where { $0.views < 12 }).count == 2)
    #expect(try last.sql.text == first.text && last.sql.values == first.values)
    #expect(try last.limit(1).sql.text != first.text)
  }

  @Test("refuses a property that is no column")
  func notInSchema() async throws {
    #expect(await code { try await replica.fetch(Note.where { $0.isSelected == true }) } == .notInSchema)
    #expect(
      await code { try await replica.count(Note.where { $0.views == 1 || $0.isSelected == true }) } == .notInSchema)
    #expect(await code { try await replica.fetch(Note.order(by: \.isSelected)) } == .notInSchema)
    #expect(await code { try await replica.fetch(Note.order(by: \.title.count)) } == .notInSchema)
  }

  @Test("keeps what is not stored as the model's init made it")
  func transientProperty() async throws {
    var note = Note(title: "selected")
    note.isSelected = true
    let stored = note
    try await replica.write { try $0.insert(stored) }
    #expect(try await replica.fetch(Note.self, key: stored.id)?.isSelected == false)
  }
}
