import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitKeys
import GodwitStorage

/// Looks at entries without their change sets.
extension ChangeLog {
  /// The entry with the greatest number of an origin; nil when the log has none of it.
  static func lastEntry(
    of origin: Int, on connection: Connection
  ) throws -> (key: LogKey, chain: ContentHash, hlc: HLC, sums: [UInt8])? {
    let sql = "SELECT id, chain, hlc, sums FROM godwit_log WHERE id > ? ORDER BY id DESC LIMIT 1"
    return try connection.withStatement(sql) { statement in
      try statement.bind(LogKey(origin: origin, .none).rawValue, at: 1)
      guard try statement.step() else { return nil }
      var chain = ByteReader(statement.blob(at: 1))
      return (
        LogKey(rawValue: statement.integer(at: 0)), try ContentHash(reading: &chain),
        HLC(rawValue: UInt64(bitPattern: statement.integer(at: 2))), statement.blob(at: 3)
      )
    }
  }

  /// When a transaction was written; nil when the log does not have it any more.
  static func time(of key: LogKey, on connection: Connection) throws -> HLC? {
    try hlc(connection.scalar("SELECT hlc FROM godwit_log WHERE id = ?", [.integer(key.rawValue)]))
  }

  /// The greatest timestamp of an origin's transactions behind the first up to the last; nil when there are none.
  static func latest(after first: LogKey, through last: LogKey, on connection: Connection) throws -> HLC? {
    try hlc(
      connection.scalar(
        "SELECT max(hlc) FROM godwit_log WHERE id > ? AND id <= ?",
        [.integer(first.rawValue), .integer(last.rawValue)]))
  }

  private static func hlc(_ value: Value?) -> HLC? {
    guard case .integer(let stored)? = value else { return nil }
    return HLC(rawValue: UInt64(bitPattern: stored))
  }

  /// How many transactions there are; so many as the limit when there are more.
  package static func count(on connection: Connection, limit: Int = .max) throws -> Int {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM godwit_log LIMIT ?)"
    guard case .integer(let count)? = try connection.scalar(sql, [.integer(Int64(limit))]) else { return 0 }
    return Int(count)
  }

  /// What the change sets take, in bytes.
  static func byteCount(on connection: Connection) throws -> Double {
    guard case .real(let size)? = try connection.scalar("SELECT total(length(changes)) FROM godwit_log") else {
      return 0
    }
    return size
  }

  /// Whether anything was written at a version, or a later one.
  static func reaches(version: UInt64, on connection: Connection) throws -> Bool {
    try connection.scalar("SELECT 1 FROM godwit_log WHERE schema >= ? LIMIT 1", [.integer(Int64(version))]) != nil
  }
}
