import GodwitBase
import GodwitKeys
import GodwitReplication
import GodwitStorage
import GodwitSyncFile

/// Writes the transactions that others may lack as a sync file, from one snapshot of the database.
struct Exporter {
  let connection: Connection
  let identity: Identity
  let roster: Roster
  /// The members the file is for; what all of them hold is left out.
  let targets: [MemberRecord]
  /// Leave out nothing.
  let includesAll: Bool
  let createdAt: Int64

  /// `makeDurable` is called with the own head once the snapshot stands and before anything of it is written.
  func export(
    to sink: any ByteSink, makeDurable: (OriginTable.Head) throws -> Void, progress: ProgressHandler?
  ) throws -> ExportReport {
    let log = try ChangeLog(connection)
    let ranges = try ranges(log)
    try makeDurable(log.origins.head(of: log.origins.own))
    let held = log.origins.vector
    let chains = try SyncFileHeader.originsWithoutRange(held, ranges).map { ($0, try log.origins.head(of: $0).chain) }
    let header = SyncFileHeader(
      group: roster.group, sender: identity.replica, incarnation: log.origins.own.incarnation, createdAt: createdAt,
      vector: held,
      schemaVersion: UInt64(try Meta.integer(.schemaVersion, on: connection)), recipients: recipients,
      members: roster.sorted, tables: try Catalog(connection).synced.map(\.definition),
      migrations: try MigrationHistory(connection).known.map(\.bytes), ranges: ranges,
      chains: Dictionary(uniqueKeysWithValues: chains))
    let counter = CountingSink(sink)
    let writer = try SyncFileWriter(header, signedBy: identity, to: counter)
    let total = header.transactionCount
    var written = 0
    progress?(0)
    try forEachInCausalOrder(ranges, log) { record in
      try writer.append(record)
      written += 1
      if written.isMultiple(of: max(1, total / 256)) { progress?(Double(written) / Double(total)) }
    }
    try writer.finish()
    progress?(1)
    return ExportReport(transactions: total, recipients: header.recipients.count, bytes: counter.count)
  }

  private var recipients: [AgeRecipient] {
    let keys = Set(targets.map(\.identity.recipient) + [identity.publicIdentity.recipient])
    return keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  /// What every target is known to hold.
  private func commonlyHeld() throws -> VersionVector {
    let others = targets.filter { $0.identity.replica != identity.replica }
    guard !includesAll, let first = others.first else { return VersionVector() }
    let start = try Acknowledgements.get(first.identity.replica, on: connection)
    return try others.dropFirst().reduce(start) {
      $0.intersection(try Acknowledgements.get($1.identity.replica, on: connection))
    }
  }

  private func ranges(_ log: ChangeLog) throws -> [SyncFileHeader.Range] {
    let held = log.origins.vector
    let known = try commonlyHeld()
    return try held.origins.compactMap { origin in
      let last = held[origin]
      let before = Dot(origin, known[origin])
      guard before.sequence < last else { return nil }
      guard let chainBefore = try log.chain(at: before), let chainAtEnd = try log.chain(at: Dot(origin, last)) else {
        throw GodwitError(.damagedLog, "the log lacks transactions of \(origin.replica)", hint: "run: godwit verify")
      }
      return SyncFileHeader.Range(
        origin: origin, first: before.sequence.next, last: last, chainBefore: chainBefore, chainAtEnd: chainAtEnd,
        contextBefore: try log.othersContext(of: before))
    }
  }

  /// Every transaction after all that its author held: that is in the file before it, or with every reader.
  private func forEachInCausalOrder(
    _ ranges: [SyncFileHeader.Range], _ log: ChangeLog, _ body: (TransactionRecord) throws -> Void
  ) throws {
    var start = log.origins.vector
    for range in ranges { start[range.origin] = SequenceNumber(rawValue: range.first.rawValue - 1) }
    let wanted = ranges.map { range in
      LogOrder.Range(
        origin: range.origin, after: start[range.origin], through: range.last, contextBefore: range.contextBefore)
    }
    var order = try LogOrder(log, wanted, covered: start)
    while let entry = try order.next() { try body(entry.record) }
  }
}
