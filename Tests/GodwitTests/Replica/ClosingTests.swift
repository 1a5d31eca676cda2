import Foundation
import Godwit
import Synchronization
import Testing

/// What several tasks count, and whether they are to stop.
private final class Tally: Sendable {
  private let state = Mutex((count: 0, isOver: false))
  var count: Int { state.withLock { $0.count } }
  var isOver: Bool { state.withLock { $0.isOver } }
  func add() { state.withLock { $0.count += 1 } }
  func end() { state.withLock { $0.isOver = true } }
}

@Suite("Closing a replica", .timeLimit(.minutes(1)))
struct ClosingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("ends while tasks still write, and refuses what they begin afterwards")
  func writers() async throws {
    let replica = try await TestGroup.open(folder.file("busy"))
    let tally = Tally()
    let writers = (0..<4).map { _ in
      Task {
        var code: GodwitError.Code?
        while !tally.isOver {
          do {
            try await replica.write { try $0.insert(Note(title: "one more")) }
            tally.add()
          } catch let error as GodwitError {
            code = error.code
            await Task.yield()
          }
        }
        return code
      }
    }
    while tally.count < 200 { await Task.yield() }

    await replica.close()

    #expect(await code { try await replica.write { try $0.insert(Note(title: "late")) } } == .closed)
    #expect(await code { try await replica.members.list() } == .closed)
    #expect(await code { try await replica.members.rename("busy", to: "idle") } == .closed)
    tally.end()
    for writer in writers { _ = try await writer.value }
    let count = tally.count
    let again = try await TestGroup.open(folder.file("busy"))
    #expect(try await again.count(Note.all) == count)
    #expect(try await again.history.log().count < 64, "what was written alone is forgotten at the end")
    await again.close()
  }

  @Test("refuses at once what begins while a cache of it waits for another process to close")
  func closingCache() async throws {
    let replica = try await TestGroup.open(folder.file("caching"))
    let cache = try replica.cache("held")
    try await cache.set("key", Data([1]))
    let lock = open("\(replica.path)/cache/held.lock", O_RDWR)
    try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
    let closing = Task { await replica.close() }
    var found: GodwitError.Code?
    for _ in 0..<2_000 where found == nil {
      found = await code { try await replica.write { try $0.insert(Note(title: "late")) } }
    }
    #expect(found == .closed)
    #expect(Glibc.close(lock) == 0)
    await closing.value
  }

  @Test("finishes what is running")
  func running() async throws {
    let replica = try await TestGroup.open(folder.file("running"))
    let (began, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let write = Task {
      try await replica.write { transaction in
        hasBegun.yield()
        usleep(50_000)
        try transaction.insert(Note(title: "slow"))
      }
    }
    for await _ in began { break }
    await replica.close()
    try await write.value
    let again = try await TestGroup.open(folder.file("running"))
    #expect(try await again.count(Note.all) == 1)
    await again.close()
  }

  @Test("leaves no more threads than are kept for the next opening, and none that is ending")
  func threads() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      for _ in 0..<3 {
        try await withThrowingTaskGroup { group in
          for index in 0..<6 { group.addTask { try await useAndClose(folder.file("replica-\(index)")) } }
          try await group.waitForAll()
        }
        #expect(SlowThreadEnd.begunCount.load(ordering: .relaxed) == SlowThreadEnd.count.load(ordering: .relaxed))
        // The system lists a thread for a moment after it has ended.
        for _ in 0..<100 where try ownThreads() > 4 { usleep(10_000) }
        #expect(try ownThreads() <= 4)
      }
      #expect(SlowThreadEnd.count.load(ordering: .relaxed) > 0)
    }
  }
}

/// How many threads of this process have a name that Godwit gives.
private func ownThreads() throws -> Int {
  let tasks = "/proc/self/task"
  let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map {
    // A thread that has ended meanwhile has no name.
    (try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)) ?? ""
  }
  return names.count { $0.hasPrefix("godwit-") }
}

private func useAndClose(_ path: String) async throws {
  let replica = try await TestGroup.open(path)
  _ = try await replica.cache("c").set("k", Data([1]))
  try await replica.write { transaction in
    SlowThreadEnd.takeTime()
    try transaction.insert(Note(title: "once"))
  }
  _ = try await replica.read { _ in SlowThreadEnd.takeTime() }
  await replica.close()
}

/// Counts threads whose destructors run or have run, and makes these take a while.
private enum SlowThreadEnd {
  static let begunCount = Atomic(0)
  static let count = Atomic(0)
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { _ in
      SlowThreadEnd.begunCount.add(1, ordering: .relaxed)
      usleep(20_000)
      SlowThreadEnd.count.add(1, ordering: .relaxed)
    }
    return key
  }()

  /// Gives the thread that calls this a value with such a destructor.
  static func takeTime() { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
}

@Suite("A database whose file is touched by others while it is open", .timeLimit(.minutes(1)))
struct TouchedDatabaseTests {
  private let folder: TemporaryFolder
  private let replica: Replica
  private var database: String { "\(replica.path)/database" }

  init() async throws {
    folder = try TemporaryFolder()
    replica = try await TestGroup.open(folder.file("replica"))
    try await replica.write { try $0.insert(Note(title: "kept")) }
  }

  /// Every use throws the code.
  private func expectEveryUse(throws expected: GodwitError.Code, at location: SourceLocation = #_sourceLocation) async {
    let replica = replica
    let uses: [(String, @Sendable () async throws -> Void)] = [
      ("write", { _ = try await replica.write { try $0.insert(Note(title: "lost")) } }),
      ("export", { [folder] in _ = try await replica.export(to: .file(folder.file("out"))) }),
      ("verify", { _ = try await replica.maintenance.verify() }), ("read", { _ = try await replica.count(Note.all) }),
    ]
    for (name, use) in uses {
      let found = await code { try await use() }
      #expect(found == expected, "\(name)", sourceLocation: location)
    }
  }

  @Test("says that it was removed, at every use, and works again when it is put back")
  func removed() async throws {
    try FileManager.default.moveItem(atPath: database, toPath: "\(database).away")
    await expectEveryUse(throws: .unsafeFile)
    try FileManager.default.moveItem(atPath: "\(database).away", toPath: database)
    try await replica.write { try $0.insert(Note(title: "after")) }
    #expect(try await replica.fetch(Note.all).map(\.title).sorted() == ["after", "kept"])
    await replica.close()
  }

  @Test("says that a copy of it, another database or anything else was put in its place", arguments: [0, 1, 2])
  func replaced(kind: Int) async throws {
    let other = try await TestGroup.open(folder.file("other"))
    await other.close()
    let files = FileManager.default
    let away = folder.file("away")
    switch kind {
    case 0: try files.copyItem(atPath: database, toPath: away)
    case 1: try files.copyItem(atPath: folder.file("other/database"), toPath: away)
    default: try Data(repeating: 7, count: 8_192).write(to: URL(fileURLWithPath: away))
    }
    chmod(away, 0o600)
    try #require(rename(away, database) == 0)
    await expectEveryUse(throws: .unsafeFile)
    await replica.close()
  }

  @Test("that rekeying has exchanged still works")
  func rekeyed() async throws {
    let other = try await TestGroup.open(replica.path)
    for round in 1...3 {
      try await other.maintenance.rekey()
      try await replica.write { try $0.insert(Note(title: "round \(round)")) }
    }
    #expect(try await replica.count(Note.all) == 4)
    #expect(try await replica.maintenance.verify().isSound)
    await other.close()
    await replica.close()
  }
}
