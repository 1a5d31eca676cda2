import Foundation
import Godwit
import GodwitModel
import GodwitStorage
import Synchronization
import Testing

private final class Counter: Sendable {
  private let value = Mutex(0)
  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}

/// Counts how often a request is run, and may keep to itself what it reads.
private struct Counted<Base: FetchRequest>: RunnableRequest {
  let base: Base
  let reads: Counter
  var hidesTables = false

  var sql: SQL { get throws { try base.sql } }
  var request: Request<Base.Element> { Request(self) }
  var tables: Set<String> { hidesTables ? [] : base.request.tables }
  func limit(_ count: Int) -> Self { Self(base: base.limit(count), reads: reads, hidesTables: hidesTables) }
  func count(on connection: Connection) throws -> Int { try base.request.count(on: connection) }

  func fetch(on connection: Connection) throws -> [Base.Element] {
    reads.add()
    return try base.request.fetch(on: connection)
  }

  func forEach(on connection: Connection, _ sink: RowSink<Base.Element>) throws {
    reads.add()
    try base.request.forEach(on: connection, sink)
  }
}

/// A loop over an observation in a task of its own, which takes every value as it comes.
private final class Follower<Element: Sendable>: Sendable {
  private let values: AsyncStream<[Element]>
  private let task: Task<Void, any Error>

  init<Request: FetchRequest>(_ observation: LiveQuery<Request>) where Request.Element == Element {
    let (values, continuation) = AsyncStream.makeStream(of: [Element].self)
    self.values = values
    task = Task {
      defer { continuation.finish() }
      for try await value in observation { continuation.yield(value) }
    }
  }

  deinit { task.cancel() }

  func cancel() { task.cancel() }

  /// Waits for the loop to end; throws what it throws.
  func end() async throws { try await task.value }

  /// The next value; nil at the end.
  func next() async -> [Element]? {
    for await value in values { return value }
    return nil
  }
}

private struct Stray: Model {
  static let schema = Schema<Self>("note") { Column("title", \.title) }
  var id = RecordID<Stray>()
  var title = ""
  var unlisted = 0
}

private func note(_ title: String, views: Int = 10, folder: Folder.ID? = nil) -> Note {
  Note(title: title, views: views, folder: folder)
}

private let popular = Note.where { $0.views > 3 }.order(by: \.title)

@Suite("An observation", .timeLimit(.minutes(1)))
struct ObservationTests {
  private let group: TestGroup
  private var replica: Replica { group[0] }

  init() async throws { group = try await TestGroup(1) }

  @Test("gives what is there at once")
  func first() async throws {
    try await replica.write { try $0.insert([note("a"), note("b", views: 1)]) }
    for try await notes in replica.observe(Note.where { $0.views > 3 }) {
      #expect(notes.map(\.title) == ["a"])
      break
    }
    for try await folders in replica.observe(Folder.all) {
      #expect(folders.isEmpty)
      break
    }
  }

  @Test("gives what is there after each insert, update and delete")
  func localWrites() async throws {
    let follower = Follower(replica.observe(popular))
    #expect(await follower.next()?.isEmpty == true)
    var edited = note("a")
    try await replica.write { [edited] in try $0.insert(edited) }
    #expect(await follower.next()?.map(\.title) == ["a"])
    edited.title = "b"
    try await replica.write { [edited] in _ = try $0.update(edited) }
    #expect(await follower.next()?.map(\.title) == ["b"])
    _ = try await replica.write { try $0.execute("UPDATE note SET title = 'c'") }
    #expect(await follower.next()?.map(\.title) == ["c"])
    try await replica.write { [edited] in _ = try $0.delete(edited) }
    #expect(await follower.next()?.isEmpty == true)
  }

