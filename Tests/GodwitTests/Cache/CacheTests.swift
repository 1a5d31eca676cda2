import Foundation
import Godwit
import GodwitStorage
import Synchronization
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCache

final class Computations: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
}

@Suite("Cache")
struct CacheTests {
  let group: TestGroup
  var replica: Replica { group[0] }

  init() async throws { group = try await TestGroup(1) }

  func bytes(_ count: Int, _ byte: UInt8 = 7) -> Data { Data(repeating: byte, count: count) }

  @Test("values come back, as bytes and as a type of one's own, and survive closing")
  func values() async throws {
    struct Size: Codable, Equatable { var width: Int }
    let cache = try replica.cache("images")
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
    let reopened = try again.cache("images")
    #expect(try await reopened.value(for: "size", as: Size.self) == Size(width: 3))
    let statistics = try await reopened.statistics()
    #expect(statistics.entries == 3 && statistics.bytes == 1 + 1 + 5 + 4 + 11)
    await again.close()
    #expect(await code { try await reopened.data(for: "a") } == .closed)
  }

  @Test("nothing of it travels, and nothing of it lies on disk in plain")
  func private_() async throws {
    let cache = try replica.cache("secrets")
    try await cache.set("where-it-is", Data("the treasure lies here".utf8))
    let digest = try await replica.maintenance.digest()
    try await cache.removeAll()
    #expect(try await replica.maintenance.digest() == digest)
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
    let cache = try replica.cache("c")
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
    let cache = try replica.cache("c", bound: .entries(3))
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
    let cache = try replica.cache("c", bound: .entries(100))
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
    let cache = try replica.cache("c", bound: .entries(2))
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
    let cache = try replica.cache("c", bound: .bytes(1_000))
    for number in 0..<50 {
      try await cache.set("k\(number)", bytes(number * 7))
      #expect(try await cache.statistics().bytes <= 1_000)
    }
    #expect(await code { try await cache.set("big", bytes(998)) } == .limitExceeded)
    #expect(await code { try await cache.set("", bytes(1)) } == .invalidArgument)
    #expect(await code { try replica.cache("../x") } == .invalidArgument)
  }

  @Test("a read writes nothing to the file")
  func readsWriteNothing() async throws {
    let cache = try replica.cache("c", bound: .entries(10))
    for number in 0..<10 { try await cache.set("k\(number)", bytes(100)) }
    func size() throws -> Int {
      let wal = "\(replica.path)/cache/c.cache-wal"
      return try FileManager.default.attributesOfItem(atPath: wal)[.size] as? Int ?? 0
    }
    let before = try size()
    for _ in 0..<20 { for number in 0..<10 { _ = try await cache.data(for: "k\(number)") } }
    #expect(try size() == before)
  }

  @Test("two forms of one key are one key, in the file, in memory and in a computation")
  func forms() async throws {
    let cache = try replica.cache("c", bound: .entries(2))
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
    let cache = try replica.cache("c")
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
    let cache = try replica.cache("c")
    let count = Computations()
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

  @Test("a name may be another's with what SQLite or a lock calls its files")
  func names() async throws {
    let suffixes = ["", "-journal", "-wal", "-shm", "-gate", "-lock"]
    for suffix in suffixes {
      try await replica.cache("trip\(suffix)").set("key", Data("of \(suffix)".utf8))
    }
    for suffix in suffixes {
      #expect(try await replica.cache("trip\(suffix)").data(for: "key") == Data("of \(suffix)".utf8))
    }
  }

  /// Two caches on one folder share nothing but the files, as two processes do.
  func twoProcesses(bound: Cache.Bound = .none) -> [Cache] {
    (0..<2).map { _ in
      Cache(
        name: "c", bound: bound, folder: "\(replica.path)/cache", ownsFolder: true, wallClock: group.clock.wallClock,
        logger: replica.logger, key: replica.databaseKeys.forCaches)
    }
  }

  @Test("a key that cannot be had takes no file for bad")
  func keyFault() async throws {
    let isAway = Mutex(false)
    func open() -> Cache {
      Cache(
        name: "c", bound: .none, folder: "\(replica.path)/cache", ownsFolder: true, wallClock: group.clock.wallClock,
        logger: replica.logger
      ) { [replica] in
        guard !isAway.withLock({ $0 }) else { throw GodwitError(.unsafeFile, "the key's file is open to others") }
        return try replica.databaseKeys.forCaches()
      }
    }
    let cache = open()
    try await cache.set("a", bytes(1))
    await cache.close()
    isAway.withLock { $0 = true }
    let other = open()
    _ = try? await other.data(for: "a")
    #expect(await code { try await other.set("b", bytes(1)) } == .unsafeFile)
    isAway.withLock { $0 = false }
    #expect(try await other.data(for: "a") == bytes(1))
    await other.close()
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
    let cache = try replica.cache("c")
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
    let cache = try replica.cache("c")
    for round in 0..<10 {
      try await cache.set("k", value: [1, 2])
      let count = Computations()
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
    let cache = try replica.cache("c")
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

  @Test("what has expired makes room before what lives")
  func expiredFirst() async throws {
    let cache = try replica.cache("c", bound: .bytes(40_000))
    try await cache.set("live", bytes(1))
    for number in 0..<100 { try await cache.set("\(number)", bytes(200), lifetime: .fixed(.seconds(1))) }
    group.clock.advance(2_000)
    try await cache.set("large", bytes(30_000))
    #expect(try await cache.has("live"))
    #expect(try await cache.statistics().evictions == 0)
  }
}
