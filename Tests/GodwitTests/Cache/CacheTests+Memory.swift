import Foundation
import Godwit
import GodwitStorage
import Synchronization
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCache

/// Files that are thrown away, and memory in front of one.
extension CacheTests {
  @Test("a damaged, foreign or plain file is thrown away with a warning, whoever meets it", arguments: 0..<8)
  func damaged(kind: Int) async throws {
    let lines = StatementLines()
    let path = replica.path
    let file = "\(path)/cache/c.cache"
    try await replica.cache("c").set((0..<200).reduce(into: [:]) { $0["k\($1)"] = bytes(500) })
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
      at: path, models: [Folder.self, Note.self, Draft.self],
      configuration: .init(key: .keyring(), logger: lines.logger), wallClock: group.clock.wallClock)
    let cache = try again.cache("c")
    #expect(try await cache.data(for: "k7") == nil)
    #expect(try await cache.data(for: "k8") { Data("computed".utf8) } == Data("computed".utf8))
    try await cache.set("k7", bytes(3))
    #expect(try await cache.data(for: "k7") == bytes(3))
    #expect(lines.all.contains { $0.hasPrefix("warning: a cache is thrown away") })
    await again.close()
  }

  @Test("processes that throw one damaged cache away at once then share one that holds what each of them writes")
  func damagedForTwo() async throws {
    for round in 0..<10 {
      let first = twoProcesses()
      try await first[0].set((0..<200).reduce(into: [:]) { $0["k\($1)"] = bytes(500) })
      for cache in first { await cache.close() }
      let file = URL(fileURLWithPath: "\(replica.path)/cache/c.cache")
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
    try await other[0].cache("c").set("k7", bytes(500))
    await other[0].close()
    return try Data(contentsOf: URL(fileURLWithPath: "\(other[0].path)/cache/c.cache"))
  }

  /// As a later version of Godwit may leave it.
  private func changeLayout(_ path: String) async throws {
    let replica = try await TestGroup.open(path, group.clock)
    try await replica.cache("c").write { try $0.connection.execute("PRAGMA user_version = 9") }
    await replica.close()
  }

  @Test("a pair of memory and encrypted file is one line, and what goes in is there after the process")
  func pair() async throws {
    let pair = try replica.cache("c").inMemory(bytes: 1_000)
    try await pair.set("k", Data("the treasure lies here".utf8))
    let path = replica.path
    await replica.close()
    for name in ["c.cache", "c.cache-wal"] where FileManager.default.fileExists(atPath: "\(path)/cache/\(name)") {
      let file = try Data(contentsOf: URL(fileURLWithPath: "\(path)/cache/\(name)"))
      #expect(file.range(of: Data("treasure".utf8)) == nil)
    }
    let again = try await TestGroup.open(path, group.clock)
    #expect(
      try await again.cache("c").inMemory(bytes: 1_000).data(for: "k") == Data("the treasure lies here".utf8))
    await again.close()
  }

  @Test("with memory in front, what was read lately does not ask the file")
  func memoryFirst() async throws {
    let cache = try replica.cache("c")
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
    let cache = try replica.cache("c")
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
    let cache = try replica.cache("c")
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
    let memory = try replica.cache("c").inMemory(bytes: 1_000)
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
    let cache = try replica.cache("c")
    try await cache.set("sliding", bytes(1), lifetime: .sliding(.milliseconds(100)))
    for _ in 0..<4 {
      group.clock.advance(60)
      #expect(try await cache.read { try $0.data(for: "sliding") } == bytes(1))
    }
    // A folder in the file's place cannot be thrown away.
    try FileManager.default.createDirectory(
      atPath: "\(replica.path)/cache/stuck.cache/inside", withIntermediateDirectories: true)
    let stuck = try replica.cache("stuck")
    #expect(try await stuck.data(for: "k") == nil)
    #expect(try await stuck.read { try $0.data(for: "k") } == nil)
    #expect(
      await code { try await stuck.read { _ -> Int in throw GodwitError(.invalidArgument, "no") } } == .invalidArgument)
  }

  @Test("the order of uses outlives a clock that has been ahead")
  func recencyAfterClock() async throws {
    let bound = Cache.Bound.entries(2)
    group.clock.advance(1_000_000)
    try await replica.cache("c", bound: bound).set("a", bytes(1))
    let path = replica.path
    await replica.close()
    group.clock.advance(-1_000_000)
    let again = try await TestGroup.open(path, group.clock)
    let cache = try again.cache("c", bound: bound)
    try await cache.set("b", bytes(1))
    try await cache.set("c", bytes(1))
    #expect(try await cache.data(for: ["a", "b", "c"]).keys.sorted() == ["b", "c"])
    await again.close()
  }

  @Test("what is set stays, also where another process's clock was ahead a moment ago")
  func recencyBesideAnotherClock() async throws {
    let caches = twoProcesses(bound: .entries(2))
    try await caches[0].set("a", bytes(1))
    group.clock.advance(3_600_000)
    try await caches[1].set("b", bytes(1))
    try await caches[1].set("c", bytes(1))
    group.clock.advance(-3_600_000)
    try await caches[0].set("d", bytes(1))
    #expect(try await caches[0].data(for: "d") == bytes(1))
  }

  @Test("when memory is full of uses, the older half is forgotten")
  func recencyLimit() {
    let recency = CacheRecency(group.clock.wallClock)
    recency.use((0..<65_537).map { "k\($0)" })
    #expect(recency.take("k0", after: 0) == nil && recency.take("k30000", after: 0) == nil)
    #expect(recency.take("k32768", after: 0) != nil && recency.take("k65536", after: 0) != nil)
  }

  @Test("a clock that is set back makes nothing in memory fresh")
  func clockSetBack() async throws {
    let caches = twoProcesses()
    let memory = caches[0].inMemory(bytes: 1_000)
    try await caches[1].set("key", Data("old".utf8))
    #expect(try await memory.data(for: "key") == Data("old".utf8))
    group.clock.advance(-3_600_000)
    try await caches[1].set("key", Data("new".utf8))
    #expect(try await memory.data(for: "key") == Data("new".utf8))
  }

  @Test("what memory holds stays within its bytes, and what was used lately stays")
  func memoryStore() {
    var store = MemoryStore(bound: 100)
    store.set("e\u{301}", Data(), from: 0, for: nil)
    store.remove("\u{e9}")
    #expect(store.bytes == 0)
    for number in 0..<1_000 {
      store.set("k\(number % 37)", bytes(number % 11), from: 0, for: 10)
      _ = store.get("k1", now: 0)
      #expect(store.bytes <= 100)
    }
    #expect(store.get("k1", now: 0) != nil)
    #expect(store.get("k1", now: 10) == nil)
  }

  @Test("two replicas' processes compute a key once between them")
  func acrossProcesses() async throws {
    let caches = twoProcesses()
    let count = Computations()
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
