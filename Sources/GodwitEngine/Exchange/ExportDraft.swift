import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// What one export says and has, worked out once for all of its files.
struct ExportDraft {
  private let exporter: Exporter
  private var view: ExportView { exporter.view }
  /// The transactions to write, in the order of origins; none with a state file.
  private(set) var ranges: [SyncFileHeader.Range]
  let stateFile: StateExport?
  /// What this replica holds.
  private let acknowledgement: SignedAcknowledgement
  var log: ChangeLog { view.log }
  var prover: HistoryProver { view.prover }
  var waiting: WaitingRanges { view.waiting }

  /// - Parameter makeDurable: As in ``Exporter/export(to:makeDurable:progress:)``.
  init(_ exporter: Exporter, _ makeDurable: (OriginTable.Head, AnchoredState) throws -> Int64) throws {
    self.exporter = exporter
    let connection = exporter.connection
    let view = exporter.view
    let (log, catalog) = (view.log, view.catalog)
    let ranges = try exporter.ranges()
    stateFile = try ranges == nil ? StateExport(connection, log, tables: catalog.synced, view.prover) : nil
    self.ranges = ranges ?? []
    let state = try AnchoredState(StatedState.present(connection, catalog, log), of: log)
    let statedAt = try makeDurable(log.origins.head(of: log.origins.own), state)
    acknowledgement = try Self.acknowledgement(exporter, log, state, at: statedAt)
    if let limit = exporter.limit, !self.ranges.isEmpty {
      self.ranges = try PiecePlanner(self).piece(after: [:], limit: limit).ranges
    }
  }

  /// The header of a file with some of the transactions.
  func header(_ ranges: [SyncFileHeader.Range]) throws -> SyncFileHeader {
    try header(ranges, passing: exporter.passing)
  }

  private func header(
    _ ranges: [SyncFileHeader.Range], passing: Exporter.Passing?
  ) throws -> SyncFileHeader {
    let others = try passing.map(passedOn) ?? []
    return try exporter.header(
      createdAt: exporter.createdAt, ranges: ranges, chains: chains(besides: ranges), floor: view.forgotten,
      stateFile: stateFile?.head, acknowledgements: [acknowledgement] + others)
  }

  /// What others may build on: what this replica holds, without a transaction and without what others acknowledge.
  func base() throws -> HeaderBase { HeaderBase(try header([], passing: nil)) }

  /// Writes the file whose header that is, on another base or whole, and returns its bytes.
  func write(_ base: HeaderBase, on root: HeaderBase?, to sink: any ByteSink) throws -> Int {
    let counter = CountingSink(sink)
    try SyncFileWriter(
      base.header, on: root, introduction: introduction(on: root), signedBy: exporter.identity, to: counter
    ).finish()
    return counter.count
  }

  /// Who is introduced a base has among its members.
  private func introduction(on base: HeaderBase?) -> RosterRecords { base == nil ? introduction : RosterRecords() }

  /// The records by which a reader that has not met the sender can know it.
  var introduction: RosterRecords { exporter.roster.introduction(of: exporter.identity.replica) }

  /// Writes one file and returns its bytes.
  ///
  /// - Parameters:
  ///   - ranges: Its transactions.
  ///   - sent: Up to where files before it have each origin, where that is not what comes before the ranges.
  ///   - base: What its header builds on; nil to write it whole.
  ///   - onTransaction: Called when one has been written.
  func write(
    _ ranges: [SyncFileHeader.Range], after sent: [Origin: SequenceNumber] = [:], on base: HeaderBase? = nil,
    to sink: any ByteSink, onTransaction: () -> Void
  ) throws -> Int {
    let counter = CountingSink(sink)
    let writer = try SyncFileWriter(
      try header(ranges), on: base, introduction: introduction(on: base),
      signedBy: exporter.identity, to: counter)
    try stateFile?.write(to: writer)
    try forEachInCausalOrder(ranges, after: sent) { record in
      try writer.append(record)
      onTransaction()
    }
    try writer.finish()
    return counter.count
  }

