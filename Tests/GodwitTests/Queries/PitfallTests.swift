import Foundation
import GodwitModel
import Testing

@testable import Godwit

/// A book as a program has it that knows a column the table has not.
private struct LaterBook: Model {
  static let schema = Schema<Self>("book") { Column("heading", \.heading) }
  var id = RecordID<LaterBook>()
  var heading = ""
}

private struct Flags: JSONColumnValue, Equatable {
  var names: Set<String> = []
  var counts: [UUID: Int] = [:]
}

private struct Setting: Model {
  static let schema = Schema<Self>("setting") {
    Column("title", \.title)
    Column("flags", \.flags)
  }
  var id = 0
  var title = ""
  var flags = Flags()
}

private struct ListedItem: Codable, Equatable, Sendable {
  var id = 0
  var text = ""

  static func == (left: ListedItem, right: ListedItem) -> Bool { left.id == right.id }
}

private struct Listed: Model {
  static let schema = Schema<Self>("listed") {
    Column("items", \.items)
    Column("names", \.names)
    Column("numbers", \.numbers)
  }
  var id = 0
  var items: [ListedItem] = []
  var names: [String] = []
  var numbers: [Double] = []
}

private struct Moment: Model {
  static let schema = Schema<Self>("moment") { Column("start", \.start) }
  var id = 0
  var start = Date(timeIntervalSinceReferenceDate: 0)
}

/// Where SQL means something else than it seems to.
@Suite("A query")
struct PitfallTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  private func titles(_ query: Query<Book>) async throws -> [String] {
    try await replica.fetch(query.order(by: \.title)).map(\.title)
  }

  @Test("of a column that the table has not is an error, and takes the column's name for no text")
  func unknownColumn() async throws {
    #expect(await code { try await replica.fetch(LaterBook.all) } == .sql)
    #expect(
      await code { try await replica.write { _ = try $0.delete(LaterBook.where { $0.heading != "kept" }) } } != nil)
    #expect(
      await code { try await replica.rows("SELECT id FROM book WHERE \(name: "heading") <> 'kept'") } == .sql)
    #expect(try await replica.count(Book.all) == 4)
  }

  @Test("compares with ranges that have one end")
  func ranges() async throws {
    #expect(try await titles(Book.where { (230...).contains($0.pages) }) == ["Orlando", "The Waves"])
    #expect(try await titles(Book.where { $0.pages.isIn(230...) }) == ["Orlando", "The Waves"])
    #expect(try await titles(Book.where { $0.pages.isIn(...210) }) == ["Beowulf", "The Aleph"])
    #expect(try await titles(Book.where { (..<210).contains($0.pages) }) == ["Beowulf"])
    #expect(try await titles(Book.where { $0.pages.isNotIn(0...220) }) == ["Orlando", "The Waves"])
    #expect(try await titles(Book.where { $0.pages.isNotIn(150..<330) }) == ["Orlando"])
    #expect(try await titles(Book.where { $0.pages.isNotIn(200...) }) == ["Beowulf"])
    #expect(try Book.where { $0.pages.isNotIn(0...10_000_000_000) }.sql.values.count == 2)
  }

  @Test("ordered by a condition that holds always is ordered by what follows")
  func constantOrder() async throws {
    let query = Book.order { [$0.title.hasPrefix("").descending, $0.title.ascending] }
    #expect(try await replica.fetch(query).map(\.title) == ["Beowulf", "Orlando", "The Aleph", "The Waves"])
    let other = Book.order { [$0.title.hasSuffix("").ascending, $0.pages.ascending] }
    #expect(try await replica.fetch(other).map(\.pages) == [150, 210, 230, 330])
  }

  @Test("has the parts of dates up to the year 9999, and none beyond")
  func lateDates() async throws {
    let replica = try await Replica.temporary(models: Moment.self)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let days = [(5_353, 3, 1), (7_000, 12, 31), (9_999, 12, 31), (55_840, 1, 1)]
    let dates = days.compactMap {
      DateComponents(calendar: calendar, year: $0.0, month: $0.1, day: $0.2, hour: 23).date
    }
    try await replica.write { transaction in
      for (id, date) in dates.enumerated() { try transaction.insert(Moment(id: id, start: date)) }
    }
    let known = try await replica.fetch(
      Moment.where { $0.id < 3 }.order(by: \.id).select { ($0.start.year, $0.start.month, $0.start.day) })
    for (found, day) in zip(known, days) { #expect(found == day) }
    #expect(
      await code { try await replica.fetch(Moment.where { $0.id == 3 }.select { $0.start.year }) } == .valueMismatch)
    await replica.close()
  }

  @Test("reads a REAL as any number, and a sum that is too large is no check that failed")
  func numbers() async throws {
    struct Line: Decodable { let mean: Decimal }
    let lines = try await replica.fetch(
      SQL("SELECT avg(price) AS mean FROM book WHERE pages > 200").decoding(Line.self))
    #expect(lines.first.map { abs(($0.mean as NSDecimalNumber).doubleValue - 9.8333) < 0.001 } == true)
    try await replica.write { try $0.execute("UPDATE book SET pages = \(Int.max)") }
    #expect(await code { try await replica.fetch(Book.all.select { $0.pages.sum() }) } == .sql)
  }

  @Test("an update leaves JSON alone whose value is the same, however it is spelt")
  func sameJSON() async throws {
    let replica = try await Replica.temporary(models: Setting.self)
    let flags = Flags(
      names: Set((0..<20).map { "flag \($0)" }),
      counts: Dictionary(uniqueKeysWithValues: (0..<20).map { (UUID(), $0) }))
    try await replica.write { try $0.insert(Setting(id: 1, title: "one", flags: flags)) }
    for round in 0..<10 {
      let isWritten = try await replica.write { transaction in
        var setting = try transaction.first(Setting.all) ?? Setting()
        setting.flags = Flags(names: Set(flags.names.shuffled()), counts: flags.counts.filter { _ in true })
        return try transaction.update(setting)
      }
      #expect(!isWritten, "\(round)")
    }
    let isWritten = try await replica.write { transaction in
      try transaction.update(Setting(id: 1, title: "one", flags: Flags(names: ["other"])))
    }
    #expect(isWritten)
    await replica.close()
  }

  @Test("an update writes JSON that is spelt otherwise, also where the type takes that for equal")
  func otherJSON() async throws {
    let replica = try await Replica.temporary(models: Listed.self)
    var listing = Listed(id: 1, items: [ListedItem(id: 1, text: "one")], names: ["Cafe\u{301}"], numbers: [0])
    try await replica.write { [listing] in try $0.insert(listing) }
    for change: (inout Listed) -> Void in [
      { $0.items[0].text = "two" }, { $0.names = ["Caf\u{E9}"] }, { $0.numbers = [-0.0] },
    ] {
      change(&listing)
      let isWritten = try await replica.write { [listing] in try $0.update(listing) }
      #expect(isWritten)
    }
    await replica.close()
  }
}
