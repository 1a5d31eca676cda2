import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Writes the transactions that others may lack as a sync file, from one read transaction.
package struct Exporter {
  let connection: Connection
  let identity: Identity
  let roster: Roster
  /// The members the file is for; what all of them hold is left out.
  let targets: [Roster.Entry]
  private(set) var content: Content
  let createdAt: Int64

  /// What a file is to have.
  package enum Content: Sendable {
    /// What some target may lack, or the whole state where one needs that.
    case lacking
    /// All transactions, whatever the targets hold.
    case all
    /// The whole state in place of transactions.
    case state
    /// No transactions: what this replica holds.
    case acknowledgement
    /// What some target may lack and no other mailbox has, by what those have. Who needs a state finds it elsewhere
    /// (Specs/remotes.md, "What a mailbox holds").
    case mailbox(besides: OriginRanges)
  }

  package init(
    connection: Connection, identity: Identity, roster: Roster, targets: [Roster.Entry], content: Content,
    createdAt: Int64
  ) {
    self.connection = connection
    self.identity = identity
    self.roster = roster
    self.targets = targets
    self.content = content
    self.createdAt = createdAt
  }

  /// The same for a mailbox that leaves out what others have.
  package func leavingOut(_ ranges: OriginRanges) -> Exporter {
    var copy = self
    copy.content = .mailbox(besides: ranges)
    return copy
  }

  /// `makeDurable` is called with the own head and the state once the read transaction has begun and before anything is
  /// written, and says when that is.
  package func export(
    to sink: any ByteSink, makeDurable: (OriginTable.Head, AnchoredState) throws -> Int64, progress: ProgressHandler?
  ) throws -> ExportReport {
    let view = try View(connection, identity, roster)
    let log = view.log
    let ranges = try ranges(view)
    let stateFile =
      try ranges == nil ? StateExport(connection, log, tables: view.catalog.synced, view.prover) : nil
    let state = try AnchoredState(StatedState.present(connection, view.catalog, log), of: log)
    let statedAt = try makeDurable(log.origins.head(of: log.origins.own), state)
    let header = try header(
      view, createdAt: createdAt, ranges: ranges ?? [], chains: chains(view, besides: ranges ?? []),
      floor: view.forgotten, stateFile: stateFile?.head,
      acknowledgements: acknowledgements(log, state, roster.records.statuses, at: statedAt))
    let counter = CountingSink(sink)
    let writer = try SyncFileWriter(
      header, introduction: roster.introduction(of: identity.replica), signedBy: identity, to: counter)
    let total = header.transactionCount
    var written = 0
    progress?(0)
    try stateFile?.write(to: writer)
    try forEachInCausalOrder(ranges ?? [], log, view.waiting) { record in
      try writer.append(record)
      written += 1
      if written.isMultiple(of: max(1, total / 256)) { progress?(Double(written) / Double(total)) }
    }
    try writer.finish()
    progress?(1)
    return ExportReport(
      transactions: total, isStateFile: stateFile != nil, recipients: header.recipients.count, bytes: counter.count)
  }

  /// What an export looks at, of one state of the database.
  struct View {
    let log: ChangeLog
    let catalog: Catalog
    let prover: HistoryProver
    let forgotten: VersionVector
    let waiting: WaitingRanges

    init(_ connection: Connection, _ identity: Identity, _ roster: Roster) throws {
      log = try ChangeLog(connection)
      catalog = try Catalog(connection)
      prover = HistoryProver(identity, group: roster.group, log, on: connection)
      forgotten = try ForgottenVector.load(log, on: connection)
      waiting = try WaitingRanges(log, besides: identity.replica, on: connection)
    }
  }

  /// What the file says before its transactions.
  func header(
    _ view: View, createdAt: Int64, ranges: [SyncFileHeader.Range] = [],
    chains: [Origin: SyncFileHeader.Chain] = [:], floor: VersionVector = VersionVector(), stateFile: StateHead? = nil,
    acknowledgements: [SignedAcknowledgement] = []
  ) throws -> SyncFileHeader {
    let origins = view.log.origins
    return SyncFileHeader(
      group: roster.group, sender: identity.replica, incarnation: origins.own.incarnation, createdAt: createdAt,
      vector: origins.vector, held: view.waiting.held,
      schemaVersion: UInt64(try Meta.integer(.schemaVersion, on: connection)), recipients: recipients,
      roster: roster.records, tables: view.catalog.synced.map(\.definition),
      migrations: try MigrationHistory(connection).used(on: connection).map(\.bytes), ranges: ranges, chains: chains,
      floor: floor, ended: origins.ended, stateFile: stateFile, acknowledgements: acknowledgements)
  }

  /// The chains of what no range is of. Who wrote it is shown what it signed: so a copy learns of the other one's
  /// history.
  private func chains(
    _ view: View, besides ranges: [SyncFileHeader.Range]
  ) throws -> [Origin: SyncFileHeader.Chain] {
    let authors = Set(targets.map(\.identity.replica))
    let origins = view.log.origins
    return try SyncFileHeader.originsWithoutRange(origins.vector, ranges).reduce(into: [:]) { chains, origin in
      let head = try origins.head(of: origin)
      let isShown = origin.replica != identity.replica && authors.contains(origin.replica)
      chains[origin] = SyncFileHeader.Chain(head.chain, proof: isShown ? try view.prover.proof(of: origin) : nil)
    }
  }

  /// What this replica holds, and the latest that others that write on are known to have said.
  private func acknowledgements(
    _ log: ChangeLog, _ state: AnchoredState, _ members: [ReplicaID: MemberRecord.Status], at statedAt: Int64
  ) throws -> [SignedAcknowledgement] {
    let known = try SignedAcknowledgements(connection: connection).all()
    let own = log.origins.own
    // Where the anchor was lost others may know of a later one.
    let earlier = known.first { $0.origin == own }?.createdAt ?? .min
    let ended = log.origins.ended
    let acknowledgement = try SignedAcknowledgement.issue(
      group: roster.group, incarnation: own.incarnation, at: max(statedAt, earlier + 1),
      vector: log.origins.vector, chains: state.chains, state: state.state, members: members, ended: Set(ended.keys),
      by: identity)
    let active = Set(members.filter { $0.value == .active }.keys)
    return [acknowledgement]
      + known.filter { $0.origin != own && ended[$0.origin] == nil && active.contains($0.subject) }
  }

  var recipients: [AgeRecipient] {
    let keys = Set(targets.map(\.identity.recipient) + [identity.publicIdentity.recipient])
    return keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  /// What some target may lack, or nil when one lacks what has been forgotten and needs a state file.
  private func ranges(_ view: View) throws -> [SyncFileHeader.Range]? {
    try ranges(view, known: known(view.log))
  }

  /// - Parameter targets: What they are known to have.
  func ranges(
    _ view: View, known targets: [(applied: VersionVector, present: VersionVector)]
  ) throws -> [SyncFileHeader.Range]? {
    let (log, waiting) = (view.log, view.waiting)
    let (held, floor) = (log.origins.vector, log.origins.floor)
    let reached = targets.filter { $0.applied.covers(view.forgotten) }
    let elsewhere: OriginRanges
    let includesAll: Bool
    switch content {
    case .state: return nil
    case .acknowledgement: return []
    case .mailbox(let others): (elsewhere, includesAll) = (others, false)
    case .lacking, .all:
      guard reached.count == targets.count else { return nil }
      elsewhere = OriginRanges()
      if case .all = content { includesAll = true } else { includesAll = false }
    }
    let common = reached.dropFirst().reduce(reached.first?.present ?? floor) { $0.intersection($1.present) }
    let known = includesAll ? floor : common.union(floor)
    return try Set(held.origins + waiting.ends.keys).sorted().compactMap { origin in
      let end = try waiting.ends[origin] ?? loggedEnd(of: origin, log, view.prover)
      let before = Dot(origin, elsewhere.end(of: origin, after: known[origin]))
      // What nobody would believe waits for its author's next file.
      guard let end, before.sequence < end.last else { return nil }
      let (chain, context) = try state(at: before, log, waiting)
      return SyncFileHeader.Range(
        origin: origin, first: before.sequence.next, last: end.last, chainBefore: chain, chainAtEnd: end.chain,
        contextBefore: context, proof: end.proof)
    }
  }

  /// What the targets are known to have, but for those of which no incarnation is known to write on.
  func known(_ log: ChangeLog) throws -> [(applied: VersionVector, present: VersionVector)] {
    let incarnations = try KnownIncarnations(log, on: connection)
    return try targets.compactMap { try incarnations.known(by: $0.identity.replica) }
  }

  private func loggedEnd(of origin: Origin, _ log: ChangeLog, _ prover: HistoryProver) throws -> WaitingRanges.End? {
    guard let proof = try prover.proof(of: origin) else { return nil }
    let head = try log.origins.head(of: origin)
    return WaitingRanges.End(last: head.sequence, chain: head.chain, proof: proof)
  }

  /// The chain and context of what comes before a range, in the log or among what waits.
  private func state(
    at dot: Dot, _ log: ChangeLog, _ waiting: WaitingRanges
  ) throws -> (chain: ContentHash, context: VersionVector) {
    if dot.sequence > log.origins.vector[dot.origin], let state = try waiting.state(at: dot) { return state }
    guard let chain = try log.chain(at: dot) else {
      throw GodwitError(.damagedLog, "the log lacks transactions of \(dot.origin.replica)", hint: "run: godwit verify")
    }
    return (chain, try log.othersContext(of: dot))
  }

  /// Every transaction after all that its author held: that is in the file before it, or with every reader. What waits
  /// here comes last, and after its causes as far as those are here.
  private func forEachInCausalOrder(
    _ ranges: [SyncFileHeader.Range], _ log: ChangeLog, _ waiting: WaitingRanges,
    _ body: (TransactionRecord) throws -> Void
  ) throws {
    let applied = log.origins.vector
    var start = applied
    for range in ranges {
      start[range.origin] = min(applied[range.origin], SequenceNumber(rawValue: range.first.rawValue - 1))
    }
    let logged = ranges.filter { $0.first <= applied[$0.origin] }.map { range in
      LogOrder.Range(
        origin: range.origin, after: start[range.origin], through: min(range.last, applied[range.origin]),
        contextBefore: range.contextBefore)
    }
    var order = try LogOrder(log, logged, covered: start)
    while let entry = try order.next() { try body(entry.record) }
    let others = ranges.filter { $0.last > applied[$0.origin] }.map { range in
      (origin: range.origin, first: max(range.first, applied[range.origin].next), last: range.last)
    }
    try waiting.forEach(in: others, after: applied, body)
  }
}
