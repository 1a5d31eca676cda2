import GodwitBase
import GodwitCore

/// The hash of a member's state, and of the schema that it is of: only states of one schema can be compared
/// (Specs/state-hash.md, "Comparing").
package struct StatedState: Hashable, Sendable {
  /// The first 8 bytes of what the schema hashes to; 0 where a member states no state.
  package let schema: UInt64
  package let hash: StateHash

  package static let none = StatedState(schema: 0, hash: .zero)

  package init(schema: UInt64, hash: StateHash) {
    self.schema = schema
    self.hash = hash
  }

  package init(reading reader: inout ByteReader) throws {
    schema = try reader.bigEndian()
    hash = try StateHash(reading: &reader)
  }

  package func write(to writer: inout ByteWriter) {
    writer.bigEndian(schema)
    writer.raw(hash.bytes)
  }

  /// Whether both are stated, of one schema, and differ.
  package func contradicts(_ other: StatedState) -> Bool { isComparable(with: other) && hash != other.hash }

  /// Whether both are stated and of one schema.
  package func isComparable(with other: StatedState) -> Bool { schema != 0 && schema == other.schema }
}
