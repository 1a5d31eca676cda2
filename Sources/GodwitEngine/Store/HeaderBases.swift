import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitStorage
import GodwitSyncFile

/// Headers that others at remotes build on (`godwit_base`; Specs/remotes.md, "Large groups"). One is whole, or builds
/// on a whole one itself.
package struct HeaderBases {
  static let creation = """
    CREATE TABLE godwit_base (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, sender BLOB NOT NULL,
      base BLOB, used INTEGER NOT NULL, header BLOB NOT NULL);
    """

  /// How long one is kept that nothing has used, in milliseconds: who needs it later finds it at the remote.
  private static let patience: Int64 = 10 * 86_400_000
  /// After how long a use is noted again.
  private static let precision: Int64 = 86_400_000

  let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// One that is here.
  package struct Entry {
    package let hash: ContentHash
    /// What it builds on; nil for a whole one.
    package let base: ContentHash?
    /// Of its header, as it is kept.
    package let byteCount: Int
  }

  /// The header without what it says that others acknowledge; nil for one that is not here.
  ///
  /// - Parameter findRoot: Finds the whole header that a short one builds on.
  package func find(
    _ hash: ContentHash, in group: GroupID, findRoot: ((ContentHash) throws -> SyncFileHeader?)? = nil
  ) throws -> SyncFileHeader? {
    let sql = "SELECT sender, base, header FROM godwit_base WHERE hash = ?"
    let found = try connection.withStatement(sql) { statement in
      try statement.bind([.blob(hash.bytes)])
      return try statement.step()
        ? (sender: statement.blob(at: 0), base: statement.blob(at: 1), header: statement.blob(at: 2)) : nil
    }
    guard let found else { return nil }
    var (senderBytes, reader) = (ByteReader(found.sender), ByteReader(found.header))
    let sender = ReplicaID(try Identifier128(reading: &senderBytes))
    guard let base = ContentHash(bytes: found.base) else {
      return try SyncFileHeader(reading: &reader, from: sender, in: group, isBase: true)
    }
    guard try isWhole(base), let root = try findRoot?(base) ?? find(base, in: group) else { return nil }
    return try SyncFileHeader(readingShort: &reader, from: sender, in: group) { $0 == base ? root : nil }
  }

  private func isWhole(_ hash: ContentHash) throws -> Bool {
    let sql = "SELECT 1 FROM godwit_base WHERE hash = ? AND base IS NULL"
    return try connection.scalar(sql, [.blob(hash.bytes)]) != nil
  }

  /// All that are here, the latest first.
  package func all() throws -> [Entry] {
    try connection.withStatement("SELECT hash, base, length(header) FROM godwit_base ORDER BY id DESC") { statement in
      var entries: [Entry] = []
      while try statement.step() {
        guard let hash = ContentHash(bytes: statement.blob(at: 0)) else { continue }
        entries.append(
          Entry(
            hash: hash, base: ContentHash(bytes: statement.blob(at: 1)), byteCount: Int(statement.integer(at: 2))))
      }
      return entries
    }
  }

  /// What one that is here builds on; nil for a whole one.
  package func base(of hash: ContentHash) throws -> ContentHash? {
    guard
      case .blob(let bytes)? = try connection.scalar("SELECT base FROM godwit_base WHERE hash = ?", [.blob(hash.bytes)])
    else { return nil }
    return ContentHash(bytes: bytes)
  }

  /// Keeps a header as it stands in its file, and forgets what nothing has used for long. Returns the hash by which
  /// others name it: that of the whole header. Nil for one of which the base is not here. On one that is not whole it
  /// is kept whole itself, so that a member which makes a whole one anew as a short one keeps nobody from building on
  /// it.
  ///
  /// - Parameters:
  ///   - base: What it builds on; nil for a whole one.
  ///   - now: Milliseconds since 1970 UTC.
  ///   - findRoot: Finds what it builds on where that was read before and is not kept any more.
  package func keep(
    _ header: [UInt8], on base: ContentHash?, by sender: ReplicaID, in group: GroupID, at now: Int64,
    findRoot: ((ContentHash) throws -> SyncFileHeader?)? = nil
  ) throws -> ContentHash? {
    var kept = (header: header, base: base)
    if let base {
      guard let root = try findRoot?(base) ?? find(base, in: group) else { return nil }
      var (reader, whole) = (ByteReader(header), ByteWriter())
      try SyncFileHeader(readingShort: &reader, from: sender, in: group) { _ in root }.write(to: &whole)
      if try !isWhole(base) { kept = (whole.bytes, nil) }
      let hash = whole.bytes.withUnsafeBytes { ContentHash(of: $0) }
      if try !isWhole(hash) { try insert(hash, kept.header, on: kept.base, by: sender, at: now) }
      try use(hash, at: now)
      return hash
    }
    let hash = header.withUnsafeBytes { ContentHash(of: $0) }
    try insert(hash, header, on: nil, by: sender, at: now)
    return hash
  }

  private func insert(
    _ hash: ContentHash, _ header: [UInt8], on base: ContentHash?, by sender: ReplicaID, at now: Int64
  ) throws {
    var writer = ByteWriter()
    sender.value.write(to: &writer)
    try connection.run(
      "INSERT OR REPLACE INTO godwit_base (hash, sender, base, used, header) VALUES (?, ?, ?, ?, ?)",
      [
        .blob(hash.bytes), .blob(writer.bytes), base.map { .blob($0.bytes) } ?? .null, .integer(now), .blob(header),
      ])
    try connection.run("DELETE FROM godwit_base WHERE abs(? - used) > ?", [.integer(now), .integer(Self.patience)])
  }

  /// Notes that a file builds on one, and so on what that builds on.
  package func use(_ hash: ContentHash, at now: Int64) throws {
    try connection.run(
      """
      UPDATE godwit_base SET used = ?1
      WHERE (hash = ?2 OR hash = (SELECT base FROM godwit_base WHERE hash = ?2)) AND abs(?1 - used) > ?3
      """,
      [.integer(now), .blob(hash.bytes), .integer(Self.precision)])
  }
}
