import GodwitBase
import GodwitReplication
import GodwitStorage

/// What each member has said it holds (`godwit_acknowledgement`).
enum Acknowledgements {
  static func get(_ replica: ReplicaID, on connection: Connection) throws -> VersionVector {
    let stored = try connection.scalar("SELECT vector FROM godwit_acknowledgement WHERE replica = ?", [key(replica)])
    guard case .blob(let bytes)? = stored else { return VersionVector() }
    var reader = ByteReader(bytes)
    return try VersionVector(reading: &reader)
  }

  static func add(_ vector: VersionVector, of replica: ReplicaID, on connection: Connection) throws {
    var writer = ByteWriter()
    try get(replica, on: connection).union(vector).write(to: &writer)
    try connection.run(
      "INSERT OR REPLACE INTO godwit_acknowledgement (replica, vector) VALUES (?, ?)",
      [key(replica), .blob(writer.bytes)])
  }

  private static func key(_ replica: ReplicaID) -> Value {
    var writer = ByteWriter(capacity: 16)
    replica.value.write(to: &writer)
    return .blob(writer.bytes)
  }
}
