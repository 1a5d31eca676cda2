import GodwitBase
import GodwitReplication
import GodwitStorage

/// What happens to a transaction whose turn it is: it is put in the terms of the tables here, brought into them, and
/// logged as its author wrote it. What of it has no place here yet is quarantined.
struct TransactionApplier {
  let merger: Merger
  private let log: ChangeLog
  private let clock: ReplicaClock
  private let carrier: ChangeCarrier
  private let quarantine: Quarantine

  init(_ writer: ReplicaWriter) throws {
    merger = try writer.merger()
    log = writer.log
    clock = writer.clock
    carrier = try ChangeCarrier(
      writer.connection, catalog: writer.catalog, history: MigrationHistory(writer.connection))
    quarantine = Quarantine(writer.connection)
  }

  /// `others` is what its author held of other origins. Returns whether all of it has a place here.
  func apply(_ record: TransactionRecord, others: VersionVector) throws -> Bool {
    let dot = record.dot
    var context = others
    context[dot.origin] = dot.sequence
    let carried = try carrier.carry(record)
    var images: [UInt8] = []
    if carried.isPlain {
      images = try merger.add(record, context: context, isLatest: clock.isBehind(record, carrier))
    } else {
      try merger.merge(carried, context: context)
    }
    try log.append(record, Captured(changes: record.changes, images: images))
    try clock.take(record, carrier)
    guard !carried.waiting.isEmpty else { return carried.isComplete }
    try quarantine.set(carried, for: LogKey(origin: log.origins.number(of: dot.origin), dot.sequence))
    return false
  }
}
