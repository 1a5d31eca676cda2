import Foundation
import Godwit
import Synchronization
import Testing

/// A number whose readings are counted.
private struct Counted: ColumnValue, Hashable {
  static let readings = Mutex(0)
  static var storageType: StorageType { .integer }
  var number = 0

  static func read(from reader: borrowing ColumnReader) throws -> Self {
    readings.withLock { $0 += 1 }
    return Self(number: try Int.read(from: reader))
  }

  func bind(to binder: borrowing ColumnBinder) throws { try number.bind(to: binder) }
  func storedValue() -> Value { number.storedValue() }
}

private struct Sample: Model {
  static let schema = Schema<Self>("sample") { Column("number", \.number) }
  var id = RecordID<Sample>()
  var number = Counted()
}

@Suite("A stream of rows", .timeLimit(.minutes(5)))
struct RowStreamTests {
  private let replica: Replica

  init() async throws {
    replica = try await Replica.temporary(models: Note.self, Folder.self, Sample.self)
  }

  private func insert(_ count: Int) async throws {
    try await replica.write { tx in
      for number in 0..<count { try tx.insert(Note(title: "\(number)", views: number)) }
    }
  }

  private let byViews = Note.order(by: \.views)

  @Test("gives all rows in order, of each kind of request", arguments: [0, 1, 255, 256, 257, 2_000])
  func order(_ count: Int) async throws {
    try await insert(count)
    var views: [Int] = []
    for try await note in replica.stream(byViews) { views.append(note.views) }
    #expect(views == Array(0..<count))
    var titles: [String] = []
    for try await title in replica.stream(byViews.select { $0.title }) { titles.append(title) }
    #expect(titles == (0..<count).map(String.init))
    var raw: [Row] = []
    let sql = SQL("SELECT title, views AS v FROM note ORDER BY views")
    for try await row in replica.stream(sql.rows) { raw.append(row) }
    #expect(raw.map { $0["v"] } == (0..<Int64(count)).map { .integer($0) })
    #expect(raw.allSatisfy { $0.columns == ["title", "v"] })
    var sum = 0
    for try await number in replica.stream(SQL("SELECT views FROM note").reading(Int.self)) { sum += number }
    #expect(sum == (0..<count).reduce(0, +))
    await replica.close()
  }

  @Test("gives rows with what belongs to them, joins and documents")
  func kinds() async throws {
    let folders = (0..<1_001).map { Folder(name: "f\($0)") }
    try await replica.write { tx in
      try tx.insert(folders)
      for folder in folders { try tx.insert(Note(title: folder.name, folder: folder.id)) }
    }
    var count = 0
    for try await (folder, notes) in replica.stream(Folder.all.including(HasMany(\Note.folder))) {
      count += notes.map(\.title) == [folder.name] ? 1 : 0
    }
    #expect(count == folders.count)
    for try await (note, folder) in replica.stream(Note.join(Folder.self) { $0.folder == $1.id }) {
      count -= note.title == folder.name ? 1 : 0
    }
    #expect(count == 0)
    let documents = replica.documents("d")
    try await replica.write { tx in
      for number in 0..<600 { try documents.in(tx).set("\(number)", ["n": .integer(Int64(number % 7))]) }
    }
    var keys: [String] = []
    for try await document in replica.stream(documents.all.order(by: "n desc")) { keys.append(document.key) }
    #expect(try await keys == replica.fetch(documents.all.order(by: "n desc").keys))
    await replica.close()
  }

  @Test("reads no further than some portions ahead of a loop that is left")
  func ahead() async throws {
    try await replica.write { tx in
      for number in 0..<5_000 { try tx.insert(Sample(number: Counted(number: number))) }
    }
    for try await _ in replica.stream(Sample.all) { break }
    await replica.close()
    let readings = Counted.readings.withLock { $0 }
    #expect((1...768).contains(readings))
  }

  @Test("sees one state, and neither waits for writes nor for other streams, nor holds them up")
  func state() async throws {
    try await insert(1_000)
    var streams = (0..<10).map { _ in replica.stream(byViews).makeAsyncIterator() }
    for index in streams.indices { #expect(try await streams[index].next()?.views == 0) }
    try await replica.write { _ = try $0.delete(Note.all) }
    #expect(try await replica.count(Note.all) == 0)
    for index in streams.indices {
      var count = 1
      while try await streams[index].next() != nil { count += 1 }
      #expect(count == 1_000)
    }
    await replica.close()
  }

  @Test("throws what the request throws, and what ended it before the last row")
  func failures() async throws {
    try await insert(2_000)
    let replica = replica
    #expect(await code { for try await _ in replica.stream(byViews.limit(-1)) {} } == .invalidArgument)
    #expect(await code { for try await _ in replica.stream(SQL("SELECT x FROM note").reading(Int.self)) {} } == .sql)
    let writing = SQL("DELETE FROM note").reading(Int.self)
    #expect(await code { for try await _ in replica.stream(writing) {} } == .notAuthorized)
    let cancelled = Task {
      for try await _ in replica.stream(byViews) { withUnsafeCurrentTask { $0?.cancel() } }
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    var open = replica.stream(byViews).makeAsyncIterator()
    #expect(try await open.next() != nil)
    await replica.close()
    #expect(await code { while try await open.next() != nil {} } == .closed)
    #expect(await code { for try await _ in replica.stream(byViews) {} } == .closed)
  }

  @Test("a reader goes through rows one by one, and stops at what the body throws")
  func inside() async throws {
    try await insert(300)
    let count = try await replica.read { reader in
      var count = 0
      try reader.forEach(byViews) { note in
        #expect(note.views == count)
        count += 1
      }
      return count
    }
    #expect(count == 300)
    let failure = await code {
      try await replica.read { try $0.forEach(byViews) { _ in throw GodwitError(.invalidArgument, "enough") } }
    }
    #expect(failure == .invalidArgument)
    await replica.close()
  }
}
