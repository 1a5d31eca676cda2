import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitStorage
import GodwitSyncFile

/// The latest signed acknowledgement of each incarnation, to be passed on, and weighed here once all that it names is
/// held (`godwit_signed_acknowledgement`; Specs/forgetting.md, "Acknowledgements pass from hand to hand").
package struct SignedAcknowledgements {
  /// What is long comes last: of a row's beginning SQLite reads no further pages.
  static let creation = """
    CREATE TABLE godwit_signed_acknowledgement (replica BLOB NOT NULL, incarnation INTEGER NOT NULL,
      pending INTEGER NOT NULL, differs INTEGER NOT NULL DEFAULT 0, members BLOB NOT NULL, bytes BLOB NOT NULL,
      PRIMARY KEY (replica, incarnation)) WITHOUT ROWID;
    """

  let connection: Connection

  package init(connection: Connection) { self.connection = connection }

  /// More incarnations than a member has in use at a time; one that signs for more fills nobody's database.
  private static let incarnationLimit: Int64 = 64
  /// What all acknowledgements of a member may take: each names every origin there is, and who makes a whole file
  /// reads them all.
  private static let byteLimit: Int64 = 4 << 20

  /// Whose there are, rising.
  func origins() throws -> [Origin] {
    try readOrigins("SELECT replica, incarnation FROM godwit_signed_acknowledgement ORDER BY 1, 2")
  }

  private func readOrigins(_ sql: String) throws -> [Origin] {
    try connection.withStatement(sql) { statement in
      var origins: [Origin] = []
      while try statement.step() { origins.append(try Origin(columnsOf: statement)) }
      return origins
    }
  }

  /// That of one incarnation.
  func latest(of origin: Origin) throws -> SignedAcknowledgement? {
    let sql = "SELECT bytes FROM godwit_signed_acknowledgement WHERE replica = ? AND incarnation = ?"
    guard case .blob(let bytes)? = try connection.scalar(sql, origin.columns) else { return nil }
    var reader = ByteReader(bytes)
    return try SignedAcknowledgement(reading: &reader)
  }

  /// All whom some maker knew as members: makers mostly know the same, which is read once.
  func members() throws -> Set<ReplicaID> {
    let sql = "SELECT replica, min(incarnation) FROM godwit_signed_acknowledgement GROUP BY members"
    return try readOrigins(sql).reduce(into: []) { members, origin in
      members.formUnion(try latest(of: origin)?.members.keys.map { $0 } ?? [])
    }
  }

  /// Whose were not weighed yet, rising.
  func pending() throws -> [Origin] {
    try readOrigins("SELECT replica, incarnation FROM godwit_signed_acknowledgement WHERE pending ORDER BY 1, 2")
  }

  /// Keeps an acknowledgement that replaces the one kept before, if it is trusted; returns whether it is kept.
  func take(_ acknowledgement: SignedAcknowledgement, if isTrusted: (SignedAcknowledgement) -> Bool) throws -> Bool {
    try take(acknowledgement, if: isTrusted, isPending: true) {
      Acknowledgement(acknowledgement).replaces(Acknowledgement($0))
    }
  }

  /// Remembers when the writing replica last said something: what it says next must be later, whatever its clock says
  /// now.
  func takeOwn(_ acknowledgement: SignedAcknowledgement, if isTrusted: (SignedAcknowledgement) -> Bool) throws {
    _ = try take(acknowledgement, if: isTrusted, isPending: false) { acknowledgement.createdAt > $0.createdAt }
  }

  private func take(
    _ acknowledgement: SignedAcknowledgement, if isTrusted: (SignedAcknowledgement) -> Bool, isPending: Bool,
    replacing isNewer: (SignedAcknowledgement) -> Bool
  ) throws -> Bool {
    var writer = ByteWriter(capacity: 512)
    acknowledgement.encode(to: &writer)
    let key = acknowledgement.origin.columns
    let sql = "SELECT bytes FROM godwit_signed_acknowledgement WHERE replica = ? AND incarnation = ?"
    if case .blob(let kept)? = try connection.scalar(sql, key) {
      guard kept != writer.bytes else { return false }
      var reader = ByteReader(kept)
      guard isNewer(try SignedAcknowledgement(reading: &reader)) else { return false }
    }
    guard isTrusted(acknowledgement) else { return false }
    guard try hasRoom(for: writer.count, besides: key) else { return false }
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_signed_acknowledgement (replica, incarnation, bytes, pending, members, differs)
      VALUES (?1, ?2, ?3, ?4, ?5,
        coalesce((SELECT differs FROM godwit_signed_acknowledgement WHERE replica = ?1 AND incarnation = ?2), 0))
      """,
      key + [.blob(writer.bytes), .integer(isPending ? 1 : 0), .blob(Self.hash(acknowledgement.members.keys).bytes)])
    return true
  }

  /// What distinguishes these members from others.
  private static func hash(_ members: some Collection<ReplicaID>) -> ContentHash {
    var writer = ByteWriter(capacity: members.count * 16)
    for member in members.sorted() { member.value.write(to: &writer) }
    return writer.bytes.withUnsafeBytes { ContentHash(of: $0) }
  }

  private func hasRoom(for byteCount: Int, besides key: [Value]) throws -> Bool {
    let others =
      "SELECT count(*), coalesce(sum(length(bytes)), 0) FROM godwit_signed_acknowledgement WHERE replica = ? AND incarnation <> ?"
    return try connection.withStatement(others) { statement in
      try statement.bind(key)
      guard try statement.step() else { return false }
      return statement.integer(at: 0) < Self.incarnationLimit
        && statement.integer(at: 1) + Int64(byteCount) <= Self.byteLimit
    }
  }

  /// Those of replicas that are no active members go: they are passed on to nobody.
  func removeAll(unless isActive: (ReplicaID) -> Bool) throws {
    for origin in try origins() where !isActive(origin.replica) { try remove(of: origin) }
  }

  /// Remembers whether the maker's tables hold something else for the same changes.
  func note(differs: Bool, _ origin: Origin) throws {
    try connection.run(
      "UPDATE godwit_signed_acknowledgement SET differs = ? WHERE replica = ? AND incarnation = ?",
      [.integer(differs ? 1 : 0)] + origin.columns)
  }

  /// Who stated another state for the same changes, and has not stated since that it is the same.
  package func differing() throws -> [ReplicaID] {
    let origins = try readOrigins("SELECT replica, incarnation FROM godwit_signed_acknowledgement WHERE differs")
    return Set(origins.map(\.replica)).sorted()
  }

  /// Whether a pending one counts is known now.
  func settle(_ origin: Origin) throws {
    try connection.run(
      "UPDATE godwit_signed_acknowledgement SET pending = 0 WHERE replica = ? AND incarnation = ?", origin.columns)
  }

  /// Those of incarnations that have ended are not passed on, and must not take the room of those that live.
  func removeEnded(_ ended: [Origin: SequenceNumber]) throws {
    for origin in try origins() where ended[origin] != nil { try remove(of: origin) }
  }

  func removeAll() throws { try connection.run("DELETE FROM godwit_signed_acknowledgement") }

  private func remove(of origin: Origin) throws {
    try connection.run(
      "DELETE FROM godwit_signed_acknowledgement WHERE replica = ? AND incarnation = ?", origin.columns)
  }
}
