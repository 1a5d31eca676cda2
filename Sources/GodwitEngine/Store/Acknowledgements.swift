import GodwitBase
import GodwitCore
import GodwitStorage

/// What each member has said it holds, each of its incarnations for itself: a copy holds other things than its original
/// (`godwit_acknowledgement`; Specs/forgetting.md, "Acknowledgement").
package struct Acknowledgements {
  static let creation = """
    CREATE TABLE godwit_acknowledgement (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, mark INTEGER NOT NULL,
      stated BLOB NOT NULL, counted BLOB NOT NULL, held BLOB NOT NULL,
      PRIMARY KEY (replica, incarnation)) WITHOUT ROWID;
    CREATE INDEX godwit_acknowledgement_mark ON godwit_acknowledgement (replica, incarnation, mark);
    """

  /// The latest acknowledgement of an incarnation, and what of it nothing still to come from there can contradict.
  package struct Record: Sendable {
    package var stated = Acknowledgement()
    var counted = Acknowledgement()
    /// Up to where it has what waits there, by its last file. That acknowledges nothing.
    var held = VersionVector()
  }

  /// More incarnations than a member has in use at a time, and what all that is kept of them may take before another
  /// one is: each names every origin there is, and who makes a whole file has them all in memory.
  private static let (incarnationLimit, byteLimit): (Int64, Int64) = (64, 4 << 20)

  private let connection: Connection
  /// Of all who have said anything.
  package private(set) var records: [Origin: Record]
  /// Of what others passed on and was not weighed yet, something that each names and that was not held here when it was
  /// looked at last; number 0 stands for one that was not looked at. Nil until it is asked for.
  var awaited: [Origin: Dot]?

  /// - Parameter known: What was read before, and what is read now for those who come after.
  package init(_ connection: Connection, _ known: KnownAcknowledgements = .init()) throws {
    self.connection = connection
    records = try known.records(on: connection)
  }

  static func removeAll(on connection: Connection) throws {
    try connection.run("DELETE FROM godwit_acknowledgement")
  }

  /// Takes in what a member said of itself in a file of its own, as far as it names the history held here. Of a member
  /// with too many incarnations it is not kept: this one is not known, or counts as holding nothing.
  ///
  /// - Parameter hasEnded: Whether an incarnation writes no more.
  mutating func add(
    _ acknowledgement: Acknowledgement, of origin: Origin, held: VersionVector, where hasEnded: (Origin) -> Bool
  ) throws {
    var record = records[origin] ?? Record()
    guard acknowledgement.replaces(record.stated), try makeRoom(for: origin, hasEnded) else { return }
    record.stated = acknowledgement
    record.counted.vector = record.counted.vector.intersection(acknowledgement.vector)
    record.held = held
    try save(record, of: origin)
  }

  /// Whether there is room for what an incarnation says, if need be in the place of its member's that have ended.
  private mutating func makeRoom(for origin: Origin, _ hasEnded: (Origin) -> Bool) throws -> Bool {
    if try hasRoom(besides: origin) { return true }
    for other in records.keys where other.replica == origin.replica && other != origin && hasEnded(other) {
      records[other] = nil
      try connection.run(
        "DELETE FROM godwit_acknowledgement WHERE replica = ? AND incarnation = ?", other.columns)
    }
    return try hasRoom(besides: origin)
  }

  private func hasRoom(besides origin: Origin) throws -> Bool {
    let others = """
      SELECT count(*), coalesce(sum(length(stated) + length(counted) + length(held)), 0) FROM godwit_acknowledgement
      WHERE replica = ? AND incarnation <> ?
      """
    return try connection.withStatement(others) { statement in
      try statement.bind(origin.columns)
      guard try statement.step() else { return false }
      return statement.integer(at: 0) < Self.incarnationLimit && statement.integer(at: 1) <= Self.byteLimit
    }
  }

  /// Takes back what a member said of itself in another of several files that it made at one time, where this one shows
  /// that it meant another history than the one held here.
  mutating func contradict(to agreed: VersionVector, saidAt milliseconds: Int64, of origin: Origin) throws {
    guard var record = records[origin], record.stated.milliseconds == milliseconds,
      !agreed.covers(record.stated.vector)
    else { return }
    record.stated.vector = record.stated.vector.intersection(agreed)
    record.counted.vector = record.counted.vector.intersection(agreed)
    try save(record, of: origin)
  }

  /// Takes back what a later acknowledgement, which others passed on, does not say any more.
  mutating func lower(to acknowledgement: Acknowledgement, of origin: Origin) throws {
    guard var record = records[origin], acknowledgement.replaces(record.stated),
      !acknowledgement.vector.covers(record.stated.vector)
    else { return }
    record.stated.vector = record.stated.vector.intersection(acknowledgement.vector)
    record.counted.vector = record.counted.vector.intersection(acknowledgement.vector)
    // What was said between the two is older than what takes it back.
    record.stated.milliseconds = acknowledgement.milliseconds
    try save(record, of: origin)
  }

  /// Takes in an acknowledgement that others passed on, and of which all is held here, by the same history.
  mutating func count(
    _ acknowledgement: Acknowledgement, of origin: Origin, where hasEnded: (Origin) -> Bool
  ) throws {
    guard acknowledgement.replaces(records[origin]?.stated ?? Acknowledgement()),
      try records[origin] != nil || makeRoom(for: origin, hasEnded)
    else { return }
    try save(
      Record(stated: acknowledgement, counted: acknowledgement, held: records[origin]?.held ?? VersionVector()),
      of: origin)
  }

  /// Counts the acknowledgements of which all is held here: what is still to come from their members has seen all of
  /// it.
  mutating func count(held: VersionVector) throws {
    for (origin, record) in records where record.counted != record.stated && held.covers(record.stated.vector) {
      try save(Record(stated: record.stated, counted: record.stated, held: record.held), of: origin)
    }
  }

  /// Of a member that is one again nobody has said that it knows of the next removal.
  mutating func forgetRemovals(where isActive: (ReplicaID) -> Bool) throws {
    for (origin, record) in records where record.counted.removed.union(record.stated.removed).contains(where: isActive)
    {
      var record = record
      record.stated.removed = record.stated.removed.filter { !isActive($0) }
      record.counted.removed = record.counted.removed.filter { !isActive($0) }
      try save(record, of: origin)
    }
  }

  /// Whose there are, each with what is another number once it is written anew.
  static func marks(on connection: Connection) throws -> [(origin: Origin, mark: Int64)] {
    // Of the table itself SQLite would read a page for few of them.
    let sql = "SELECT replica, incarnation, mark FROM godwit_acknowledgement INDEXED BY godwit_acknowledgement_mark"
    return try connection.withStatement(sql) { statement in
      var marks: [(origin: Origin, mark: Int64)] = []
      while try statement.step() { marks.append((try Origin(columnsOf: statement), statement.integer(at: 2))) }
      return marks
    }
  }

  /// That of one incarnation as it is in the database.
  static func read(_ origin: Origin, on connection: Connection) throws -> Record {
    let sql = "SELECT stated, counted, held FROM godwit_acknowledgement WHERE replica = ? AND incarnation = ?"
    return try connection.withStatement(sql) { statement in
      try statement.bind(origin.columns)
      guard try statement.step() else { return Record() }
      let (statedBytes, countedBytes) = (statement.blob(at: 0), statement.blob(at: 1))
      var (stated, counted, held) = (
        ByteReader(statedBytes), ByteReader(countedBytes), ByteReader(statement.blob(at: 2))
      )
      let latest = try Acknowledgement(reading: &stated)
      // Mostly all of it counts.
      let counting = statedBytes == countedBytes ? latest : try Acknowledgement(reading: &counted)
      return Record(stated: latest, counted: counting, held: try VersionVector(reading: &held))
    }
  }

  private mutating func save(_ record: Record, of origin: Origin) throws {
    records[origin] = record
    func bytes(_ acknowledgement: Acknowledgement) -> Value {
      var writer = ByteWriter()
      acknowledgement.write(to: &writer)
      return .blob(writer.bytes)
    }
    var held = ByteWriter()
    record.held.write(to: &held)
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_acknowledgement (replica, incarnation, mark, stated, counted, held)
      VALUES (?, ?, random(), ?, ?, ?)
      """,
      origin.columns + [bytes(record.stated), bytes(record.counted), .blob(held.bytes)])
  }
}
