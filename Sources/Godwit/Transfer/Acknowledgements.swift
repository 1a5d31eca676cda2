import GodwitBase
import GodwitReplication
import GodwitStorage

/// What each member has said it holds, each of its incarnations for itself: a copy holds other things than its original
/// (`godwit_acknowledgement`; Specs/forgetting.md, "Acknowledgement").
struct Acknowledgements {
  /// The latest statement of an incarnation, and what of it nothing still to come from there can contradict.
  struct Record {
    var stated = MemberStatement()
    var counted = MemberStatement()
  }

  let connection: Connection

  /// Of all who have said anything.
  func all() throws -> [Origin: Record] {
    try connection.withStatement("SELECT replica, incarnation, stated, counted FROM godwit_acknowledgement") { statement in
      var records: [Origin: Record] = [:]
      while try statement.step() {
        var replica = ByteReader(statement.blob(at: 0))
        var stated = ByteReader(statement.blob(at: 2))
        var counted = ByteReader(statement.blob(at: 3))
        let origin = Origin(
          replica: ReplicaID(try Identifier128(reading: &replica)),
          incarnation: UInt32(truncatingIfNeeded: statement.integer(at: 1)))
        records[origin] = Record(
          stated: try MemberStatement(reading: &stated), counted: try MemberStatement(reading: &counted))
      }
      return records
    }
  }

  /// Takes in a statement. One that says less than the latest counts only when it was made later: a machine that was
  /// rolled back holds less than before, and an old file that comes again says nothing new.
  func add(_ statement: MemberStatement, of origin: Origin) throws {
    var record = try all()[origin] ?? Record()
    guard statement.vector.covers(record.stated.vector) || statement.milliseconds > record.stated.milliseconds else { return }
    record.stated = statement
    record.counted.vector = record.counted.vector.intersection(statement.vector)
    try save(record, of: origin)
  }

  /// Counts the statements of which all is held here: what is still to come from their members has seen all of it.
  func count(held: VersionVector) throws {
    for (origin, record) in try all() where record.counted != record.stated && held.covers(record.stated.vector) {
      try save(Record(stated: record.stated, counted: record.stated), of: origin)
    }
  }

  private func save(_ record: Record, of origin: Origin) throws {
    func bytes(_ statement: MemberStatement) -> Value {
      var writer = ByteWriter()
      statement.write(to: &writer)
      return .blob(writer.bytes)
    }
    var replica = ByteWriter(capacity: 16)
    origin.replica.value.write(to: &replica)
    try connection.run(
      "INSERT OR REPLACE INTO godwit_acknowledgement (replica, incarnation, stated, counted) VALUES (?, ?, ?, ?)",
      [.blob(replica.bytes), .integer(Int64(origin.incarnation)), bytes(record.stated), bytes(record.counted)])
  }
}
