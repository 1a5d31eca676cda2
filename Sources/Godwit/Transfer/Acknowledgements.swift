import GodwitBase
import GodwitReplication
import GodwitStorage

/// What each member has said it holds (`godwit_acknowledgement`), in the incarnation that spoke last: a restored
/// backup holds less than was said before.
enum Acknowledgements {
  static func get(_ replica: ReplicaID, on connection: Connection) throws -> VersionVector {
    let stored = try connection.scalar(
      "SELECT vector FROM godwit_acknowledgement WHERE substr(replica, 1, 16) = ?", [key(replica)])
    return try vector(stored)
  }

  /// Of all who have said anything.
  static func all(on connection: Connection) throws -> [(replica: ReplicaID, vector: VersionVector)] {
    try connection.withStatement("SELECT replica, vector FROM godwit_acknowledgement") { statement in
      var all: [(replica: ReplicaID, vector: VersionVector)] = []
      while try statement.step() {
        var replica = ByteReader(statement.blob(at: 0))
        var vector = ByteReader(statement.blob(at: 1))
        all.append((ReplicaID(try Identifier128(reading: &replica)), try VersionVector(reading: &vector)))
      }
      return all
    }
  }

  /// `parted` says of which origins the author holds another history, and from where on. That is no acknowledgement;
  /// the history held here goes to it again, so that it learns of the fork.
  static func add(
    _ vector: VersionVector, of author: Origin, parted: [Origin: SequenceNumber], on connection: Connection
  ) throws {
    let key = key(author.replica, author.incarnation)
    let before = try self.vector(
      connection.scalar("SELECT vector FROM godwit_acknowledgement WHERE replica = ?", [key]))
    try connection.run(
      "DELETE FROM godwit_acknowledgement WHERE substr(replica, 1, 16) = ?", [self.key(author.replica)])
    var held = before.union(vector)
    for (origin, sequence) in parted {
      held[origin] = min(held[origin], SequenceNumber(rawValue: sequence.rawValue - 1))
    }
    var writer = ByteWriter()
    held.write(to: &writer)
    try connection.run(
      "INSERT INTO godwit_acknowledgement (replica, vector) VALUES (?, ?)", [key, .blob(writer.bytes)])
  }

  private static func vector(_ stored: Value?) throws -> VersionVector {
    guard case .blob(let bytes)? = stored else { return VersionVector() }
    var reader = ByteReader(bytes)
    return try VersionVector(reading: &reader)
  }

  /// The ID, and the incarnation behind it.
  private static func key(_ replica: ReplicaID, _ incarnation: UInt32? = nil) -> Value {
    var writer = ByteWriter(capacity: 20)
    replica.value.write(to: &writer)
    if let incarnation { writer.bigEndian(incarnation) }
    return .blob(writer.bytes)
  }
}