  /// Every transaction after all that its author held: that is in the file before it, or with every reader. What waits
  /// here comes last, and after its causes as far as those are here.
  func forEachInCausalOrder(
    _ ranges: [SyncFileHeader.Range], after sent: [Origin: SequenceNumber],
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
        contextBefore: range.contextAtFirst)
    }
    var order = try LogOrder(log, logged, covered: start)
    while let entry = try order.next() { try body(entry.record) }
    let others = ranges.filter { $0.last > applied[$0.origin] }.map { range in
      (origin: range.origin, first: max(range.first, applied[range.origin].next), last: range.last)
    }
    var before = applied
    for (origin, last) in sent { before[origin] = max(before[origin], last) }
    try waiting.forEach(in: others, after: before, body)
  }

  /// The chain and context behind a transaction.
  func state(at dot: Dot) throws -> (chain: ContentHash, context: VersionVector) {
    try exporter.state(at: dot, log, waiting)
  }

  /// What the author of the transaction after another one had seen.
  func context(after before: Dot) throws -> VersionVector { try exporter.context(after: before) }

  /// The chains of what no range is of. Who wrote it is shown what it signed: so a copy learns of the other one's
  /// history.
  private func chains(besides ranges: [SyncFileHeader.Range]) throws -> [Origin: SyncFileHeader.Chain] {
    let authors = Set(exporter.targets.map(\.identity.replica))
    let own = exporter.identity.replica
    return try SyncFileHeader.originsWithoutRange(log.origins.vector, ranges).reduce(into: [:]) { chains, origin in
      let head = try log.origins.head(of: origin)
      let isShown = origin.replica != own && authors.contains(origin.replica)
      chains[origin] = SyncFileHeader.Chain(head.chain, proof: isShown ? try prover.proof(of: origin) : nil)
    }
  }

  private static func acknowledgement(
    _ exporter: Exporter, _ log: ChangeLog, _ state: AnchoredState, at statedAt: Int64
  ) throws -> SignedAcknowledgement {
    let own = log.origins.own
    // Where the anchor was lost others may know of a later one.
    let earlier = try SignedAcknowledgements(connection: exporter.connection).latest(of: own)?.createdAt ?? .min
    return try SignedAcknowledgement.issue(
      group: exporter.roster.group, incarnation: own.incarnation, at: max(statedAt, earlier + 1),
      vector: log.origins.vector, chains: state.chains, state: state.state, members: exporter.roster.records.statuses,
      ended: Set(log.origins.ended.keys), by: exporter.identity)
  }

  /// The latest that others that write on are known to have acknowledged.
  private func passedOn(_ passing: Exporter.Passing) throws -> [SignedAcknowledgement] {
    let known = SignedAcknowledgements(connection: exporter.connection)
    let (own, ended) = (log.origins.own, log.origins.ended)
    let active = Set(exporter.roster.active.map(\.identity.replica))
    return try known.origins().filter { origin in
      guard origin != own, ended[origin] == nil, active.contains(origin.replica) else { return false }
      // Its maker's copies are known nowhere else.
      guard case .besides(let there) = passing, origin.replica != own.replica else { return true }
      return !there.contains(origin)
    }.compactMap { origin in
      let latest = try known.latest(of: origin)
      guard case .since(let time) = passing, origin.replica != own.replica else { return latest }
      return latest.flatMap { $0.createdAt >= time ? $0 : nil }
    }
  }
}

/// How much of an export is done.
struct ExportMeter {
  let total: Int
  private let progress: ProgressHandler?
  private var written = 0
  /// The most that was reported: what is written anew is not reported again.
  private var reported = 0

  init(total: Int, _ progress: ProgressHandler?) {
    self.total = total
    self.progress = progress
    progress?(0)
  }

  mutating func advance() {
    written += 1
    guard written > reported, written.isMultiple(of: max(1, total / 256)) else { return }
    reported = written
    progress?(Double(written) / Double(max(1, total)))
  }

  /// Begins anew where another one stands.
  mutating func moveBack(to other: ExportMeter) { written = other.written }

  func finish() { progress?(1) }
}
