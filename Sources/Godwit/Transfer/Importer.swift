import GodwitBase
import GodwitKeys
import GodwitModel
import GodwitReplication
import GodwitStorage
import GodwitSyncFile

/// Applies a sync file in one database transaction. Every origin's transactions are applied once, in sequence,
/// each after its context; what comes too early is staged.
final class Importer {
  private let writer: ReplicaWriter
  private let connection: Connection
  private let file: SyncFileReader
  private let log: ChangeLog
  private let merger: Merger
  private let staged: StagedTransactions
  /// Each origin's chain and context as the file tells them, up to the transaction read last.
  private var chains: [Origin: ContentHash] = [:]
  private var contexts: [Origin: VersionVector] = [:]
  private var lasts: [Origin: SequenceNumber] = [:]
  private var held: VersionVector
  /// Ten years ahead of any clock that can be right: what lies beyond would drag every member's clock along.
  private let latestBelievable: Int64
  private var changedOrigins: Set<Origin> = []
  private var latest = HLC(rawValue: 0)
  private var applied = 0
  private var duplicates = 0

  /// Runs inside the import's transaction, after the tables of the file have been adopted.
  private init(_ file: SyncFileReader, writer: ReplicaWriter) throws {
    self.file = file
    self.writer = writer
    connection = writer.connection
    log = writer.log
    merger = try writer.merger()
    staged = StagedTransactions(connection: connection)
    held = log.origins.vector
    let tenYears: Int64 = 10 * 365 * 86_400_000
    let firstRelease: Int64 = 1_767_225_600_000  // 2026, for machines that start in 1970
    latestBelievable = max(writer.wallClock.milliseconds(), writer.latestTimestamp.milliseconds, firstRelease) + tenYears
  }

  /// Reads the rest of the file and applies it, or throws and leaves the database as it was.
  static func run(_ file: SyncFileReader, on writer: ReplicaWriter, progress: ProgressHandler?) throws -> MergeReport {
    let connection = writer.connection
    do {
      return try writer.inMerge {
        try Catalog.adopt(file.header.tables, on: connection)
        try writer.reload()
        let report = try Importer(file, writer: writer).run(progress)
        #if GODWIT_PLANT
          if PlantedFault.logDerivedEffect.isPlanted { try writer.appendCaptured() }
        #endif
        return report
      }
    } catch let error as GodwitError where error.code == .constraint {
      throw GodwitError(
        .importConstraint, "the merged changes would break a constraint: \(error.message)",
        hint: "nothing was changed; resolve the row on one replica and export again", underlying: error)
    }
  }

  private func run(_ progress: ProgressHandler?) throws -> MergeReport {
    try checkRanges()
    let total = file.header.transactionCount
    var count = 0
    progress?(0)
    while let record = try file.next() {
      try take(record)
      count += 1
      if count.isMultiple(of: max(1, total / 256)) { progress?(Double(count) / Double(total)) }
    }
    for range in file.header.ranges where chains[range.origin] != range.chainAtEnd {
      throw Self.brokenChain(range.origin)
    }
    try applyStaged()
    try merger.finish()
    try log.origins.save(changedOrigins)
    try writer.observe(latest)
    try Acknowledgements.add(file.header.vector, of: file.header.sender, on: connection)
    progress?(1)
    return MergeReport(
      sender: file.header.sender, applied: applied, duplicates: duplicates, staged: try staged.count(),
      rows: merger.rowCount, conflicts: merger.conflictCount, missing: try staged.missing(held: held))
  }

  /// What the file says came before its ranges must be what is held here.
  private func checkRanges() throws {
    for range in file.header.ranges {
      chains[range.origin] = range.chainBefore
      contexts[range.origin] = range.contextBefore
      lasts[range.origin] = range.last
      let before = SequenceNumber(rawValue: range.first.rawValue - 1)
      guard held[range.origin] >= before else { continue }
      if let chain = try log.chain(at: Dot(range.origin, before)), chain != range.chainBefore {
        throw Self.brokenChain(range.origin)
      }
    }
  }

  private func take(_ record: TransactionRecord) throws {
    let origin = record.dot.origin
    let chain = record.chain(after: chains[origin] ?? .zero)
    chains[origin] = chain
    if let context = record.context { contexts[origin] = context }
    if held.covers(record.dot) {
      try checkDuplicate(record.dot, chain)
      duplicates += 1
      return
    }
    guard record.hlc.milliseconds <= latestBelievable else {
      throw GodwitError(
        .limitExceeded, "a timestamp of \(origin.replica) is more than ten years ahead",
        hint: "nothing was changed; set the clock of that machine, and this one's")
    }
    let waiting = StagedTransaction(record: record, context: contexts[origin] ?? VersionVector(), chain: chain)
    if canApply(waiting) { try apply(waiting) } else { try staged.add(waiting) }
  }

  /// The last transaction that both sides hold proves all before it: their chains must agree there.
  private func checkDuplicate(_ dot: Dot, _ chain: ContentHash) throws {
    guard dot.sequence == held[dot.origin] || dot.sequence == lasts[dot.origin] else { return }
    if let own = try log.chain(at: dot), own != chain { throw Self.brokenChain(dot.origin) }
  }

  private func canApply(_ transaction: StagedTransaction) -> Bool {
    let dot = transaction.record.dot
    #if GODWIT_PLANT
      if PlantedFault.acceptGap.isPlanted { return dot.sequence > held[dot.origin] }
    #endif
    return dot.sequence == held[dot.origin].next && held.covers(transaction.context)
  }

  private func apply(_ transaction: StagedTransaction) throws {
    let dot = transaction.record.dot
    var context = transaction.context
    context[dot.origin] = dot.sequence
    let images = try merger.add(transaction.record, context: context)
    try log.append(transaction.record, Captured(changes: transaction.record.changes, images: images))
    guard try log.origins.head(of: dot.origin).chain == transaction.chain else { throw Self.brokenChain(dot.origin) }
    held[dot.origin] = dot.sequence
    changedOrigins.insert(dot.origin)
    latest = max(latest, transaction.record.hlc)
    applied += 1
  }

  /// Applies waiting transactions for as long as one becomes possible through another.
  private func applyStaged() throws {
    var isProgressing = true
    while isProgressing {
      isProgressing = false
      for first in try staged.firsts() {
        while let waiting = try staged.get(Dot(first.origin, held[first.origin].next)), canApply(waiting) {
          let head = try log.origins.head(of: first.origin)
          guard waiting.record.chain(after: head.chain) == waiting.chain else {
            // Its sender had another history. It must not stand in the way of the right one.
            try staged.remove(through: waiting.record.dot)
            break
          }
          try apply(waiting)
          isProgressing = true
        }
        try staged.remove(through: Dot(first.origin, held[first.origin]))
      }
    }
  }

  private static func brokenChain(_ origin: Origin) -> GodwitError {
    GodwitError(
      .corruptFile, "the transactions of \(origin.replica) are not those held here under the same numbers",
      hint: "the replica was copied or restored from a backup; nothing was changed")
  }
}
