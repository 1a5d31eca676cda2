import GodwitBase
import GodwitReplication
import GodwitStorage

/// The rows that hold writes with timestamps beyond the own clock (`godwit_ahead`), and how far beyond.
struct AheadRows {
  let connection: Connection

  func remember(_ keys: [RowKey], _ hlc: HLC) throws {
    let time = Int64(hlc.rawValue)
    for key in keys {
      try connection.run(
        """
        INSERT OR REPLACE INTO godwit_ahead (key, hlc)
        VALUES (?1, max(?2, coalesce((SELECT hlc FROM godwit_ahead WHERE key = ?1), 0)))
        """, [.blob(key.bytes), .integer(time)])
    }
  }

  /// The greatest timestamp remembered of any of the rows.
  func greatest(of keys: [RowKey]) throws -> HLC? {
    try connection.withStatement("SELECT hlc FROM godwit_ahead WHERE key = ?") { statement in
      var greatest: HLC?
      for key in keys {
        try statement.bind(blob: key.bytes, at: 1)
        if try statement.step() {
          let hlc = HLC(rawValue: UInt64(bitPattern: statement.integer(at: 0)))
          greatest = max(greatest ?? hlc, hlc)
        }
        statement.reset()
      }
      return greatest
    }
  }

  /// Forgets what the clock has passed: its next timestamp is greater anyway.
  func forget(through hlc: HLC) throws {
    try connection.run("DELETE FROM godwit_ahead WHERE hlc <= ?", [.integer(Int64(hlc.rawValue))])
  }

  func earliest() throws -> HLC? {
    guard case .integer(let time)? = try connection.scalar("SELECT min(hlc) FROM godwit_ahead") else { return nil }
    return HLC(rawValue: UInt64(bitPattern: time))
  }
}
