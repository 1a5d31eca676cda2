import Foundation
import Godwit
import GodwitStorage
import Synchronization
import Testing

@testable import Godwit
@testable import GodwitCache

private final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
}

@Suite("Cache")
struct CacheTests {
  private let group: TestGroup
  private var replica: Replica { group[0] }

  init() async throws { group = try await TestGroup(1) }

  private func bytes(_ count: Int, _ byte: UInt8 = 7) -> Data { Data(repeating: byte, count: count) }

  @Test("values come back, as bytes and as a type of one's own, and survive closing")
  func values() async throws {
    struct Size: Codable, Equatable { var width: Int }
    let cache = try replica.cache(named: "images")
    #expect(try await cache.data(for: "a") == nil)
    try await cache.set("a", bytes(5_000))
    try await cache.set("empty", Data())
    try await cache.set("size", value: Size(width: 3))
    try await cache.set("a", bytes(1, 9))
    #expect(try await cache.data(for: ["a", "empty", "none"]) == ["a": bytes(1, 9), "empty": Data()])
    #expect(try await cache.value(for: "size", as: Size.self) == Size(width: 3))
    #expect(try await cache.value(for: "size", as: [Int].self) == nil)
    let path = replica.path
    await replica.close()
    let again = try await TestGroup.open(path, group.clock)
    let reopened = try again.cache(named: "images")
    #expect(try await reopened.value(for: "size", as: Size.self) == Size(width: 3))
    let statistics = try await reopened.statistics()
    #expect(statistics.entries == 3 && statistics.bytes == 1 + 1 + 5 + 4 + 11)
    await again.close()
    #expect(await code { try await reopened.data(for: "a") } == .closed)
  }

