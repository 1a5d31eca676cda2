import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitStorage

/// The values of conflicts (`godwit_conflict_value`). Short ones stand in the entry. Of long ones each content stands
/// once, by its hash: one large value may win or lose against thousands, and all of them would be listed with it.
final class ConflictValues {
  static let creation = """
    CREATE TABLE godwit_conflict_value (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, content BLOB NOT NULL);
    """

  /// Values with so many bytes of texts and blobs stand in their entry.
  private static let ownByteLimit = 64

  private let connection: Connection
  /// What was kept or read last: entries that meet in one row name the same values.
  private var recent: [(values: [Value], id: Int64)] = []
  private static let recentLimit = 2

  init(_ connection: Connection) { self.connection = connection }

  /// What an entry's column holds for these values: their encoding, or the number of a content.
  func column(of values: [Value]) throws -> Value {
    guard values.reduce(0, { $0 + $1.byteCount }) > Self.ownByteLimit else { return .blob(values.encoded) }
    if let known = recent.first(where: { $0.values == values }) { return .integer(known.id) }
    let bytes = values.encoded
    let hash = bytes.withUnsafeBytes { ContentHash(of: $0) }
    try connection.run(
      "INSERT OR IGNORE INTO godwit_conflict_value (hash, content) VALUES (?, ?)", [.blob(hash.bytes), .blob(bytes)])
    let id = try connection.scalar("SELECT id FROM godwit_conflict_value WHERE hash = ?", [.blob(hash.bytes)])
    guard case .integer(let id)? = id else { throw Self.lost }
    note(values, id)
    return .integer(id)
  }

  /// The values that a column of an entry stands for.
  func values(in column: Value) throws -> [Value] {
    guard case .integer(let id) = column else {
      guard case .blob(let bytes) = column else { throw Self.lost }
      return try [Value](encoded: bytes)
    }
    if let known = recent.first(where: { $0.id == id }) { return known.values }
    guard
      case .blob(let bytes)? = try connection.scalar(
        "SELECT content FROM godwit_conflict_value WHERE id = ?", [.integer(id)])
    else { throw Self.lost }
    let values = try [Value](encoded: bytes)
    note(values, id)
    return values
  }

  /// Removes what no entry names any more; called where entries have gone. Takes time in proportion to the conflict
  /// log, which is bounded.
  func sweep() throws {
    recent = []
    try connection.execute("DELETE FROM godwit_conflict_value WHERE id NOT IN (\(ConflictLog.usedContents))")
  }

  private func note(_ values: [Value], _ id: Int64) {
    if recent.count == Self.recentLimit { recent.removeFirst() }
    recent.append((values, id))
  }

  private static var lost: GodwitError { GodwitError(.damagedLog, "the conflict log has lost a value") }
}
