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
  let memory: Memory
  let view: ExportView
  /// Which acknowledgements the file passes on; its maker's own is in each.
  private(set) var passing = Passing.all
  /// To whom a file for all targets is sealed in their place.
  private var epoch: AgeRecipient?
  /// The epoch that the file brings.
  private var brought: EpochKey?
  /// How many bytes one file may have that others continue; nil where it is to have all.
  private(set) var limit: Int?

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
    case mailbox(besides: JoinedRanges)
  }

  /// Which acknowledgements of others a file passes on.
  package enum Passing: Sendable {
    case all
    /// Those of all incarnations but these.
    case besides(Set<Origin>)
    /// Those that were created at a time, in milliseconds since 1970 UTC, or later.
    case since(Int64)
  }

  /// What exports of a replica read once for many.
  package struct Memory: Sendable {
    package let bases = KnownBases()
    package let acknowledgements = KnownAcknowledgements()

    package init() {}
  }

  /// - Parameter speaker: The incarnation that takes the file at once: whatever else writes on for its member does not
  ///   get it. Nil where it may be any.
  package init(
    connection: Connection, identity: Identity, roster: Roster, targets: [Roster.Entry], at speaker: Origin? = nil,
    content: Content, createdAt: Int64, memory: Memory
  ) throws {
    self.connection = connection
    self.identity = identity
    self.roster = roster
    self.targets = targets
    self.content = content
    self.createdAt = createdAt
    self.memory = memory
    view = try ExportView(connection, identity, roster, targets, at: speaker, memory.acknowledgements)
  }

  /// The same for a mailbox that leaves out what others have.
  package func leavingOut(_ ranges: [OriginRanges]) -> Exporter {
    var copy = self
    copy.content = .mailbox(besides: JoinedRanges(ranges))
    return copy
  }

  /// The same for a file that passes on some acknowledgements of others alone.
  package func passing(_ passing: Passing) -> Exporter {
    var copy = self
    copy.passing = passing
    return copy
  }

  /// The same for a file that is sealed to an epoch of just its recipients.
  package func sealed(to epoch: AgeRecipient?) -> Exporter {
    var copy = self
    copy.epoch = epoch
    return copy
  }

  /// The same for a file that brings an epoch.
  package func bringing(_ epoch: EpochKey) -> Exporter {
    var copy = self
    copy.brought = epoch
    return copy
  }

  /// The same for a file that ends where it would get larger than so many bytes, if it can be cut there: what it lacks
  /// is for the next one. Nil for one that has all.
  package func limited(to limit: Int?) -> Exporter {
    var copy = self
    copy.limit = limit
    return copy
  }

  /// `makeDurable` is called with the own head and the state once the read transaction has begun and before anything is
  /// written, and says when that is.
  package func export(
    to sink: any ByteSink, makeDurable: (OriginTable.Head, AnchoredState) throws -> Int64, progress: ProgressHandler?
  ) throws -> ExportReport {
    let draft = try ExportDraft(self, makeDurable)
    var meter = ExportMeter(total: try draft.header(draft.ranges).transactionCount, progress)
    let bytes = try draft.write(draft.ranges, to: sink) { meter.advance() }
    meter.finish()
    var report = ExportReport(
      transactions: meter.total, isStateFile: draft.stateFile != nil, recipients: recipients.count, bytes: bytes)
    report.ranges =
      draft.stateFile == nil ? OriginRanges(draft.ranges) : OriginRanges(through: view.log.origins.vector)
    return report
  }

  /// What the file says before its transactions.
  func header(
    createdAt: Int64, ranges: [SyncFileHeader.Range] = [],
    chains: [Origin: SyncFileHeader.Chain] = [:], floor: VersionVector = VersionVector(), stateFile: StateHead? = nil,
    acknowledgements: [SignedAcknowledgement] = []
  ) throws -> SyncFileHeader {
    let origins = view.log.origins
    return SyncFileHeader(
      group: roster.group, sender: identity.replica, incarnation: origins.own.incarnation, createdAt: createdAt,
      vector: origins.vector, held: view.waiting.held,
      schemaVersion: UInt64(try Meta.integer(.schemaVersion, on: connection)),
      recipients: epoch.map { [$0] } ?? recipients,
      roster: roster.records, tables: view.catalog.synced.map(\.definition),
      migrations: try MigrationHistory(connection).used(on: connection).map(\.bytes), ranges: ranges, chains: chains,
      floor: floor, ended: origins.ended, stateFile: stateFile, acknowledgements: acknowledgements,
      epoch: brought)
  }

  /// The keys of all whom the file is for.
  var recipients: [AgeRecipient] {
    let keys = Set(targets.map(\.identity.recipient) + [identity.publicIdentity.recipient])
    return keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  /// What some target may lack, or nil when one lacks what has been forgotten and needs a state file.
  func ranges() throws -> [SyncFileHeader.Range]? {
    let (log, waiting, floor) = (view.log, view.waiting, view.log.origins.floor)
    let held = log.origins.vector
    let elsewhere: JoinedRanges
    var known = floor
    switch content {
    case .state: return nil
    case .acknowledgement: return []
    case .mailbox(let others):
      elsewhere = others
      known = try view.common().present?.union(floor) ?? floor
    case .lacking, .all:
      let common = try view.common()
      guard !common.needsState else { return nil }
      elsewhere = JoinedRanges()
      if case .lacking = content { known = common.present?.union(floor) ?? floor }
    }
    return try Set(held.origins + waiting.ends.keys).sorted().compactMap { origin in
      let end = try waiting.ends[origin] ?? loggedEnd(of: origin, log, view.prover)
      let before = Dot(origin, elsewhere.end(of: origin, after: known[origin]))
      // What nobody would believe waits for its author's next file.
      guard let end, before.sequence < end.last else { return nil }
      let chain = try state(at: before, log, waiting).chain
      return SyncFileHeader.Range(
        origin: origin, first: before.sequence.next, last: end.last, chainBefore: chain, chainAtEnd: end.chain,
        contextAtFirst: try context(after: before), proof: end.proof)
    }
  }

  private func loggedEnd(of origin: Origin, _ log: ChangeLog, _ prover: HistoryProver) throws -> WaitingRanges.End? {
    guard let proof = try prover.proof(of: origin) else { return nil }
    let head = try log.origins.head(of: origin)
    return WaitingRanges.End(last: head.sequence, chain: head.chain, proof: proof)
  }

  /// What the author of the transaction after another one had seen; nothing for the first one, which inherits nothing.
  func context(after before: Dot) throws -> VersionVector {
    guard before.sequence > .none else { return VersionVector() }
    let next = Dot(before.origin, before.sequence.next)
    let applied = view.log.origins.vector[before.origin]
    guard before.sequence >= applied else { return try view.log.othersContext(of: next) }
    // What waits may have come with files that say something else of what it inherits.
    if let stated = try view.waiting.statedContext(through: next, after: applied) { return stated }
    return applied == .none ? VersionVector() : try view.log.othersContext(of: Dot(before.origin, applied))
  }

  /// The chain and context of what comes before a range, in the log or among what waits.
  func state(
    at dot: Dot, _ log: ChangeLog, _ waiting: WaitingRanges
  ) throws -> (chain: ContentHash, context: VersionVector) {
    if dot.sequence > log.origins.vector[dot.origin], let state = try waiting.state(at: dot) { return state }
    guard let chain = try log.chain(at: dot) else {
      throw GodwitError(.damagedLog, "the log lacks transactions of \(dot.origin.replica)", hint: "run: godwit verify")
    }
    return (chain, try log.othersContext(of: dot))
  }
}