  @Test("shows rows that a foreign key takes along, whole tables emptied and long runs of inserts")
  func indirectWrites() async throws {
    let folder = Folder(name: "inbox")
    let follower = Follower(replica.observe(Note.all))
    #expect(await follower.next()?.count == 0)
    try await replica.write { transaction in
      try transaction.insert(folder)
      for number in 0..<200 { try transaction.insert(note("\(number)", folder: folder.id)) }
    }
    #expect(await follower.next()?.count == 200)
    try await replica.write { _ = try $0.delete(folder) }
    #expect(await follower.next()?.count == 0)

    let drafts = Follower(replica.observe(Draft.all))
    #expect(await drafts.next()?.count == 0)
    try await replica.write { try $0.insert(Draft()) }
    #expect(await drafts.next()?.count == 1)
    _ = try await replica.write { try $0.execute("DELETE FROM draft") }
    #expect(await drafts.next()?.count == 0)
  }

  @Test("does not read again for another table, a transaction that fails, or one that only reads")
  func rereads() async throws {
    let reads = Counter()
    let follower = Follower(replica.observe(Counted(base: popular, reads: reads)))
    #expect(await follower.next()?.isEmpty == true)
    for _ in 0..<5 {
      try await replica.write { try $0.insert([Draft()]) }
      try await replica.write { try $0.insert(Folder()) }
      _ = try await replica.write { try $0.execute("DELETE FROM draft") }
      _ = try await replica.write { try $0.fetch(Note.all) }
      await #expect(throws: GodwitError.self) {
        try await replica.write { transaction in
          try transaction.insert(note("never"))
          throw GodwitError(.invalidArgument, "stop")
        }
      }
    }
    try await replica.write { try $0.insert(note("a")) }
    #expect(await follower.next()?.map(\.title) == ["a"])
    #expect(reads.count == 2)
  }

  @Test("of a request that names no table reads again whatever was written")
  func unknownTables() async throws {
    let reads = Counter()
    let follower = Follower(replica.observe(Counted(base: popular, reads: reads, hidesTables: true)))
    #expect(await follower.next()?.isEmpty == true)
    try await replica.write { try $0.insert(Draft()) }
    while reads.count < 2 { await Task.yield() }
    try await replica.write { try $0.insert(note("a")) }
    #expect(await follower.next()?.map(\.title) == ["a"])
  }

  @Test("gives no result twice in a row")
  func distinct() async throws {
    let reads = Counter()
    let follower = Follower(replica.observe(Counted(base: popular, reads: reads)))
    #expect(await follower.next()?.isEmpty == true)
    for number in 1...3 {
      try await replica.write { try $0.insert(note("unseen", views: 0)) }
      while reads.count <= number { await Task.yield() }
    }
    try await replica.write { try $0.insert(note("seen")) }
    #expect(await follower.next()?.map(\.title) == ["seen"])
  }

  @Test("gives a slow loop the newest state only")
  func conflation() async throws {
    var iterator = replica.observe(Note.all).makeAsyncIterator()
    #expect(try await iterator.next()?.count == 0)
    for number in 1...100 { try await replica.write { try $0.insert(note("\(number)")) } }
    #expect(try await iterator.next()?.count == 100)
    try await replica.write { try $0.insert(note("last")) }
    #expect(try await iterator.next()?.count == 101)
  }

  @Test("loses no write beside a loop that is always reading")
  func race() async throws {
    let follower = Follower(replica.observe(Note.all))
    for number in 1...200 { try await replica.write { try $0.insert(note("\(number)")) } }
    var count = -1
    while count < 200, let notes = await follower.next() {
      #expect(notes.count > count)
      count = notes.count
    }
    #expect(count == 200)
  }

  @Test("shows an import, and only when the import writes its tables")
  func merging() async throws {
    let group = try await TestGroup(2)
    let reads = Counter()
    let follower = Follower(group[1].observe(Counted(base: popular, reads: reads)))
    #expect(await follower.next()?.isEmpty == true)
    try await group[0].write { try $0.insert(Folder()) }
    try await group.send(from: 0, to: 1)
    try await group.send(from: 0, to: 1, all: true)
    try await group[0].write { try $0.insert(note("from afar")) }
    try await group.send(from: 0, to: 1)
    #expect(await follower.next()?.map(\.title) == ["from afar"])
    #expect(reads.count == 2)
  }

  @Test("shows another replica object's writes within three seconds, beside own writes and without")
  func sameFolder() async throws {
    let other = try await TestGroup.open(replica.path)
    let follower = Follower(replica.observe(popular))
    #expect(await follower.next()?.isEmpty == true)
    let start = ContinuousClock.now
    try await other.write { try $0.insert(note("a")) }
    #expect(await follower.next()?.map(\.title) == ["a"])
    #expect(ContinuousClock.now - start < .seconds(3))

    // The writer finds the change when it starts a transaction of its own, which touches another table and fails.
    try await other.write { try $0.insert(note("b")) }
    _ = try? await replica.write { transaction in
      try transaction.insert(Draft())
      throw CancellationError()
    }
    #expect(await follower.next()?.map(\.title) == ["a", "b"])
    await other.close()
  }

  @Test("shows what another process writes")
  func otherProcess() async throws {
    let path = group.folder.file("account")
    #expect(try await KillSubject.run(["make", path], umask: "077") == 0)
    let replica = try await Replica.open(at: path, models: Account.self)
    _ = try await replica.write { try $0.delete(Account.self, key: 1) }
    let follower = Follower(replica.observe(Account.all))
    #expect(await follower.next()?.count == 0)
    #expect(try await KillSubject.run(["make", path], umask: "077") == 0)
    #expect(await follower.next()?.map(\.id) == [1])
    await replica.close()
  }

  @Test("ends when its task is cancelled; nobody polls then")
  func cancellation() async throws {
    #expect(!replica.changes.isPolling)
    let first = Follower(replica.observe(popular))
    let second = Follower(replica.observe(Note.all))
    #expect(await first.next() != nil)
    #expect(await second.next() != nil)
    #expect(replica.changes.isPolling)
    first.cancel()
    #expect(await first.next() == nil)
    try await first.end()
    #expect(replica.changes.isPolling)
    second.cancel()
    try await second.end()
    #expect(!replica.changes.isPolling)
  }

  @Test("ends when its loop is left")
  func leaving() async throws {
    for try await _ in replica.observe(popular) { break }
    #expect(!replica.changes.isPolling)
  }

  @Test("ends when the replica is closed, and at once after that")
  func closing() async throws {
    let follower = Follower(replica.observe(popular))
    #expect(await follower.next() != nil)
    await replica.close()
    #expect(await follower.next() == nil)
    try await follower.end()
    for try await _ in replica.observe(popular) { Issue.record("a closed replica has nothing to tell") }
    #expect(!replica.changes.isPolling)
  }

  @Test("throws what its request throws, and has ended then")
  func failing() async throws {
    var iterator = replica.observe(Stray.where { $0.unlisted == 1 }).makeAsyncIterator()
    let error = await #expect(throws: GodwitError.self) { try await iterator.next() }
    #expect(error?.code == .notInSchema)
    #expect(try await iterator.next() == nil)
    #expect(!replica.changes.isPolling)
  }

  @Test("can be followed on the main actor") @MainActor
  func mainActor() async throws {
    var seen = 0
    for try await notes in replica.observe(Note.all) {
      MainActor.assertIsolated()
      seen = notes.count
      if seen == 1 { break }
      try await replica.write { try $0.insert(note("a")) }
    }
    #expect(seen == 1)
  }

  @Test("can be made several times of one value, each on its own")
  func independent() async throws {
    let observation = replica.observe(Note.all)
    let (first, second) = (Follower(observation), Follower(observation))
    #expect(await first.next()?.count == 0)
    #expect(await second.next()?.count == 0)
    try await replica.write { try $0.insert(note("a")) }
    #expect(await first.next()?.count == 1)
    #expect(await second.next()?.count == 1)
  }
}
