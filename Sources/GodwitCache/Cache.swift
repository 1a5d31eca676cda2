import Foundation
// Its errors, for a program that has the cache alone.
@_exported import GodwitBase
import GodwitFiles
import GodwitCrypto
import Logging
import Synchronization

/// A store of values by key that never leaves the machine: encrypted, bounded, and made anew when it is damaged.
///
/// ```swift
/// let thumbnails = try Cache.open(named: "thumbnails", in: folder, key: .file(keyPath), bound: .bytes(64 << 20))
/// let image = try await thumbnails.data(for: name, lifetime: .sliding(.seconds(3_600))) { try await render(name) }
/// ```
public final class Cache: Sendable {
  /// Its name.
  public let name: String
  /// How much it holds.
  public let bound: Cache.Bound

  private let file: CacheFile
  private let lockPath: String
  private let recency: CacheRecency
  private let flights = CacheFlights()
  private let statisticsHere = Mutex(Cache.Statistics())
  private let wallClock: WallClock
  private let logger: Logger

  /// Opens no file yet.
  ///
  /// - Parameter ownsFolder: Whether nobody but caches have files in the folder.
  package init(
    name: String, bound: Cache.Bound, folder: String, ownsFolder: Bool, wallClock: WallClock, logger: Logger,
    key: @escaping @Sendable () throws -> SecretBytes
  ) {
    self.name = name
    self.bound = bound
    self.wallClock = wallClock
    self.logger = logger
    // No name has a dot, so no file of one cache, SQLite's own included, is another's.
    lockPath = "\(folder)/\(name).lock"
    file = CacheFile(
      path: "\(folder)/\(name)\(Self.suffix)", lockPath: lockPath, ownsFolder: ownsFolder, key: key, logger: logger)
    recency = CacheRecency(wallClock)
  }

  /// What it holds goes, and the next use begins anew: the key has changed.
  package func discard() { file.discard() }

  /// Runs the body on the file's writer.
  func write<Output: Sendable>(_ body: @escaping @Sendable (CacheTable) throws -> Output) async throws -> Output {
    try await file.write(body)
  }

  // MARK: Reading

  /// The bytes under a key, or nil. A cache that cannot be read has none.
  ///
  /// - Throws: `closed`; `CancellationError`.
  public func data(for key: String) async throws -> Data? { try await data(for: [key])[key] }

  /// The bytes under each of these keys, for those that have any: one read for all.
  ///
  /// - Throws: As `data(for:)`.
  public func data(for keys: [String]) async throws -> [String: Data] { try await entries(keys).mapValues(\.value) }

  /// The entry under a key, or nil, with how long it lives.
  func entry(_ key: String) async throws -> CacheTable.Entry? { try await entries([key])[key] }

  private func entries(_ keys: [String]) async throws -> [String: CacheTable.Entry] {
    let now = wallClock.milliseconds()
    let found: [String: CacheTable.Entry] = try await reading(or: [:], isOne: keys.count == 1) { [recency] table in
      // What is used while the file is first read is later than what it knows of, in one transaction or not.
      try recency.begin { try table.greatestUse() }
      var found: [String: CacheTable.Entry] = [:]
      for key in keys where found[key] == nil { found[key] = try table.entry(key, now: now) }
      return found
    }
    try await noteUse(of: keys, found, now)
    return found
  }

  /// What is found under a key before it is computed.
  enum Found: Sendable {
    case entry(CacheTable.Entry)
    /// Nothing, and where a computation begins.
    case nothing(CacheInvalidations.Mark)
  }

  /// The entry under a key with how long it lives, or where a computation of it begins.
  ///
  /// - Throws: `invalidArgument` for a key or tags that no entry can have.
  func found(_ key: String, tags: [String]) async throws -> Found {
    try CacheItem.check(key, tags: tags)
    let now = wallClock.milliseconds()
    let found: Found = try await reading(or: .nothing(.none), isOne: true) { [recency] table in
      try recency.begin { try table.greatestUse() }
      if let entry = try table.entry(key, now: now) { return .entry(entry) }
      return .nothing(try table.invalidations.mark(key, tags: tags))
    }
    var entries: [String: CacheTable.Entry] = [:]
    if case .entry(let entry) = found { entries[key] = entry }
    try await noteUse(of: [key], entries, now)
    return found
  }

  private func noteUse(of keys: [String], _ found: [String: CacheTable.Entry], _ now: Int64) async throws {
    recency.use(keys.filter { found[$0] != nil })
    count { statistics in
      let hits = keys.count { found[$0] != nil }
      statistics.hits += hits
      statistics.misses += keys.count - hits
    }
    try await pushOn(found.compactMap { key, entry in entry.pushed(now: now).map { (key, $0) } })
  }

