import GodwitBase
import GodwitCore
import GodwitStorage

/// The rows that hold writes with timestamps beyond the own clock (`godwit_ahead`), and how far beyond. An entry with
/// the empty key stands for every row, also for those that are gone.
struct AheadRows {
  static let creation = """
    CREATE TABLE godwit_ahead (key BLOB PRIMARY KEY NOT NULL, hlc INTEGER NOT NULL) WITHOUT ROWID;
    """

  private static let everyRow: [UInt8] = []

  let connection: Connection

  func remember(_ keys: [RowKey], _ hlc: HLC) throws {
    for key in keys { try remember(key.bytes, hlc) }
  }

  func rememberEveryRow(_ hlc: HLC) throws { try remember(Self.everyRow, hlc) }

  func forgetEveryRow() throws { try connection.run("DELETE FROM godwit_ahead WHERE key = ?", [.blob(Self.everyRow)]) }

  private func remember(_ key: [UInt8], _ hlc: HLC) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_ahead (key, hlc)
      VALUES (?1, max(?2, coalesce((SELECT hlc FROM godwit_ahead WHERE key = ?1), 0)))
      """, [.blob(key), .integer(Int64(hlc.rawValue))])
  }

  /// The greatest timestamp remembered of any of the rows, and with no rows of every row.
  func greatest(of keys: [RowKey]) throws -> HLC? {
    try connection.withStatement("SELECT hlc FROM godwit_ahead WHERE key = ?") { statement in
      var greatest: HLC?
      for key in CollectionOfOne(Self.everyRow) + keys.map(\.bytes) {
        try statement.bind(blob: key, at: 1)
        if try statement.step() {
          let hlc = HLC(rawValue: UInt64(bitPattern: statement.integer(at: 0)))
          greatest = max(greatest ?? hlc, hlc)
        }
        statement.reset()
      }
      return greatest
    }
  }

  /// Calls `body` with each row remembered, in their order. What stands for every row is not among them.
  func forEach(_ body: (RowKey, HLC) throws -> Void) throws {
    try connection.withStatement("SELECT key, hlc FROM godwit_ahead WHERE key > x'' ORDER BY key") { statement in
      while try statement.step() {
        try body(try RowKey(bytes: statement.blob(at: 0)), HLC(rawValue: UInt64(bitPattern: statement.integer(at: 1))))
      }
    }
  }

  /// Forgets a table's rows, which are gone or no others' any more.
  func removeAll(of table: Int) throws {
    try connection.run("DELETE FROM godwit_ahead WHERE key >= ? AND key < ?", RowKey.range(of: table))
  }

  /// Forgets what the clock has passed: its next timestamp is greater anyway.
  func forget(through hlc: HLC) throws {
    try connection.run("DELETE FROM godwit_ahead WHERE hlc <= ?", [.integer(Int64(hlc.rawValue))])
  }

  /// The latest timestamp remembered up to this one; zero without any.
  func latest(through hlc: HLC) throws -> HLC {
    let latest = try connection.scalar(
      "SELECT max(hlc) FROM godwit_ahead WHERE hlc <= ?", [.integer(Int64(hlc.rawValue))])
    guard case .integer(let time)? = latest else { return HLC(rawValue: 0) }
    return HLC(rawValue: UInt64(bitPattern: time))
  }

  func earliest() throws -> HLC? {
    guard case .integer(let time)? = try connection.scalar("SELECT min(hlc) FROM godwit_ahead") else { return nil }
    return HLC(rawValue: UInt64(bitPattern: time))
  }
}
