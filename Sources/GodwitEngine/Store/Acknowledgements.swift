import GodwitBase
import GodwitCore
import GodwitStorage

/// What each member has said it holds, each of its incarnations for itself: a copy holds other things than its original
/// (`godwit_acknowledgement`; Specs/forgetting.md, "Acknowledgement").
package struct Acknowledgements {
  static let creation = """
    CREATE TABLE godwit_acknowledgement (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, stated BLOB NOT NULL,
      counted BLOB NOT NULL, held BLOB NOT NULL, PRIMARY KEY (replica, incarnation)) WITHOUT ROWID;
    """

  /// The latest acknowledgement of an incarnation, and what of it nothing still to come from there can contradict.
  package struct Record {
    package var stated = Acknowledgement()
    var counted = Acknowledgement()
    /// Up to where it has what waits there, by its last file. That acknowledges nothing.
    var held = VersionVector()
  }

  private let connection: Connection
  /// Of all who have said anything.
  package private(set) var records: [Origin: Record]
  /// Of what others passed on and was not weighed yet, something that each names and that was not held here when it was
  /// looked at last; number 0 stands for one that was not looked at. Nil until it is asked for.
  var awaited: [Origin: Dot]?

  package init(_ connection: Connection) throws {
    self.connection = connection
    records = try connection.withStatement(
      "SELECT replica, incarnation, stated, counted, held FROM godwit_acknowledgement"
    ) { statement in
      var records: [Origin: Record] = [:]
      while try statement.step() {
        let (statedBytes, countedBytes) = (statement.blob(at: 2), statement.blob(at: 3))
        var stated = ByteReader(statedBytes)
        var counted = ByteReader(countedBytes)
        let origin = try Origin(columnsOf: statement)
        let latest = try Acknowledgement(reading: &stated)
        // Mostly all of it counts.
        let counting = statedBytes == countedBytes ? latest : try Acknowledgement(reading: &counted)
        var held = ByteReader(statement.blob(at: 4))
        records[origin] = Record(stated: latest, counted: counting, held: try VersionVector(reading: &held))
      }
      return records
    }
  }

  static func removeAll(on connection: Connection) throws {
    try connection.run("DELETE FROM godwit_acknowledgement")
  }

  /// Takes in what a member said of itself in a file of its own, as far as it names the history held here.
  mutating func add(_ acknowledgement: Acknowledgement, of origin: Origin, held: VersionVector) throws {
    var record = records[origin] ?? Record()
    guard acknowledgement.replaces(record.stated) else { return }
    record.stated = acknowledgement
    record.counted.vector = record.counted.vector.intersection(acknowledgement.vector)
    record.held = held
    try save(record, of: origin)
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
  mutating func count(_ acknowledgement: Acknowledgement, of origin: Origin) throws {
    guard acknowledgement.replaces(records[origin]?.stated ?? Acknowledgement()) else { return }
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
      "INSERT OR REPLACE INTO godwit_acknowledgement (replica, incarnation, stated, counted, held) VALUES (?, ?, ?, ?, ?)",
      origin.columns + [bytes(record.stated), bytes(record.counted), .blob(held.bytes)])
  }
}