  @Test("nothing of it travels, and nothing of it lies on disk in plain")
  func private_() async throws {
    let cache = try replica.cache(named: "secrets")
    try await cache.set("where-it-is", Data("the treasure lies here".utf8))
    let digest = try await replica.digest()
    try await cache.removeAll()
    #expect(try await replica.digest() == digest)
    try await cache.set("where-it-is", Data("the treasure lies here".utf8))
    await replica.close()
    let folder = "\(replica.path)/cache"
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let file = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
      #expect(file.range(of: Data("treasure".utf8)) == nil && file.range(of: Data("where-it-is".utf8)) == nil)
      let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("a fixed lifetime counts from the write, a sliding one from the last use")
  func lifetimes() async throws {
    let cache = try replica.cache(named: "c")
    try await cache.set("fixed", bytes(1), lifetime: .fixed(.milliseconds(100)))
    try await cache.set("sliding", bytes(1), lifetime: .sliding(.milliseconds(100)))
    for _ in 0..<4 {
      group.clock.advance(60)
      #expect(try await cache.data(for: "sliding") != nil)
    }
    #expect(try await cache.data(for: "fixed") == nil)
    group.clock.advance(100)
    #expect(try await cache.data(for: "sliding") == nil)
    try await cache.set("other", bytes(1))
    #expect(try await cache.statistics().entries == 1)
  }

  @Test("beyond the bound the least recently used go, in the order of their uses")
  func eviction() async throws {
    let cache = try replica.cache(named: "c", bound: .entries(3))
    for key in ["a", "b", "c"] { try await cache.set(key, bytes(10)) }
    _ = try await cache.data(for: "a")
    try await cache.set("d", bytes(10))
    #expect(Set(try await cache.data(for: ["a", "b", "c", "d"]).keys) == ["a", "c", "d"])
    // That was a use of each, in this order.
    try await cache.set("e", bytes(10))
    try await cache.set("f", bytes(10))
    let left = try await cache.read { reader in
      try ["a", "c", "d", "e", "f"].filter { try reader.data(for: $0) != nil }
    }
    #expect(left.count == 3 && left.suffix(2) == ["e", "f"])
    #expect(try await cache.statistics().evictions == 3)
  }

  @Test("an eviction costs a few writes, however many entries have been read since the last")
  func evictionWrites() async throws {
    let cache = try replica.cache(named: "c", bound: .entries(100))
    let keys = (0..<100).map { "k\($0)" }
    for key in keys { try await cache.set(key, bytes(10)) }
    _ = try await cache.data(for: keys)
    func rowsWritten() async throws -> Int64 {
      try await cache.write { table in
        guard case .integer(let count)? = try table.connection.scalar("SELECT total_changes()") else { return 0 }
        return count
      }
    }
    let before = try await rowsWritten()
    try await cache.set("new", bytes(10))
    // The entry, fifteen that take their places, the one that goes, the total.
    #expect(try await rowsWritten() - before <= 18)
    #expect(try await cache.data(for: ["k0"]).isEmpty)
    #expect(try await cache.statistics().entries == 100)
  }

  @Test("statistics count hits, misses, sets and evictions of this process, and what the file holds")
  func statistics() async throws {
    let cache = try replica.cache(named: "c", bound: .entries(2))
    _ = try await cache.data(for: "a")
    try await cache.set(["a": bytes(10), "b": bytes(20)])
    _ = try await cache.data(for: ["a", "b", "c"])
    _ = try await cache.data(for: "a") { Data() }
    _ = try await cache.data(for: "d") { self.bytes(5) }
    let found = try await cache.statistics()
    #expect(found.sets == 3 && found.evictions == 1 && found.entries == 2)
    #expect(found.hits == 3)
    // A computation looks again when it has the key for itself.
    #expect(found.misses == 4)
    #expect(found.bytes == 1 + 10 + 1 + 5)
  }

  @Test("a bound in bytes holds after every write, and a value beyond it is refused")
  func byteBound() async throws {
    let cache = try replica.cache(named: "c", bound: .bytes(1_000))
    for number in 0..<50 {
      try await cache.set("k\(number)", bytes(number * 7))
      #expect(try await cache.statistics().bytes <= 1_000)
    }
    #expect(await code { try await cache.set("big", bytes(998)) } == .limitExceeded)
    #expect(await code { try await cache.set("", bytes(1)) } == .invalidArgument)
    #expect(await code { try replica.cache(named: "../x") } == .invalidArgument)
  }

  @Test("a read writes nothing to the file")
  func readsWriteNothing() async throws {
    let cache = try replica.cache(named: "c", bound: .entries(10))
    for number in 0..<10 { try await cache.set("k\(number)", bytes(100)) }
    func size() throws -> Int {
      let wal = "\(replica.path)/cache/c-wal"
      return try FileManager.default.attributesOfItem(atPath: wal)[.size] as? Int ?? 0
    }
    let before = try size()
    for _ in 0..<20 { for number in 0..<10 { _ = try await cache.data(for: "k\(number)") } }
    #expect(try size() == before)
  }

  @Test("two forms of one key are one key, in the file, in memory and in a computation")
  func forms() async throws {
    let cache = try replica.cache(named: "c", bound: .entries(2))
    try await cache.set("caf\u{e9}", bytes(1), lifetime: .sliding(.milliseconds(100)), tags: ["t"])
    #expect(try await cache.data(for: "cafe\u{301}") == bytes(1))
    try await cache.set("cafe\u{301}", bytes(2))
    #expect(try await cache.statistics().entries == 1)
    #expect(try await cache.inMemory(bytes: 100).data(for: "caf\u{e9}") == bytes(2))
    #expect(try await cache.read { try $0.data(for: "caf\u{e9}") } == bytes(2))
    try await cache.set("b", bytes(1))
    _ = try await cache.data(for: "cafe\u{301}")
    try await cache.set("c", bytes(1))
    #expect(try await cache.has("caf\u{e9}"))
    try await cache.invalidate("cafe\u{301}")
    #expect(try await cache.data(for: "caf\u{e9}") { self.bytes(3) } == bytes(3))
    #expect(try await cache.data(for: "cafe\u{301}") { self.bytes(4) } == bytes(3))
    try await cache.set("tagged", bytes(1), tags: ["d\u{e9}j\u{e0}"])
    try await cache.invalidate(tag: "de\u{301}ja\u{300}")
    #expect(try await !cache.has("tagged"))
    try await cache.set("tagged", bytes(1), tags: ["de\u{301}ja\u{300}"])
    try await cache.invalidate(tag: "d\u{e9}j\u{e0}")
    #expect(try await !cache.has("tagged"))
  }

  @Test("tags take many entries away at once, and keep up with what is written again")
  func tags() async throws {
    let cache = try replica.cache(named: "c")
    try await cache.set("a", bytes(1), tags: ["x", "y"])
    try await cache.set("b", bytes(1), tags: ["x", "x"])
    try await cache.set("c", bytes(1), tags: ["x"])
    try await cache.set("c", bytes(1), tags: ["y"])
    try await cache.invalidate(tag: "x")
    #expect(Set(try await cache.data(for: ["a", "b", "c"]).keys) == ["c"])
    try await cache.invalidate("c")
    #expect(try await cache.statistics().entries == 0)
  }

  @Test("callers that wait for one key share one computation; its error reaches them all and is not kept")
  func computeOnce() async throws {
    let cache = try replica.cache(named: "c")
    let count = Counter()
    @Sendable func value() async throws -> Data {
      try await cache.data(for: "k") {
        count.add()
        try await Task.sleep(for: .milliseconds(30))
        return Data("computed".utf8)
      }
    }
    try await withThrowingTaskGroup(of: Data.self) { tasks in
      for _ in 0..<32 { tasks.addTask { try await value() } }
      for try await data in tasks { #expect(data == Data("computed".utf8)) }
    }
    #expect(count.value == 1)
    for _ in 0..<2 {
      let failure = await code { try await cache.data(for: "bad") { throw GodwitError(.invalidArgument, "no") } }
      #expect(failure == .invalidArgument)
    }
    #expect(try await cache.value(for: "typed") { [1, 2] } == [1, 2])
    #expect(try await cache.value(for: "typed") { [3] } == [1, 2])
    #expect(try await cache.value(for: "typed") { "text" } == "text")
  }

  /// Two caches on one folder share nothing but the files, as two processes do.
  private func twoProcesses() -> [Cache] {
    (0..<2).map { _ in
      Cache(
        name: "c", bound: .none, folder: "\(replica.path)/cache", wallClock: group.clock.wallClock,
        logger: replica.logger,
        key: replica.databaseKeys.forCaches)
    }
  }

  @Test(
    "what is invalidated while it is computed is not kept, here or by another process, and who asks then has it anew at once",
    arguments: 0..<2, 0..<4)
  func invalidatedMeanwhile(by process: Int, kind: Int) async throws {
    let caches = twoProcesses()
    let cache = caches[0]
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let early = Task {
      try await cache.data(for: "caf\u{e9}", tags: ["t"]) {
        start.yield()
        for await _ in gate { break }
        return Data("early".utf8)
      }
    }
    for await _ in started { break }
    switch kind {
    case 0: try await caches[process].invalidate("cafe\u{301}")
    case 1: try await caches[process].invalidate(tag: "t")
    case 2: try await caches[process].removeAll()
    default:
      try await caches[process].invalidate("other")
      try await caches[process].invalidate(tag: "other")
    }
    // The early one is still under way.
    let late = kind < 3 ? try await cache.data(for: "caf\u{e9}", tags: ["t"]) { Data("late".utf8) } : nil
    open.yield()
    #expect(try await early.value == Data("early".utf8))
    #expect(late == (kind < 3 ? Data("late".utf8) : nil))
    #expect(try await caches[1].data(for: "caf\u{e9}") == Data((kind < 3 ? "late" : "early").utf8))
    for cache in caches { await cache.close() }
  }

  @Test(
    "a computation during which more has been invalidated than the file remembers is not kept, and the file stays small"
  )
  func forgottenInvalidations() async throws {
    let cache = try replica.cache(named: "c")
    for (count, isKept) in [(CacheInvalidations.memory, true), (CacheInvalidations.memory + 1, false)] {
      let value = try await cache.data(for: "k\(count)") {
        try await cache.write { table in
          try table.writing { _ in for number in 0..<count { try table.invalidations.note(.key("other\(number)")) } }
        }
        return Data("v".utf8)
      }
      #expect(value == Data("v".utf8))
      #expect(try await cache.has("k\(count)") == isKept)
    }
    let left = try await cache.write { try $0.connection.scalar("SELECT count(*) FROM invalidation") }
    #expect(left == .integer(CacheInvalidations.memory))
  }

  @Test("a value of another type is computed anew once, and who comes late does not take the fresh one away")
  func anotherType() async throws {
    let cache = try replica.cache(named: "c")
    for round in 0..<10 {
      try await cache.set("k", value: [1, 2])
      let count = Counter()
      try await withThrowingTaskGroup(of: String.self) { tasks in
        for _ in 0..<8 {
          tasks.addTask {
            try await cache.value(for: "k") {
              count.add()
              return "text \(round)"
            }
          }
        }
        for try await value in tasks { #expect(value == "text \(round)") }
      }
      #expect(count.value == 1)
    }
  }

  @Test("a caller that is cancelled leaves the others their value, and with the last the computation ends")
  func cancellation() async throws {
    let cache = try replica.cache(named: "c")
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let (ended, end) = AsyncStream.makeStream(of: Bool.self)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    @Sendable func value() async throws -> Data {
      try await cache.data(for: "k") {
        start.yield()
        for await _ in gate { break }
        end.yield(Task.isCancelled)
        return Data("v".utf8)
      }
    }
    let impatient = Task { try await value() }
    for await _ in started { break }
    let patient = Task { try await value() }
    // The second has joined when it is seen to miss.
    while try await cache.statistics().misses < 3 { await Task.yield() }
    impatient.cancel()
    await #expect(throws: CancellationError.self) { try await impatient.value }
    open.yield()
    #expect(try await patient.value == Data("v".utf8))
    for await wasCancelled in ended {
      #expect(!wasCancelled)
      break
    }
  }

  @Test("a damaged, foreign or plain file is thrown away with a warning, whoever meets it", arguments: 0..<8)
  func damaged(kind: Int) async throws {
    let lines = StatementLines()
    let path = replica.path
    let file = "\(path)/cache/c"
    try await replica.cache(named: "c").set((0..<200).reduce(into: [:]) { $0["k\($1)"] = bytes(500) })
    await replica.close()
    switch kind {
    case 0: try Data("SQLite format 3\0 and no more".utf8).write(to: URL(fileURLWithPath: file))
    case 1:
      var content = try Data(contentsOf: URL(fileURLWithPath: file))
      for place in stride(from: 5_000, to: content.count, by: 4_096) { content[place] ^= 0xFF }
      try content.write(to: URL(fileURLWithPath: file))
    case 2: try bytes(8_192).write(to: URL(fileURLWithPath: file))
    case 3: try await foreignCache().write(to: URL(fileURLWithPath: file))
    case 4: try await changeLayout(path)
    // Cut within a page, and between two.
    case 5, 6:
      let content = try Data(contentsOf: URL(fileURLWithPath: file))
      try content.prefix(kind == 5 ? content.count / 2 + 1_000 : 8 * 4_096).write(to: URL(fileURLWithPath: file))
    default: try Data("short".utf8).write(to: URL(fileURLWithPath: file))
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    let again = try await Replica.open(
      at: path, models: [Folder.self, Note.self, Draft.self], name: nil, key: .keyring(), logger: lines.logger,
      wallClock: group.clock.wallClock)
    let cache = try again.cache(named: "c")
    #expect(try await cache.data(for: "k7") == nil)
    #expect(try await cache.data(for: "k8") { Data("computed".utf8) } == Data("computed".utf8))
    try await cache.set("k7", bytes(3))
    #expect(try await cache.data(for: "k7") == bytes(3))
    #expect(lines.all.contains { $0.hasPrefix("warning: a cache is thrown away") })
    await again.close()
  }

  @Test("processes that throw one damaged cache away at once go on with one that holds what each of them writes")
  func damagedForTwo() async throws {
    for round in 0..<10 {
      let first = twoProcesses()
      try await first[0].set((0..<200).reduce(into: [:]) { $0["k\($1)"] = bytes(500) })
      for cache in first { await cache.close() }
      let file = URL(fileURLWithPath: "\(replica.path)/cache/c")
      var content = try Data(contentsOf: file)
      // The first page is read when the file is opened, the others in use.
      for place in stride(from: round % 2 == 0 ? 100 : 5_000, to: content.count, by: 4_096) { content[place] ^= 0xFF }
      try content.write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      let caches = twoProcesses()
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for number in 0..<8 {
          tasks.addTask {
            let cache = caches[number % 2]
            _ = try await cache.data(for: "k\(number)")
            try await cache.set("new\(number)", Data([UInt8(number)]))
          }
        }
        try await tasks.waitForAll()
      }
      for cache in caches {
        for number in 0..<8 { try await cache.set("later\(number)", Data([UInt8(number)])) }
      }
      for cache in caches {
        let found = try await cache.data(for: (0..<8).flatMap { ["new\($0)", "later\($0)"] })
        #expect(found.count == 16, "round \(round): \(found.keys.sorted())")
        await cache.close()
      }
    }
  }

  /// The file of another replica's cache, which is whole.
  private func foreignCache() async throws -> Data {
    let other = try await TestGroup(1)
    try await other[0].cache(named: "c").set("k7", bytes(500))
    await other[0].close()
    return try Data(contentsOf: URL(fileURLWithPath: "\(other[0].path)/cache/c"))
  }

  /// As a later version of Godwit may leave it.
  private func changeLayout(_ path: String) async throws {
    let replica = try await TestGroup.open(path, group.clock)
    try await replica.cache(named: "c").write { try $0.connection.execute("PRAGMA user_version = 9") }
    await replica.close()
  }

  @Test("a pair of memory and encrypted file is one line, and what goes in is there after the process")
  func pair() async throws {
    let pair = try replica.cache(named: "c").inMemory(bytes: 1_000)
    try await pair.set("k", Data("the treasure lies here".utf8))
    let path = replica.path
    await replica.close()
    for name in ["c", "c-wal"] where FileManager.default.fileExists(atPath: "\(path)/cache/\(name)") {
      let file = try Data(contentsOf: URL(fileURLWithPath: "\(path)/cache/\(name)"))
      #expect(file.range(of: Data("treasure".utf8)) == nil)
    }
    let again = try await TestGroup.open(path, group.clock)
    #expect(
      try await again.cache(named: "c").inMemory(bytes: 1_000).data(for: "k") == Data("the treasure lies here".utf8))
    await again.close()
  }

  @Test("with memory in front, what was read lately does not ask the file")
  func memoryFirst() async throws {
    let cache = try replica.cache(named: "c")
    let memory = cache.inMemory(bytes: 1_000)
    try await memory.set("a", bytes(10))
    #expect(try await memory.data(for: "a") == bytes(10))
    #expect(try await cache.statistics().hits == 0)
    // Somebody else writes; memory asks again when its copy is a second old.
    try await cache.set("a", bytes(20))
    #expect(try await memory.data(for: "a") == bytes(10))
    group.clock.advance(1_000)
    #expect(try await memory.data(for: "a") == bytes(20))
    for number in 0..<30 { try await memory.set("k\(number)", bytes(100)) }
    #expect(try await memory.data(for: "a") == bytes(20))
    try await memory.invalidate("a")
    #expect(try await memory.data(for: "a") == nil)
    #expect(try await memory.data(for: "new") { Data("x".utf8) } == Data("x".utf8))
  }

  @Test("with memory in front, values of one's own type go in, come out and are computed, and hits in memory count")
  func memoryValues() async throws {
    struct Size: Codable, Equatable { var width: Int }
    let cache = try replica.cache(named: "c")
    let memory = cache.inMemory(bytes: 1_000)
    try await memory.set("size", value: Size(width: 3), lifetime: .fixed(.milliseconds(100)), tags: ["t"])
    #expect(try await memory.value(for: "size", as: Size.self) == Size(width: 3))
    #expect(try await cache.value(for: "size", as: Size.self) == Size(width: 3))
    #expect(try await memory.value(for: "size") { Size(width: 4) } == Size(width: 3))
    #expect(try await cache.statistics().hits == 1)
    #expect(try await memory.statistics().hits == 3)
    // Another type takes its place, in memory as in the file.
    for _ in 0..<2 { #expect(try await memory.value(for: "size") { "text" } == "text") }
    #expect(try await cache.value(for: "size") == "text")
    try await memory.invalidate(tag: "none")
    #expect(try await memory.statistics().hits >= 3)
    #expect(try await memory.value(for: "new", lifetime: .fixed(.milliseconds(100)), tags: ["t"]) { [1] } == [1])
    #expect(try await memory.value(for: "new") == [1])
    try await memory.invalidate(tag: "t")
    #expect(try await memory.value(for: "new", as: [Int].self) == nil)
    #expect(await code { try await memory.set("nan", value: Double.nan) } == .valueNotStorable)
    #expect(try await memory.statistics().sets == 3)
  }

  @Test("memory in front keeps no value longer than it lives, and lets one that is used live on")
  func memoryLifetimes() async throws {
    let cache = try replica.cache(named: "c")
    let memory = cache.inMemory(bytes: 1_000)
    try await cache.set("fixed", bytes(1), lifetime: .fixed(.milliseconds(100)))
    try await cache.set("sliding", bytes(1), lifetime: .sliding(.milliseconds(100)))
    group.clock.advance(60)
    #expect(try await memory.data(for: "fixed") != nil)
    #expect(try await memory.data(for: "fixed") { Data([2]) } == bytes(1))
    for _ in 0..<30 {
      #expect(try await memory.data(for: "sliding") != nil)
      group.clock.advance(20)
    }
    #expect(try await memory.data(for: "fixed") == nil)
    try await memory.set("own", bytes(1), lifetime: .sliding(.milliseconds(100)))
    for _ in 0..<10 {
      group.clock.advance(30)
      #expect(try await memory.data(for: "own") != nil)
    }
  }

  @Test("a reader that was under way does not bring back what has been invalidated")
  func memoryInvalidation() async throws {
    let memory = try replica.cache(named: "c").inMemory(bytes: 1_000)
    for round in 0..<100 {
      try await memory.cache.set("k", bytes(1))
      let readers = (0..<4).map { _ in Task { try await memory.data(for: "k") } }
      if round % 2 == 0 { try await memory.invalidate("k") } else { try await memory.set("k", bytes(2)) }
      for reader in readers { _ = try await reader.value }
      #expect(try await memory.data(for: "k") == (round % 2 == 0 ? nil : bytes(2)))
      try await memory.invalidate("k")
    }
  }

  @Test("reading many is as forgiving as reading one, and is a use")
  func readingMany() async throws {
    let cache = try replica.cache(named: "c")
    try await cache.set("sliding", bytes(1), lifetime: .sliding(.milliseconds(100)))
    for _ in 0..<4 {
      group.clock.advance(60)
      #expect(try await cache.read { try $0.data(for: "sliding") } == bytes(1))
    }
    // A folder in the file's place cannot be thrown away.
    try FileManager.default.createDirectory(
      atPath: "\(replica.path)/cache/stuck/inside", withIntermediateDirectories: true)
    let stuck = try replica.cache(named: "stuck")
    #expect(try await stuck.data(for: "k") == nil)
    #expect(try await stuck.read { try $0.data(for: "k") } == nil)
    #expect(
      await code { try await stuck.read { _ -> Int in throw GodwitError(.invalidArgument, "no") } } == .invalidArgument)
  }

  @Test("the order of uses outlives a clock that has been ahead")
  func recencyAfterClock() async throws {
    let bound = CacheBound.entries(2)
    group.clock.advance(1_000_000)
    try await replica.cache(named: "c", bound: bound).set("a", bytes(1))
    let path = replica.path
    await replica.close()
    group.clock.advance(-1_000_000)
    let again = try await TestGroup.open(path, group.clock)
    let cache = try again.cache(named: "c", bound: bound)
    try await cache.set("b", bytes(1))
    try await cache.set("c", bytes(1))
    #expect(try await cache.data(for: ["a", "b", "c"]).keys.sorted() == ["b", "c"])
    await again.close()
  }

  @Test("when memory is full of uses, the older half is forgotten")
  func recencyLimit() {
    let recency = CacheRecency(group.clock.wallClock)
    recency.use((0..<65_537).map { "k\($0)" })
    #expect(recency.take("k0", after: 0) == nil && recency.take("k30000", after: 0) == nil)
    #expect(recency.take("k32768", after: 0) != nil && recency.take("k65536", after: 0) != nil)
  }

  @Test("what memory holds stays within its bytes, and what was used lately stays")
  func memoryStore() {
    var store = MemoryStore(bound: 100)
    for number in 0..<1_000 {
      store.set("k\(number % 37)", bytes(number % 11), until: 10)
      _ = store.get("k1", now: 0)
      #expect(store.bytes <= 100)
    }
    #expect(store.get("k1", now: 0) != nil)
    #expect(store.get("k1", now: 10) == nil)
  }

  @Test("two replicas' processes compute a key once between them")
  func acrossProcesses() async throws {
    let caches = twoProcesses()
    let count = Counter()
    try await withThrowingTaskGroup(of: Data.self) { tasks in
      for number in 0..<16 {
        tasks.addTask {
          try await caches[number % 2].data(for: "k") {
            count.add()
            try await Task.sleep(for: .milliseconds(50))
            return Data("v".utf8)
          }
        }
      }
      for try await data in tasks { #expect(data == Data("v".utf8)) }
    }
    #expect(count.value == 1)
    for cache in caches { await cache.close() }
  }
}
