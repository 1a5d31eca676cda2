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
  private var forks: ForkWatch
  /// Hears what an import would do that is then taken back.
  private let planner: ImportPlanner?
  /// The sender holds own transactions that are not here: this is an earlier state of the replica.
  private let isBehindItself: Bool
  private var changedOrigins: Set<Origin> = []
  private var applied = 0
  private var duplicates = 0

  /// Runs inside the import's transaction, after the tables of the file have been adopted.
  private init(_ file: SyncFileReader, writer: ReplicaWriter, _ planner: ImportPlanner?) throws {
    self.file = file
    self.planner = planner
    self.writer = writer
    connection = writer.connection
    log = writer.log
    merger = try writer.merger()
    staged = StagedTransactions(connection: connection)
    held = log.origins.vector
    isBehindItself = file.header.vector[log.origins.own] > held[log.origins.own]
    forks = ForkWatch { [log] in try log.chain(at: $0) }
  }

  /// Reads the rest of the file and applies it, or throws and leaves the database as it was. With a planner it throws
  /// ``TakenBack`` when all is done.
  static func run(
    _ file: SyncFileReader, on writer: ReplicaWriter, planner: ImportPlanner? = nil, progress: ProgressHandler?
  ) throws -> MergeReport {
    let connection = writer.connection
    do {
      return try writer.inMerge {
        try planner?.begin(writer)
        try Catalog.adopt(file.header.tables, on: connection)
        try writer.reload()
        try writer.clock.correct(writer.log, writer.catalog)
        return try Importer(file, writer: writer, planner).run(progress)
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
    let sender = Origin(replica: file.header.sender, incarnation: file.header.incarnation)
    try applyStaged()
    try merger.finish()
    try log.origins.save(changedOrigins)
    try writer.clock.save(through: log.origins.head(of: log.origins.own).sequence)
    try Acknowledgements.add(file.header.vector, of: sender, parted: forks.parted, on: connection)
    let missing = try staged.missing(held: held)
    progress?(1)
    let report = MergeReport(
      sender: file.header.sender, applied: applied, duplicates: duplicates, staged: try staged.count(),
      rows: merger.rowCount, conflicts: merger.conflictCount, missing: missing,
      forks: forks.parted.sorted { $0.key < $1.key }.map { origin, sequence in
        MergeReport.Fork(replica: origin.replica, sequence: sequence.rawValue)
      })
    if let planner {
      try planner.end(writer, report)
      throw TakenBack()
    }
    // Own numbers mean other transactions elsewhere, or would with the next one.
    if isBehindItself || forks.parted[log.origins.own] != nil { try writer.startIncarnation() }
    return report
  }

  /// What the file says came before its ranges, and where they end, is compared with what is held here.
  private func checkRanges() throws {
    for range in file.header.ranges {
      let origin = range.origin
      chains[origin] = range.chainBefore
      contexts[origin] = range.contextBefore
      lasts[origin] = range.last
      let before = SequenceNumber(rawValue: range.first.rawValue - 1)
      guard before > .none || range.chainBefore == .zero else { throw Self.brokenChain(origin) }
      guard held[origin] >= before else { continue }
      if let chain = try log.chain(at: Dot(origin, before)), chain != range.chainBefore {
        forks.part(origin, at: before, isExact: false)
      } else if held[origin] >= range.last, try log.chain(at: Dot(origin, range.last)) == range.chainAtEnd {
        forks.agree(origin)
      }
    }
    for (origin, chain) in file.header.chains where held[origin] >= file.header.vector[origin] {
      let head = Dot(origin, file.header.vector[origin])
      if let here = try log.chain(at: head), here != chain { forks.part(origin, at: head.sequence, isExact: false) }
    }
  }

  private func take(_ record: TransactionRecord) throws {
    let origin = record.dot.origin
    let chain = record.chain(after: chains[origin] ?? .zero)
    chains[origin] = chain
    if let context = record.context { contexts[origin] = context }
    guard forks.parted[origin] == nil else { return }
    if held.covers(record.dot) { return try takeDuplicate(record.dot, chain) }
    var waiting = StagedTransaction(record: record, context: contexts[origin] ?? VersionVector(), chain: chain)
    waiting.isForeign = try forks.isForeign(waiting.context)
    if canApply(waiting) { try apply(waiting) } else { try staged.add(waiting) }
  }

  private func takeDuplicate(_ dot: Dot, _ chain: ContentHash) throws {
    let isLast = dot.sequence == held[dot.origin] || dot.sequence == lasts[dot.origin]
    duplicates += 1
    guard try !forks.isSame(dot, chain, isLast: isLast), let parted = forks.parted[dot.origin] else { return }
    // Those since then were none.
    duplicates -= Int(dot.sequence.rawValue - parted.rawValue) + 1
  }

  private func canApply(_ transaction: StagedTransaction) -> Bool {
    let dot = transaction.record.dot
    return !transaction.isForeign && dot.sequence == held[dot.origin].next && held.covers(transaction.context)
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
    try writer.clock.take(transaction.record.hlc, transaction.record.changes, writer.catalog)
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
            forks.part(first.origin, at: waiting.record.dot.sequence, isExact: true)
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
      .corruptFile, "the transactions of \(origin.replica) do not have the hash that the file gives for them",
      hint: "nothing was changed; ask the sender for the file again")
  }
}
