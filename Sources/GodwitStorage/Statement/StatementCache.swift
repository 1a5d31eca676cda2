import Foundation

/// Prepared statements at rest, the least recently used dropped first.
struct StatementCache {
  /// Texts are the same when their bytes are: to Swift "é" in its two spellings is one.
  private struct Key: Hashable {
    let sql: String
    let authority: Authority

    static func == (left: Self, right: Self) -> Bool {
      left.authority == right.authority && StatementCache.areSame(left.sql, right.sql)
    }
  }

  private static func areSame(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    let isSame = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in
        guard let start = left.baseAddress, let other = right.baseAddress else { return true }
        return start == other || memcmp(start, other, left.count) == 0
      } ?? false
    }
    return isSame ?? left.utf8.elementsEqual(right.utf8)
  }

  private static let capacity = 128
  private static let recentCapacity = 4
  /// The last ones put back, the latest at the end. A loop uses few statements, whose texts are the same objects each
  /// time: these are compared in no time, while to hash a text takes as long as to step a small statement.
  private var recent: [Statement] = []
  private var idle: [Key: (statement: Statement, usedAt: UInt64)] = [:]
  private var clock: UInt64 = 0

  /// Takes the statement out, so that a nested use of the same SQL gets one of its own.
  mutating func take(_ sql: String, _ authority: Authority) -> Statement? {
    if let index = recent.lastIndex(where: { $0.authority == authority && Self.areSame($0.sql, sql) }) {
      return recent.remove(at: index)
    }
    return idle.removeValue(forKey: Key(sql: sql, authority: authority))?.statement
  }

  mutating func put(_ statement: Statement) {
    recent.append(statement)
    guard recent.count > Self.recentCapacity else { return }
    let leaving = recent.removeFirst()
    clock += 1
    idle[Key(sql: leaving.sql, authority: leaving.authority)] = (leaving, clock)
    if idle.count > Self.capacity, let oldest = idle.min(by: { $0.value.usedAt < $1.value.usedAt })?.key {
      idle.removeValue(forKey: oldest)
    }
  }

  mutating func removeAll() {
    recent.removeAll()
    idle.removeAll()
  }
}
