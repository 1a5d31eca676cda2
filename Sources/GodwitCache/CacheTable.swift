import Foundation
import GodwitBase
import GodwitStorage

/// The statements on a cache's file (Specs/cache.md, "File").
struct CacheTable {
  let connection: Connection

  static let layoutVersion: Int64 = 2
  /// Expired entries that a write takes away beside its own work.
  private static let expiredPerWrite = 16
  /// Entries that an eviction looks at, and so writes, however many have been read since the last.
  private static let candidateLimit = 16

  // What is read without the value stands ahead of it, so that its overflow pages stay out of it. A new file counts
  // invalidations from beyond any number of one that was thrown away.
  private static let creation = """
    CREATE TABLE entry (key TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL, expires INTEGER,
      sliding INTEGER, tags TEXT, value BLOB NOT NULL);
    CREATE INDEX entry_used ON entry (used);
    CREATE INDEX entry_expires ON entry (expires) WHERE expires IS NOT NULL;
    CREATE TABLE tag (name TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (name, key)) WITHOUT ROWID;
    CREATE TABLE invalidation (name TEXT PRIMARY KEY NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX invalidation_number ON invalidation (number);
    CREATE TABLE total (entries INTEGER NOT NULL, bytes INTEGER NOT NULL, invalidations INTEGER NOT NULL);
    INSERT INTO total VALUES (0, 0, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) << 20);
    PRAGMA user_version = 2;
    """

  struct Total: Equatable {
    var entries: Int64
    var bytes: Int64
  }

  struct Entry {
    let value: Data
    let expires: Int64?
    let sliding: Int64?

    /// The new end of an entry that lives from its last use on, once half of its time has passed.
    func pushed(now: Int64) -> Int64? {
      guard let sliding, let expires, expires - now <= sliding / 2 else { return nil }
      return now + sliding
    }
  }

  /// A key or tag as the file has it: two that Swift, and so memory, holds for the same are one.
  static func written(_ key: String) -> String {
    key.utf8.allSatisfy { $0 < 0x80 } ? key : key.precomposedStringWithCanonicalMapping
  }

  /// Makes the tables in an empty file. Throws `unsupportedVersion` for another layout.
  static func prepare(_ connection: Connection) throws {
    let version = try connection.scalar("PRAGMA user_version")
    guard version != .integer(layoutVersion) else { return }
    try connection.writing {
      // Another process may have been faster.
      let version = try connection.scalar("PRAGMA user_version")
      if version == .integer(0) {
        try connection.execute(creation)
      } else if version != .integer(layoutVersion) {
        throw GodwitError(.unsupportedVersion, "the cache has another layout")
      }
    }
  }

  // MARK: Reading

  /// The entry, unless it has expired.
  func entry(_ key: String, now: Int64) throws -> Entry? {
    try connection.withStatement("SELECT expires, sliding, value FROM entry WHERE key = ?") { statement in
      try statement.bind(Self.written(key), at: 1)
      guard try statement.step() else { return nil }
      let expires = statement.isNull(at: 0) ? nil : statement.integer(at: 0)
      if let expires, expires <= now { return nil }
      let value = statement.withBytes(at: 2) { Data($0) }
      return Entry(value: value, expires: expires, sliding: statement.isNull(at: 1) ? nil : statement.integer(at: 1))
    }
  }

  /// The tick of the latest use that the file knows of.
  func greatestUse() throws -> Int64 {
    if case .integer(let tick)? = try connection.scalar("SELECT max(used) FROM entry") { return tick }
    return 0
  }

  func total() throws -> Total {
    try connection.withStatement("SELECT entries, bytes FROM total") { statement in
      guard try statement.step() else { throw GodwitError(.damagedDatabase, "the cache has lost its total") }
      return Total(entries: statement.integer(at: 0), bytes: statement.integer(at: 1))
    }
  }

  // MARK: Writing

  /// Runs the body in a transaction that keeps the total.
  func writing(_ body: (inout Total) throws -> Void) throws {
    try connection.writing {
      let before = try total()
      var total = before
      try body(&total)
      if total != before {
        try connection.run("UPDATE total SET entries = ?, bytes = ?", [.integer(total.entries), .integer(total.bytes)])
      }
    }
  }

  func set(_ item: CacheItem, used: Int64, now: Int64, _ total: inout Total) throws {
    let size = Int64(item.key.utf8.count + item.value.count)
    let old = try sizeAndTags(item.key)
    let sql =
      old == nil
      ? "INSERT OR FAIL INTO entry (size, used, expires, sliding, tags, value, key) VALUES (?, ?, ?, ?, ?, ?, ?)"
      : "UPDATE OR FAIL entry SET size = ?, used = ?, expires = ?, sliding = ?, tags = ?, value = ? WHERE key = ?"
    try connection.withStatement(sql) { statement in
      try statement.bind(size, at: 1)
      try statement.bind(used, at: 2)
      let milliseconds = item.lifetime.milliseconds
      if let milliseconds { try statement.bind(now + milliseconds, at: 3) }
      if let milliseconds, item.lifetime.isSliding { try statement.bind(milliseconds, at: 4) }
      if !item.tags.isEmpty { try statement.bind(item.tags.joined(separator: "\0"), at: 5) }
      try item.value.withUnsafeBytes { bytes in
        try statement.bindBorrowed(blob: bytes, at: 6)
        try statement.bind(item.key, at: 7)
        try statement.run()
      }
    }
    total.entries += old == nil ? 1 : 0
    total.bytes += size - (old?.size ?? 0)
    if let tags = old?.tags { try untag(item.key, tags) }
    for tag in Set(item.tags) {
      try connection.run("INSERT OR FAIL INTO tag (name, key) VALUES (?, ?)", [.text(tag), .text(item.key)])
    }
  }

