import GodwitBase

/// One transaction of the change log: the unit that is applied whole, once, after its context.
package struct TransactionRecord: Sendable {
  package let dot: Dot
  package let hlc: HLC
  package let schemaVersion: UInt64
  /// What its author held, when that changed since the author's transaction before; nil when it did not.
  /// The author's own entry is left out: it is `dot.sequence - 1`.
  package let context: VersionVector?
  /// The encoded ``ChangeSet``.
  package let changes: [UInt8]

  package init(dot: Dot, hlc: HLC, schemaVersion: UInt64, context: VersionVector?, changes: [UInt8]) {
    self.dot = dot
    self.hlc = hlc
    self.schemaVersion = schemaVersion
    self.context = context
    self.changes = changes
  }

  /// A change set larger than this is refused by writer and reader alike.
  package static let changesByteLimit = 1 << 30

  /// Everything but the change set: what the hash chain covers ahead of it (Specs/change-log.md, "Hash chain").
  package func writeHeader(to writer: inout ByteWriter) {
    writer.byte(1)
    dot.origin.write(to: &writer)
    writer.varint(dot.sequence.rawValue)
    writer.bigEndian(hlc.rawValue)
    writer.varint(schemaVersion)
    writer.byte(context == nil ? 0 : 1)
    context?.write(to: &writer)
    writer.varint(changes.count)
  }
}
