import Foundation
import GodwitBase
import Synchronization

/// A cache with a part of it in memory: what is used often is not even read from the file.
///
/// Memory holds plain bytes, as every program's does; what lies on disk is encrypted as ever.
public final class MemoryFirstCache: Sendable {
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
    if let data = remembered(key) { return data }
    let data = try await cache.data(for: key)
    if let data { remember(key, data) }
    return data
  }

  /// The value under a key, or nil.
  public func value<Value: Decodable & Sendable>(for key: String, as type: Value.Type = Value.self) async throws -> Value? {
    try await data(for: key).flatMap { try? CacheCoding.decode(type, $0) }
  }

  /// The bytes under a key, computed and stored when there are none; see ``Cache``.
  public func data(
    for key: String, lifetime: CacheLifetime = .unlimited, tags: [String] = [],
    or compute: @escaping @Sendable () async throws -> Data
  ) async throws -> Data {
    if let data = remembered(key) { return data }
    let data = try await cache.data(for: key, lifetime: lifetime, tags: tags, or: compute)
    remember(key, data, lifetime)
    return data
  }

  /// Stores bytes under a key, in memory and in the file.
  public func set(
    _ key: String, _ data: Data, lifetime: CacheLifetime = .unlimited, tags: [String] = []
  ) async throws {
    memory.withLock { $0.remove(key) }
    try await cache.set(key, data, lifetime: lifetime, tags: tags)
    remember(key, data, lifetime)
  }

  /// Takes the value under a key away.
  public func invalidate(_ key: String) async throws {
    try await cache.invalidate(key)
    memory.withLock { $0.remove(key) }
  }

  /// Takes all values with a tag away.
  public func invalidate(tag: String) async throws {
    try await cache.invalidate(tag: tag)
    // Which they are, memory does not know.
    memory.withLock { $0.removeAll() }
  }

  private func remembered(_ key: String) -> Data? {
    let now = wallClock.milliseconds()
    return memory.withLock { $0.get(key, now: now) }
  }

  private func remember(_ key: String, _ data: Data, _ lifetime: CacheLifetime = .unlimited) {
    let now = wallClock.milliseconds()
    memory.withLock { $0.set(key, data, until: now + min(MemoryStore.freshMilliseconds, lifetime.milliseconds ?? .max)) }
  }
}

extension Cache {
  /// The same cache with up to that many bytes of it in memory, in front of the file.
  public func inMemory(bytes: Int) -> MemoryFirstCache { MemoryFirstCache(self, bytes: bytes, clock) }
}

/// Bytes by key up to a bound, the least recently used go first. All in constant time, on average.
struct MemoryStore {
  /// After this the file is asked again, for other processes may have written.
  static let freshMilliseconds: Int64 = 1_000

  private struct Entry {
    let data: Data
    let until: Int64
    var use: Int
  }

  private let bound: Int
  private var entries: [String: Entry] = [:]
  /// Uses in their order; those that are not an entry's last one are skipped.
  private var uses: [(key: String, use: Int)] = []
  private var firstUse = 0
  private var lastUse = 0
  private(set) var bytes = 0

  init(bound: Int) { self.bound = bound }

  mutating func get(_ key: String, now: Int64) -> Data? {
    guard let entry = entries[key] else { return nil }
    guard now < entry.until else {
      remove(key)
      return nil
    }
    noteUse(key)
    return entry.data
  }

  mutating func set(_ key: String, _ data: Data, until: Int64) {
    remove(key)
    let size = key.utf8.count + data.count
    guard size <= bound else { return }
    entries[key] = Entry(data: data, until: until, use: 0)
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
    bytes -= key.utf8.count + entry.data.count
  }

  mutating func removeAll() { self = MemoryStore(bound: bound) }

  private mutating func noteUse(_ key: String) {
    lastUse += 1
    entries[key]?.use = lastUse
    uses.append((key, lastUse))
    guard uses.count > 4 * entries.count + 64 else { return }
    uses = uses[firstUse...].filter { entries[$0.key]?.use == $0.use }
    firstUse = 0
  }
}
