import Foundation
import GodwitBase
import Synchronization

extension Cache {
  /// A cache with a part of it in memory: what is used often is not even read from the file.
  ///
  /// Memory holds plain bytes, as every program's does; what lies on disk is encrypted as ever.
  public final class MemoryFirst: Sendable {
    /// What lies behind.
    public let cache: Cache
    private let memory: Mutex<MemoryStore>
    private let wallClock: WallClock

    init(_ cache: Cache, bytes: Int, _ wallClock: WallClock) {
      self.cache = cache
      self.wallClock = wallClock
      memory = Mutex(MemoryStore(bound: bytes))
    }

    /// The bytes under a key, or nil.
    public func data(for key: String) async throws -> Data? {
      let (data, generation) = remembered(key)
      if let data { return data }
      guard let entry = try await cache.entry(key) else { return nil }
      remember(key, entry, generation)
      return entry.value
    }

    /// The value under a key, or nil.
    public func value<Value: Decodable & Sendable>(for key: String, as type: Value.Type = Value.self) async throws
      -> Value?
    {
      try await data(for: key).flatMap { try? CacheCoding.decode(type, $0) }
    }

    /// The bytes under a key, computed and stored when there are none; see ``Cache``.
    public func data(
      for key: String, lifetime: Cache.Lifetime = .unlimited, tags: [String] = [],
      or compute: @escaping @Sendable () async throws -> Data
    ) async throws -> Data {
      let (known, generation) = remembered(key)
      if let known { return known }
      switch try await cache.found(key, tags: tags) {
      case .entry(let entry):
        remember(key, entry, generation)
        return entry.value
      // The next use reads it from the file, with how long it lives: another process may have computed it.
      case .nothing(let mark): return try await cache.computed(key, since: mark, lifetime, tags, compute)
      }
    }

    /// The value under a key, computed and stored when there is none, or one of another type; see ``Cache``.
    public func value<Value: Codable & Sendable>(
      for key: String, lifetime: Cache.Lifetime = .unlimited, tags: [String] = [],
      or compute: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
      let data = try await data(for: key, lifetime: lifetime, tags: tags) {
        try CacheCoding.encode(try await compute())
      }
      if let value = try? CacheCoding.decode(Value.self, data) { return value }
      forget(key)
      let value = try await cache.value(for: key, lifetime: lifetime, tags: tags, or: compute)
      // Who read meanwhile may have remembered what was there before.
      forget(key)
      return value
    }

    /// Stores a Codable value under a key, in memory and in the file.
    ///
    /// - Throws: As `Cache.set(_:value:)`.
    public func set(
      _ key: String, value: some Encodable & Sendable, lifetime: Cache.Lifetime = .unlimited, tags: [String] = []
    ) async throws {
      try await set(key, CacheCoding.encode(value), lifetime: lifetime, tags: tags)
    }

    /// Stores bytes under a key, in memory and in the file.
    public func set(
      _ key: String, _ data: Data, lifetime: Cache.Lifetime = .unlimited, tags: [String] = []
    ) async throws {
      let generation = forget(key)
      // Not later than the file has it, so that the copy does not outlive the entry.
      let now = wallClock.milliseconds()
      try await cache.set(key, data, lifetime: lifetime, tags: tags)
      let rest = lifetime.milliseconds.map { lifetime.isSliding ? $0 / 2 : $0 }
      memory.withLock { memory in
        // Of two writes at a time the file has the later one, and only the file knows which that is.
        let isAlone = memory.generation == generation
        memory.remove(key)
        memory.generation += 1
        if isAlone { memory.set(key, data, from: now, for: rest) }
      }
    }

    /// Takes the value under a key away.
    public func invalidate(_ key: String) async throws {
      try await cache.invalidate(key)
      forget(key)
    }

    /// Takes all values with a tag away.
    public func invalidate(tag: String) async throws {
      try await cache.invalidate(tag: tag)
      // Which they are, memory does not know.
      memory.withLock { $0.removeAll() }
    }

