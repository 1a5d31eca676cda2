import Foundation
import Godwit
import Testing

private struct Post: Model {
  static let schema = Schema<Self>("post") {
    Column("title", \.title)
    Timestamps(created: \.created, updated: \.updated)
  }
  var id = 0
  var title = ""
  var created = Timestamp()
  var updated = Timestamp()
}

private struct Renamed: Model {
  static let schema = Schema<Self>("renamed", sync: .local, autoIncrement: true) {
    Timestamps(created: \.made, updated: \.changed, createdColumn: "made", updatedColumn: "changed")
    Column("title", \.title)
  }
  var id = 0
  var title = ""
  var made = Timestamp()
  var changed = Timestamp()
}

private struct Twice: Model {
  static let schema = Schema<Self>("twice") {
    Timestamps(created: \.a, updated: \.b)
    Timestamps(created: \.a, updated: \.b, createdColumn: "c", updatedColumn: "d")
  }
  var id = 0
  var a = Timestamp()
  var b = Timestamp()
}

@Suite("Timestamps")
struct TimestampTests {
  private let pair: ReplicaPair
  private let start = Timestamp(milliseconds: 1_700_000_000_000)
  init() async throws { pair = try await ReplicaPair(models: [Post.self, Renamed.self]) }

  private func later(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: start.milliseconds + milliseconds) }

  @Test("are filled by insert, whatever the model holds, also in a long run")
  func insert() async throws {
    let posts = try await pair.sender.write { transaction in
      try transaction.insert((0..<200).map { Post(id: $0, created: Timestamp(milliseconds: 5)) })
    }
    #expect(posts.allSatisfy { $0.created == start && $0.updated == start })
    #expect(try await pair.sender.fetch(Post.all).allSatisfy { $0.created == start && $0.updated == start })
    try await pair.expectSame()
    #expect(try await pair.receiver.fetch(Post.self, key: 199)?.created == start)
  }

  @Test("follow a change, and created stays")
  func update() async throws {
    try await pair.sender.write { try $0.insert(Post(id: 1, title: "one")) }
    pair.clock.advance(10)
    #expect(try await pair.sender.write { try $0.update(Post(id: 1, title: "two", created: .now)) })
    let updated = try #require(try await pair.sender.fetch(Post.self, key: 1))
    #expect(updated.created == start && updated.updated == later(10))
    pair.clock.advance(10)
    let saved = try await pair.sender.write { try $0.save(Post(id: 1, title: "three")) }
    #expect(saved.title == "three" && saved.created == start && saved.updated == later(20))
    try await pair.expectSame()
  }

  @Test("stay when nothing else changes, and nothing is written")
  func unchanged() async throws {
    try await pair.sender.write { try $0.insert(Post(id: 1, title: "one")) }
    pair.clock.advance(10)
    #expect(try await pair.sender.write { try $0.update(Post(id: 1, title: "one", updated: .now)) } == false)
    let saved = try await pair.sender.write { try $0.save(Post(id: 1, title: "one", updated: .now)) }
    #expect(saved.created == start && saved.updated == start)
    #expect(try await pair.sender.history.log().count == 1)
  }

  @Test("are filled by a save that inserts")
  func saveNew() async throws {
    let saved = try await pair.sender.write { try $0.save(Post(id: 1)) }
    #expect(saved.created == start && saved.updated == start)
  }

  @Test("can have other columns, beside a number from the database")
  func renamed() async throws {
    let stored = try await pair.sender.write { try $0.insert(Renamed(title: "x")) }
    #expect(stored.id == 1 && stored.made == start)
    #expect(
      try await pair.sender.rows("SELECT id, made, changed FROM renamed").map(\.values)
        == [[1, .integer(start.milliseconds), .integer(start.milliseconds)]])
  }

  @Test("are left alone by SQL and by imports")
  func others() async throws {
    try await pair.sender.write { try $0.insert(Post(id: 1, title: "one")) }
    pair.clock.advance(10)
    try await pair.sender.write { _ = try $0.execute("UPDATE post SET title = 'sql'") }
    try await pair.expectSame()
    #expect(try await pair.receiver.fetch(Post.self, key: 1)?.updated == start)
  }

  @Test("can be compared and sorted by")
  func queries() async throws {
    try await pair.sender.write { try $0.insert(Post(id: 1)) }
    pair.clock.advance(10)
    try await pair.sender.write { try $0.insert(Post(id: 2)) }
    let start = start
    #expect(try await pair.sender.fetch(Post.where { $0.created > start }).map(\.id) == [2])
    #expect(try await pair.sender.fetch(Post.order(by: \.created, .descending)).map(\.id) == [2, 1])
  }

  @Test("cannot be declared twice")
  func twice() async throws {
    let folder = try TemporaryFolder()
    let failure = await error { try await ReplicaPair.open(folder.file("r"), [Twice.self], TestClock()) }
    #expect(failure?.code == .invalidSchema && failure?.message == "table twice declares its timestamps twice")
  }

  @Test("are whole milliseconds, before 1970 and at the ends of time too")
  func values() throws {
    #expect(Timestamp(Date(timeIntervalSince1970: 1.2345)).milliseconds == 1_234)
    #expect(Timestamp(Date(timeIntervalSince1970: -0.0001)).milliseconds == -1)
    #expect(Timestamp(milliseconds: 1_500).date == Date(timeIntervalSince1970: 1.5))
    #expect(Timestamp(.distantFuture) > .now)
    #expect(Timestamp(Date(timeIntervalSince1970: 1e300)).milliseconds == .max)
    let coded = try JSONEncoder().encode([Timestamp(milliseconds: -7)])
    #expect(String(decoding: coded, as: UTF8.self) == "[-7]")
    #expect(try JSONDecoder().decode([Timestamp].self, from: coded) == [Timestamp(milliseconds: -7)])
  }

  @Test(
    "are the same by way of a date",
    arguments: [-62_135_596_800_000, -2_000_000_000_000, 0, 157_766_400_001, 253_402_300_799_000])
  func byDate(start: Int64) {
    for offset in Int64(0)..<3_000 {
      let moment = Timestamp(milliseconds: start + 7 * offset)
      #expect(Timestamp(moment.date) == moment)
    }
  }
}