  private func sizeAndTags(_ key: String) throws -> (size: Int64, tags: String?)? {
    try connection.withStatement("SELECT size, tags FROM entry WHERE key = ?") { statement in
      try statement.bind(key, at: 1)
      guard try statement.step() else { return nil }
      return (statement.integer(at: 0), statement.isNull(at: 1) ? nil : try statement.text(at: 1))
    }
  }

  private func untag(_ key: String, _ tags: String) throws {
    for tag in Set(tags.split(separator: "\0").map(String.init)) {
      try connection.run("DELETE FROM tag WHERE name = ? AND key = ?", [.text(tag), .text(key)])
    }
  }

  /// Whether there was one.
  @discardableResult
  func remove(_ key: String, _ total: inout Total) throws -> Bool {
    let key = Self.written(key)
    guard let old = try sizeAndTags(key) else { return false }
    try connection.run("DELETE FROM entry WHERE key = ?", [.text(key)])
    if let tags = old.tags { try untag(key, tags) }
    total.entries -= 1
    total.bytes -= old.size
    return true
  }

  /// Removes the entry if it still holds this value.
  func remove(_ key: String, holding value: Data, _ total: inout Total) throws {
    let isSame = try connection.withStatement("SELECT value FROM entry WHERE key = ?") { statement in
      try statement.bind(Self.written(key), at: 1)
      guard try statement.step() else { return false }
      return statement.withBytes(at: 0) { value.elementsEqual($0) }
    }
    if isSame { try remove(key, &total) }
  }

  func keys(tagged tag: String) throws -> [String] {
    try keys("SELECT key FROM tag WHERE name = ?", [.text(Self.written(tag))])
  }

  var invalidations: CacheInvalidations { CacheInvalidations(connection: connection) }

  /// Removes those that expired first, ``expiredPerWrite`` at most, and returns whether there may be more.
  private func removeExpired(now: Int64, _ total: inout Total) throws -> Bool {
    let limit = Value.integer(Int64(Self.expiredPerWrite))
    let sql = "SELECT key FROM entry WHERE expires <= ? ORDER BY expires LIMIT ?"
    let expired = try keys(sql, [.integer(now), limit])
    for key in expired { try remove(key, &total) }
    return expired.count == Self.expiredPerWrite
  }

  private func keys(_ sql: String, _ values: [Value]) throws -> [String] {
    try connection.withStatement(sql) { statement in
      try statement.bind(values)
      var keys: [String] = []
      while try statement.step() { keys.append(try statement.text(at: 0)) }
      return keys
    }
  }

  /// Removes some of what has expired, and more of it, then the least recently used entries, until the bound holds;
  /// returns how many of these. Entries before one of them of which memory knows a later use take their places in the
  /// file, ``candidateLimit`` at most for each that goes.
  func makeRoom(
    within bound: Cache.Bound, now: Int64, _ recency: CacheRecency, _ total: inout Total
  ) throws -> Int {
    var evicted = 0
    while try removeExpired(now: now, &total), bound.isExceeded(total) {}
    while bound.isExceeded(total) {
      let candidates = try candidates(recency)
      guard let victim = candidates.min(by: { $0.tick < $1.tick }) else { break }
      for entry in candidates where entry.isNews && entry.key != victim.key { try setUsed(entry.key, entry.tick) }
      try remove(victim.key, &total)
      evicted += 1
    }
    return evicted
  }

  /// The entries that the file holds for the oldest, up to the first that has not been used since: with the ticks of
  /// their last uses, and whether they are news to the file.
  private func candidates(_ recency: CacheRecency) throws -> [(key: String, tick: Int64, isNews: Bool)] {
    try connection.withStatement("SELECT key, used FROM entry ORDER BY used LIMIT ?") { statement in
      try statement.bind(Int64(Self.candidateLimit), at: 1)
      var entries: [(key: String, tick: Int64, isNews: Bool)] = []
      while try statement.step() {
        let (key, stored) = (try statement.text(at: 0), statement.integer(at: 1))
        let later = recency.take(key, after: stored)
        entries.append((key, later ?? stored, later != nil))
        if later == nil { break }
      }
      return entries
    }
  }

  func setUsed(_ key: String, _ tick: Int64) throws {
    try connection.run(
      "UPDATE OR FAIL entry SET used = ? WHERE key = ? AND used < ?1", [.integer(tick), .text(Self.written(key))])
  }

  func setExpiry(_ key: String, _ expires: Int64) throws {
    // Meanwhile there may be another value under the key, which keeps the expiry that it was given.
    try connection.run(
      "UPDATE OR FAIL entry SET expires = ? WHERE key = ? AND expires < ?1 AND ?1 - expires <= sliding",
      [.integer(expires), .text(Self.written(key))])
  }

  func removeAll() throws {
    try connection.execute("DELETE FROM entry; DELETE FROM tag; UPDATE total SET entries = 0, bytes = 0")
  }
}
