import GodwitBase
import GodwitReplication
import GodwitStorage

/// What each member has said it holds (`godwit_acknowledgement`; Specs/forgetting.md, "Acknowledgement").
struct Acknowledgements {
  /// What a member said of itself in a file.
  struct Statement {
    var vector = VersionVector()
    /// In which it spoke.
    var incarnation: UInt32 = 0
    /// By the member's own clock.
    var milliseconds = Int64.min
    /// The members it knew to be removed.
    var removed: Set<ReplicaID> = []
  }

  /// A member's latest statement, and of it what nothing still to come from the member can contradict.
  struct Record {
    var stated = Statement()
    var counted = VersionVector()
    var countedRemoved: Set<ReplicaID> = []
  }

  let connection: Connection

  /// What a member says it holds: what a file for it may leave out.
  static func get(_ replica: ReplicaID, on connection: Connection) throws -> VersionVector {
    try Acknowledgements(connection: connection).record(of: replica).stated.vector
  }

  /// Of all who have said anything.
  static func all(on connection: Connection) throws -> [(replica: ReplicaID, vector: VersionVector)] {
    let acknowledgements = Acknowledgements(connection: connection)
    return try acknowledgements.members().map { ($0, try acknowledgements.record(of: $0).stated.vector) }
  }

  func record(of replica: ReplicaID) throws -> Record {
    let sql = "SELECT stated, at, removed, counted, counted_removed, incarnation FROM godwit_acknowledgement WHERE replica = ?"
    return try connection.withStatement(sql) { statement in
      try statement.bind([Self.key(replica)])
      guard try statement.step() else { return Record() }
      var stated = ByteReader(statement.blob(at: 0))
      var counted = ByteReader(statement.blob(at: 3))
      return Record(
        stated: Statement(
          vector: try VersionVector(reading: &stated),
          incarnation: UInt32(truncatingIfNeeded: statement.integer(at: 5)), milliseconds: statement.integer(at: 1),
          removed: try Self.replicas(statement.blob(at: 2))),
        counted: try VersionVector(reading: &counted), countedRemoved: try Self.replicas(statement.blob(at: 4)))
    }
  }

  /// Takes in a member's statement. One that says less than the latest counts only when it was made later: a member
  /// restored from a backup holds less than before, and an old file that comes again says nothing new.
  func add(_ statement: Statement, of replica: ReplicaID) throws {
    var record = try record(of: replica)
    let isLater = statement.milliseconds > record.stated.milliseconds
    let isNewLife = statement.incarnation != record.stated.incarnation
      && statement.milliseconds == record.stated.milliseconds
    guard statement.vector.covers(record.stated.vector) || isLater || isNewLife else { return }
    record.stated = statement
    record.counted = record.counted.intersection(statement.vector)
    try save(record, of: replica)
  }

  /// Counts the statements of which all is held here: what is still to come from their members has seen all of it.
  func count(held: VersionVector) throws {
    for replica in try members() {
      var record = try record(of: replica)
      guard held.covers(record.stated.vector),
        record.counted != record.stated.vector || record.countedRemoved != record.stated.removed
      else { continue }
      record.counted = record.stated.vector
      record.countedRemoved = record.stated.removed
      try save(record, of: replica)
    }
  }

  private func members() throws -> [ReplicaID] {
    try connection.withStatement("SELECT replica FROM godwit_acknowledgement ORDER BY replica") { statement in
      var replicas: [ReplicaID] = []
      while try statement.step() { replicas += try Self.replicas(statement.blob(at: 0)) }
      return replicas
    }
  }

  private func save(_ record: Record, of replica: ReplicaID) throws {
    func bytes(_ vector: VersionVector) -> Value {
      var writer = ByteWriter()
      vector.write(to: &writer)
      return .blob(writer.bytes)
    }
    func bytes(_ replicas: Set<ReplicaID>) -> Value {
      var writer = ByteWriter()
      for replica in replicas.sorted() { replica.value.write(to: &writer) }
      return .blob(writer.bytes)
    }
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_acknowledgement (replica, incarnation, stated, at, removed, counted, counted_removed)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      [
        Self.key(replica), .integer(Int64(record.stated.incarnation)), bytes(record.stated.vector), .integer(record.stated.milliseconds),
        bytes(record.stated.removed), bytes(record.counted), bytes(record.countedRemoved),
      ])
  }

  private static func replicas(_ bytes: [UInt8]) throws -> Set<ReplicaID> {
    var reader = ByteReader(bytes)
    var replicas: Set<ReplicaID> = []
    while !reader.isAtEnd { replicas.insert(ReplicaID(try Identifier128(reading: &reader))) }
    return replicas
  }

  private static func key(_ replica: ReplicaID) -> Value {
    var writer = ByteWriter(capacity: 16)
    replica.value.write(to: &writer)
    return .blob(writer.bytes)
  }
}