  /// Reads many values in one go, on a reader's thread: for loops that cannot wait for a task each. A cache that cannot
  /// be read has none. The body may run twice, when the file turns out to be damaged.
  ///
  /// - Throws: What the body throws; `closed`; `CancellationError`.
  public func read<Output: Sendable>(
    _ body: @escaping @Sendable (Cache.Reader) throws -> Output
  ) async throws -> Output {
    let now = wallClock.milliseconds()
    let (output, reads) = try await Cache.Reader.run(body, on: file, logger, name) { [recency] table in
      try recency.begin { try table.greatestUse() }
      return Cache.Reader(table, now: now)
    }
    recency.use(reads.hits)
    count {
      $0.hits += reads.hits.count
      $0.misses += reads.misses
    }
    try await pushOn(reads.pushed)
    return try output.get()
  }

  /// The value under a key, or nil; also when what is there is of another type.
  ///
  /// - Throws: As `data(for:)`.
  public func value<Value: Decodable & Sendable>(for key: String, as type: Value.Type = Value.self) async throws
    -> Value?
  {
    try await data(for: key).flatMap { try? CacheCoding.decode(type, $0) }
  }

  /// Whether there is a value under a key. It is no use of it.
  public func has(_ key: String) async throws -> Bool {
    let now = wallClock.milliseconds()
    return try await reading(or: false, isOne: true) { try $0.entry(key, now: now) != nil }
  }

  private func reading<Output: Sendable>(
    or nothing: Output, isOne: Bool = false, _ body: @escaping @Sendable (CacheTable) throws -> Output
  ) async throws -> Output {
    do {
      return try await isOne ? file.readOnce(body) : file.read(body)
    } catch let error as GodwitError where error.code != .closed {
      logger.warning("a cache cannot be read", metadata: ["cache": "\(name)", "error": "\(error)"])
      return nothing
    }
  }

  /// Gives entries that live from their last use on their new end.
  private func pushOn(_ due: [(String, Int64)]) async throws {
    guard !due.isEmpty else { return }
    do {
      try await write { table in
        try table.writing { _ in for (key, expires) in due { try table.setExpiry(key, expires) } }
      }
    } catch let error as GodwitError where error.code != .closed {
      logger.warning("a cache cannot be written", metadata: ["cache": "\(name)", "error": "\(error)"])
    }
  }

  // MARK: Writing

  /// Stores bytes under a key.
  ///
  /// - Parameters:
  ///   - key: 1 to 1,024 bytes of UTF-8.
  ///   - data: At most 256 MiB, and no more than the bound.
  ///   - lifetime: How long it lives.
  ///   - tags: By which it can be invalidated together with others: 64 at most, of 1 to 1,024 bytes of UTF-8 without
  ///     NUL.
  /// - Throws: `limitExceeded`, `invalidArgument`, `diskFull`, `fileAccess`, `busy`; `plaintextDatabase` and
  ///   `unsafeFile` for a file that is no cache, see ``open(named:in:key:bound:logger:)``.
  public func set(
    _ key: String, _ data: Data, lifetime: Cache.Lifetime = .unlimited, tags: [String] = []
  ) async throws {
    try await set([CacheItem(key: key, value: data, lifetime: lifetime, tags: tags)])
  }

  /// Stores bytes under many keys in one transaction.
  ///
  /// - Throws: As `set(_:_:)`.
  public func set(
    _ values: [String: Data], lifetime: Cache.Lifetime = .unlimited, tags: [String] = []
  ) async throws {
    try await set(values.map { CacheItem(key: $0, value: $1, lifetime: lifetime, tags: tags) })
  }

  /// Stores a Codable value under a key.
  ///
  /// - Throws: `valueNotStorable` for what JSON has no form for; otherwise as `set(_:_:)`.
  public func set(
    _ key: String, value: some Encodable & Sendable, lifetime: Cache.Lifetime = .unlimited, tags: [String] = []
  ) async throws {
    try await set(key, CacheCoding.encode(value), lifetime: lifetime, tags: tags)
  }

  /// With a mark, only what has not been invalidated since then.
  private func set(_ items: [CacheItem], since mark: CacheInvalidations.Mark? = nil) async throws {
    for item in items { try item.check(bound) }
    let now = wallClock.milliseconds()
    let (sets, evicted) = try await write { [recency, bound] table in
      var (sets, evicted) = (0, 0)
      recency.follow(try table.greatestUse())
      try table.writing { total in
        for item in items {
          if let mark, try !table.invalidations.isQuiet(item.key, tags: item.tags, since: mark) { continue }
          try table.set(item, used: recency.tick(), now: now, &total)
          sets += 1
        }
        evicted = try table.makeRoom(within: bound, now: now, recency, &total)
      }
      return (sets, evicted)
    }
    count {
      $0.sets += sets
      $0.evictions += evicted
    }
  }

  /// Takes the value under a key away. A computation of it that is under way, in whatever process, gives its value to
  /// those who wait for it, and it is not kept; who asks from now on has it computed anew.
  ///
  /// - Throws: `diskFull`, `fileAccess`, `busy`, `plaintextDatabase`, `unsafeFile`, as `set(_:_:)`.
  public func invalidate(_ key: String) async throws {
    guard CacheItem.isKey(key) else { return }
    recency.forget(key)
    try await write { table in
      try table.writing { total in
        try table.invalidations.note(.key(key))
        try table.remove(key, &total)
      }
    }
  }