    /// How the cache fares; what memory had at hand is a hit, too.
    public func statistics() async throws -> Cache.Statistics {
      var statistics = try await cache.statistics()
      statistics.hits += memory.withLock(\.hits)
      return statistics
    }

    /// Takes the key out of memory, and returns the generation, which later changes raise.
    @discardableResult
    private func forget(_ key: String) -> Int {
      memory.withLock { memory in
        memory.remove(key)
        memory.generation += 1
        return memory.generation
      }
    }

    private func remembered(_ key: String) -> (Data?, generation: Int) {
      let now = wallClock.milliseconds()
      return memory.withLock { ($0.get(key, now: now), $0.generation) }
    }

    /// Remembers what was read from the file, unless something has been written or taken away since.
    private func remember(_ key: String, _ entry: CacheTable.Entry, _ generation: Int) {
      let now = wallClock.milliseconds()
      let expires = entry.pushed(now: now) ?? entry.expires
      // A use reaches the file in time to let an entry live on.
      let rest = expires.map { entry.sliding == nil ? $0 - now : ($0 - now) / 2 }
      memory.withLock { memory in
        guard memory.generation == generation else { return }
        memory.set(key, entry.value, from: now, for: rest)
      }
    }
  }
}

extension Cache {
  /// The same cache with up to that many bytes of it in memory, in front of the file.
  public func inMemory(bytes: Int) -> Cache.MemoryFirst { Cache.MemoryFirst(self, bytes: bytes, clock) }
}

/// Bytes by key up to a bound, the least recently used go first. All in constant time, on average.
struct MemoryStore {
  /// After this the file is asked again, for other processes may have written.
  static let freshMilliseconds: Int64 = 1_000

  private struct Entry {
    let data: Data
    /// With the key as it was set, which may be written otherwise where it is asked for.
    let size: Int
    /// When it is good; a clock that is set back makes nothing fresh.
    let times: Range<Int64>
    var use: Int
  }

  private let bound: Int
  private var entries: [String: Entry] = [:]
  /// Uses in their order; those that are not an entry's last one are skipped.
  private var uses: [(key: String, use: Int)] = []
  private var firstUse = 0
  private var lastUse = 0
  private(set) var bytes = 0
  /// Changes with every write and every value that is taken away.
  var generation = 0
  /// Reads that found a value.
  private(set) var hits = 0

  init(bound: Int) { self.bound = bound }

  mutating func get(_ key: String, now: Int64) -> Data? {
    guard let entry = entries[key] else { return nil }
    guard entry.times.contains(now) else {
      remove(key)
      return nil
    }
    noteUse(key)
    hits += 1
    return entry.data
  }

  /// Takes in bytes read at a time that live so long from then on, if not for ever. Milliseconds.
  mutating func set(_ key: String, _ data: Data, from now: Int64, for rest: Int64?) {
    remove(key)
    let until = now + min(Self.freshMilliseconds, rest ?? .max)
    guard now < until else { return }
    let size = key.utf8.count + data.count
    guard size <= bound else { return }
    entries[key] = Entry(data: data, size: size, times: now..<until, use: 0)
    bytes += size
    noteUse(key)
    while bytes > bound, firstUse < uses.count {
      let oldest = uses[firstUse]
      firstUse += 1
      if entries[oldest.key]?.use == oldest.use { remove(oldest.key) }
    }
  }

  mutating func remove(_ key: String) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    bytes -= entry.size
  }

  mutating func removeAll() {
    let (generation, hits) = (generation, hits)
    self = MemoryStore(bound: bound)
    self.generation = generation + 1
    self.hits = hits
  }

  private mutating func noteUse(_ key: String) {
    lastUse += 1
    entries[key]?.use = lastUse
    uses.append((key, lastUse))
    guard uses.count > 4 * entries.count + 64 else { return }
    uses = uses[firstUse...].filter { entries[$0.key]?.use == $0.use }
    firstUse = 0
  }
}
