import GodwitBase

/// A cell's value with when and by whom it was written.
package struct StampedValue: Hashable, Sendable {
  package let value: Value
  package let stamp: CellStamp

  package init(value: Value, stamp: CellStamp) {
    self.value = value
    self.stamp = stamp
  }

  /// The greater stamp wins; of what one transaction wrote to two rows that became one the greater value does.
  func isOutdone(by other: StampedValue) -> Bool {
    if stamp != other.stamp { return stamp < other.stamp }
    return value.sortKey.lexicographicallyPrecedes(other.value.sortKey)
  }
}

extension Value {
  /// Orders any two values the same way everywhere.
  var sortKey: [UInt8] {
    var writer = ByteWriter()
    writer.value(self)
    return writer.bytes
  }
}