  /// Takes all values with a tag away; of computations, and with the errors, as `invalidate(_:)`.
  public func invalidate(tag: String) async throws {
    guard CacheItem.isTag(tag) else { return }
    try await write { table in
      try table.writing { total in
        try table.invalidations.note(.tag(tag))
        for key in try table.keys(tagged: tag) { try table.remove(key, &total) }
      }
    }
  }

  /// Takes everything away; of computations, and with the errors, as `invalidate(_:)`.
  public func removeAll() async throws {
    try await write { table in
      try table.writing { total in
        try table.invalidations.note(.everything)
        try table.removeAll()
        total = try table.total()
      }
    }
  }

  // MARK: Get or compute

  /// The bytes under a key; computed and stored when there are none, once for all who ask meanwhile, in this process
  /// and in others.
  ///
  /// A cache that cannot be written gives the value all the same.
  ///
  /// - Throws: `invalidArgument` for a key or tags that no entry can have, before anything is computed; what the
  ///   computation throws, to everybody who waited for it; `CancellationError`.
  public func data(
    for key: String, lifetime: Cache.Lifetime = .unlimited, tags: [String] = [],
    or compute: @escaping @Sendable () async throws -> Data
  ) async throws -> Data {
    switch try await found(key, tags: tags) {
    case .entry(let entry): return entry.value
    case .nothing(let mark): return try await computed(key, since: mark, lifetime, tags, compute)
    }
  }

  /// The bytes under a key that had none at the mark.
  func computed(
    _ key: String, since mark: CacheInvalidations.Mark, _ lifetime: Cache.Lifetime, _ tags: [String],
    _ compute: @escaping @Sendable () async throws -> Data
  ) async throws -> Data {
    let goal = CacheFlights.Goal(key: key, invalidation: mark.last)
    return try await flights.value(for: goal) { [self] in
      let lock = try await lock(goal)
      defer { withExtendedLifetime(lock) {} }
      // Another process may have been faster.
      let start: CacheInvalidations.Mark
      switch try await found(key, tags: tags) {
      case .entry(let entry): return entry.value
      case .nothing(let mark): start = mark
      }
      let data = try await compute()
      do {
        let item = CacheItem(key: key, value: data, lifetime: lifetime, tags: tags)
        try await set([item], since: start)
      } catch let error as GodwitError where error.code != .invalidArgument {
        logger.warning("a value is not cached", metadata: ["cache": "\(name)", "error": "\(error)"])
      }
      return data
    }
  }

  /// The value under a key, computed and stored when there is none; see `data(for:or:)`.
  public func value<Value: Codable & Sendable>(
    for key: String, lifetime: Cache.Lifetime = .unlimited, tags: [String] = [],
    or compute: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let data = try await data(for: key, lifetime: lifetime, tags: tags) { try CacheCoding.encode(try await compute()) }
    if let value = try? CacheCoding.decode(Value.self, data) { return value }
    // What lies there is of another type, unless somebody else has seen to that by now.
    do {
      try await write { table in try table.writing { total in try table.remove(key, holding: data, &total) } }
    } catch let error as GodwitError where error.code != .closed {
      logger.warning("a cache cannot be written", metadata: ["cache": "\(name)", "error": "\(error)"])
      return try await compute()
    }
    let fresh = try await self.data(for: key, lifetime: lifetime, tags: tags) {
      try CacheCoding.encode(try await compute())
    }
    return try CacheCoding.decode(Value.self, fresh)
  }

  /// Waits for the lock on a key, which another process may hold; nil when the file system has none to give.
  private func lock(_ goal: CacheFlights.Goal) async throws -> ByteLock? {
    let text = "\(goal.invalidation) \(CacheTable.written(goal.key))"
    let hash = Array(text.utf8).withUnsafeBytes { ContentHash(of: $0) }
    let byte = hash.bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) } & (1 << 62 - 1)
    var pause = Duration.milliseconds(1)
    while true {
      do {
        if let lock = try ByteLock.take(lockPath, byte: byte) { return lock }
      } catch {
        logger.warning("a cache has no lock", metadata: ["cache": "\(name)", "error": "\(error)"])
        return nil
      }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }

  // MARK: Care

  /// How the cache fares.
  public func statistics() async throws -> Cache.Statistics {
    let total = try await reading(or: CacheTable.Total(entries: 0, bytes: 0)) { try $0.total() }
    var statistics = statisticsHere.withLock { $0 }
    statistics.entries = Int(total.entries)
    statistics.bytes = Int(total.bytes)
    return statistics
  }

  var clock: WallClock { wallClock }

  private func count(_ body: (inout Cache.Statistics) -> Void) { statisticsHere.withLock { body(&$0) } }

  /// Writes down when entries were last used, and closes the file. Use that begins after this throws `closed`. A
  /// replica's caches close with it.
  public func close() async {
    await file.close { [recency] table in
      let ticks = recency.takeAll()
      guard !ticks.isEmpty else { return }
      try? table.writing { _ in for (key, tick) in ticks { try table.setUsed(key, tick) } }
    }
  }
}
