/// Prepared statements at rest, the least recently used dropped first.
struct StatementCache {
  private struct Key: Hashable {
    let sql: String
    let authority: Authority
  }
  private static let capacity = 128
  private var idle: [Key: (statement: Statement, usedAt: UInt64)] = [:]
  private var clock: UInt64 = 0

  /// Takes the statement out, so that a nested use of the same SQL gets one of its own.
  mutating func take(_ sql: String, _ authority: Authority) -> Statement? {
    idle.removeValue(forKey: Key(sql: sql, authority: authority))?.statement
  }

  mutating func put(_ statement: Statement) {
    clock += 1
    idle[Key(sql: statement.sql, authority: statement.authority)] = (statement, clock)
    if idle.count > Self.capacity, let oldest = idle.min(by: { $0.value.usedAt < $1.value.usedAt })?.key {
      idle.removeValue(forKey: oldest)
    }
  }

  mutating func removeAll() { idle.removeAll() }
}
