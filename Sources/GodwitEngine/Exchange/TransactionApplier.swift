import GodwitBase
import GodwitCore
import GodwitStorage

/// What happens to a transaction whose turn it is: it is put in the terms of the tables here, brought into them, and
/// logged as its author wrote it.
struct TransactionApplier {
  let merger: Merger
  private let log: ChangeLog
  private let clock: ReplicaClock
  private let adapter: SchemaAdapter

  /// - Parameter aside: Tables whose rows come back afterwards.
  init(_ writer: ReplicaWriter, aside: Set<Int> = []) throws {
    adapter = SchemaAdapter(writer.connection, writer.catalog, recordingLosses: true)
    merger = try writer.merger(adapter, aside: aside)
    log = writer.log
    clock = writer.clock
  }

  /// What a transaction waits for beside its causes, in words: a schema version, table or column that is not here.
  func awaited(by record: TransactionRecord) throws -> String? { try adapter.terms(of: record).awaited }

  /// `others` is what its author held of other origins.
  func apply(_ record: TransactionRecord, others: VersionVector) throws {
    let dot = record.dot
    var context = others
    context[dot.origin] = dot.sequence
    let isPlain = try adapter.terms(of: record).isPlain
    let isLatest = try isPlain && clock.isBehind(record, adapter)
    let deletedCells = try merger.add(record, context: context, asItStands: isLatest)
    try log.append(record, Captured(changes: record.changes, deletedCells: deletedCells))
    try clock.take(record, adapter)
  }
}
