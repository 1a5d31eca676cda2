import GodwitBase
import GodwitStorage

/// What has been invalidated lately, in every process: a computation that began before stores nothing, and who asks
/// later does not wait for it (Specs/cache.md, "Get or compute").
struct CacheInvalidations {
  let connection: Connection

  /// Of so many the file knows what they concerned; one that came before them counts for every key.
  static let memory: Int64 = 4_096

  enum Scope {
    case key(String)
    case tag(String)
    case everything

    /// Keys and tags as the file has them.
    var name: String {
      switch self {
      case .key(let key): "k\(CacheTable.written(key))"
      case .tag(let tag): "t\(CacheTable.written(tag))"
      case .everything: ""
      }
    }
  }

  /// A place in the course of invalidations.
  struct Mark: Hashable, Sendable {
    /// The number of the last of all.
    var count: Int64
    /// The number of the last that concerned a key; 0 when none is known.
    var last: Int64

    static let none = Mark(count: 0, last: 0)
  }

  /// To be called inside a transaction.
  func note(_ scope: Scope) throws {
    let number = try count() + 1
    try connection.run("UPDATE total SET invalidations = ?", [.integer(number)])
    try connection.run(
      "INSERT OR REPLACE INTO invalidation (name, number) VALUES (?, ?)", [.text(scope.name), .integer(number)])
    try connection.run("DELETE FROM invalidation WHERE number <= ?", [.integer(number - Self.memory)])
  }

  private func count() throws -> Int64 {
    guard case .integer(let count)? = try connection.scalar("SELECT invalidations FROM total") else {
      throw GodwitError(.damagedDatabase, "the cache has lost its total")
    }
    return count
  }

  /// Where a value of this key and these tags stands now. Of an invalidation that comes while this is read the last
  /// may know and the count not, which makes nothing newer than it is.
  func mark(_ key: String, tags: [String]) throws -> Mark {
    let count = try count()
    let scopes = [.everything, .key(key)] + tags.map { Scope.tag($0) }
    return try connection.withStatement("SELECT number FROM invalidation WHERE name = ?") { statement in
      var last: Int64 = 0
      for scope in scopes {
        try statement.bind(scope.name, at: 1)
        if try statement.step() { last = max(last, statement.integer(at: 0)) }
        statement.reset()
      }
      return Mark(count: count, last: last)
    }
  }

  /// Whether nothing that concerns the key has been invalidated since the mark was read, as far as is known.
  func isQuiet(_ key: String, tags: [String], since mark: Mark) throws -> Bool {
    let now = try self.mark(key, tags: tags)
    return now.last <= mark.count && now.count - Self.memory <= mark.count
  }
}
