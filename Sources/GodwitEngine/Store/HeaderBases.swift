import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitStorage
import GodwitSyncFile

/// Headers that others at remotes build on (`godwit_base`; Specs/remotes.md, "Large groups").
package struct HeaderBases {
  static let creation = """
    CREATE TABLE godwit_base (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, sender BLOB NOT NULL,
      header BLOB NOT NULL, used INTEGER NOT NULL);
    """

  /// How long one is kept that nothing has used, in milliseconds.
  private static let patience: Int64 = 60 * 86_400_000
  /// After how long a use is noted again.
  private static let precision: Int64 = 86_400_000

  let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// The header without what it says that others acknowledge; nil for one that is not here.
  package func find(_ hash: ContentHash, in group: GroupID) throws -> SyncFileHeader? {
    let found = try connection.withStatement("SELECT sender, header FROM godwit_base WHERE hash = ?") { statement in
      try statement.bind([.blob(hash.bytes)])
      return try statement.step() ? (sender: statement.blob(at: 0), header: statement.blob(at: 1)) : nil
    }
    guard let found else { return nil }
    var (sender, header) = (ByteReader(found.sender), ByteReader(found.header))
    return try SyncFileHeader(
      reading: &header, from: ReplicaID(try Identifier128(reading: &sender)), in: group, isBase: true)
  }

  /// Of its header; 0 for one that is not here.
  package func byteCount(of hash: ContentHash) throws -> Int {
    guard
      case .integer(let count)? = try connection.scalar(
        "SELECT length(header) FROM godwit_base WHERE hash = ?", [.blob(hash.bytes)])
    else { return 0 }
    return Int(count)
  }

  /// Of all that are here.
  package func hashes() throws -> [ContentHash] {
    try connection.withStatement("SELECT hash FROM godwit_base") { statement in
      var hashes: [ContentHash] = []
      while try statement.step() { if let hash = ContentHash(bytes: statement.blob(at: 0)) { hashes.append(hash) } }
      return hashes
    }
  }

  /// Keeps a header's bytes, and forgets what nothing has used for long.
  ///
  /// - Parameter now: Milliseconds since 1970 UTC.
  package func keep(_ header: [UInt8], by sender: ReplicaID, at now: Int64) throws {
    var writer = ByteWriter()
    sender.value.write(to: &writer)
    let hash = header.withUnsafeBytes { ContentHash(of: $0) }
    try connection.run(
      "INSERT OR REPLACE INTO godwit_base (hash, sender, header, used) VALUES (?, ?, ?, ?)",
      [.blob(hash.bytes), .blob(writer.bytes), .blob(header), .integer(now)])
    try connection.run("DELETE FROM godwit_base WHERE abs(? - used) > ?", [.integer(now), .integer(Self.patience)])
  }

  /// Notes that a file builds on one.
  package func use(_ hash: ContentHash, at now: Int64) throws {
    try connection.run(
      "UPDATE godwit_base SET used = ?1 WHERE hash = ?2 AND abs(?1 - used) > ?3",
      [.integer(now), .blob(hash.bytes), .integer(Self.precision)])
  }
}
