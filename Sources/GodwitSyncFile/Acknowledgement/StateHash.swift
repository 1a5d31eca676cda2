import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// What the sums of all synced tables make together: 16 bytes that are equal on replicas of one schema which hold the
/// same changes (Specs/state-hash.md).
package struct StateHash: Hashable, Sendable {
  package static let byteCount = 16
  package let bytes: [UInt8]

  package init(_ tables: [(name: String, sum: StateSum)]) {
    var writer = ByteWriter(capacity: 32 * tables.count)
    let sorted = tables.filter { $0.sum != .zero }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    for table in sorted {
      writer.string(table.name)
      writer.bigEndian(table.sum.low)
      writer.bigEndian(table.sum.high)
    }
    bytes = Array(writer.bytes.withUnsafeBytes { ContentHash(of: $0) }.bytes.prefix(Self.byteCount))
  }

  /// Stands for no hash.
  package static let zero = StateHash(bytes: [UInt8](repeating: 0, count: byteCount))

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads 16 bytes. Throws `truncatedFile`.
  package init(reading reader: inout ByteReader) throws { bytes = Array(try reader.raw(Self.byteCount)) }

  /// 32 lower-case hexadecimal digits.
  package var hexadecimal: String { Hexadecimal.encode(bytes) }
}
