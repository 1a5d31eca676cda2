import GodwitBase

/// The replica that made a change, in one incarnation of its life. Sequence numbers count per origin.
package struct Origin: Hashable, Comparable, Sendable {
  package let replica: ReplicaID
  /// Random for each incarnation; a clone or a restored backup starts a new one.
  package let incarnation: UInt32

  package init(replica: ReplicaID, incarnation: UInt32) {
    self.replica = replica
    self.incarnation = incarnation
  }

  package static func < (left: Origin, right: Origin) -> Bool {
    (left.replica, left.incarnation) < (right.replica, right.incarnation)
  }

  package func write(to writer: inout ByteWriter) {
    replica.value.write(to: &writer)
    writer.bigEndian(incarnation)
  }

  package init(reading reader: inout ByteReader) throws {
    replica = ReplicaID(try Identifier128(reading: &reader))
    incarnation = try reader.bigEndian()
  }
}
