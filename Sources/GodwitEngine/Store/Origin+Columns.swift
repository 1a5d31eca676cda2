import GodwitBase
import GodwitCore
import GodwitStorage

extension Origin {
  /// The columns `replica` and `incarnation` of Godwit's own tables, to bind.
  var columns: [Value] { [replica.column, .integer(Int64(incarnation))] }

  /// The same two as the first of a row.
  init(columnsOf statement: Statement) throws {
    self.init(
      replica: try ReplicaID(column: statement.blob(at: 0)),
      incarnation: UInt32(truncatingIfNeeded: statement.integer(at: 1)))
  }
}

extension ReplicaID {
  /// As it stands in a column of Godwit's own tables.
  var column: Value {
    var writer = ByteWriter(capacity: 16)
    value.write(to: &writer)
    return .blob(writer.bytes)
  }

  init(column bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    self.init(try Identifier128(reading: &reader))
  }
}
