import GodwitBase
import GodwitReplication
import GodwitStorage

extension Origin {
  /// The columns `replica` and `incarnation` of Godwit's own tables, to bind.
  var columns: [Value] {
    var replica = ByteWriter(capacity: 16)
    self.replica.value.write(to: &replica)
    return [.blob(replica.bytes), .integer(Int64(incarnation))]
  }

  /// The same two as the first of a row.
  init(columnsOf statement: Statement) throws {
    var replica = ByteReader(statement.blob(at: 0))
    self.init(
      replica: ReplicaID(try Identifier128(reading: &replica)),
      incarnation: UInt32(truncatingIfNeeded: statement.integer(at: 1)))
  }
}
