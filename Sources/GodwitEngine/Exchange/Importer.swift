import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitModel
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Applies a sync file in one database transaction. Every origin's transactions are applied once, in sequence,
/// each after its context; what comes too early is staged.
package final class Importer {
  private let writer: ReplicaWriter
  private let connection: Connection
  private let file: SyncFileReader
  /// With the members that the file names, for whom its signature vouches; nothing is kept unless that fits.
  private let vouchedRoster: Roster
  /// What the file says of members that was not known.
  private var memberChanges: [Member.Change] = []
  private let log: ChangeLog
  private let applier: TransactionApplier
  private let merger: Merger
  private let staged: StagedTransactions
  private let waitingRoom: WaitingRoom
  private var histories: StatedHistories
  /// What the last applied transaction of each origin had seen, as the log has it.
  private var comparedContexts: [Origin: VersionVector] = [:]
  private var held: VersionVector
  private var forks: ForkWatch
  private var admission: HistoryAdmission
  /// Looks at what an import would do that is then taken back.
  private let planner: ImportPlanner?
  /// The sender holds own transactions that are not here: this is an earlier state of the replica.
  private var isBehindItself: Bool
  private let forgotten: VersionVector
  private let endings: [Origin: SequenceNumber]
  /// Whether the sender knows that it is a member: what it wrote before it was removed and let in again it makes anew.
  private let isAware: Bool
  /// Whether the file says of an incarnation that it has ended which was not known to have.
  private let hasNewEnding: Bool
  private var changedOrigins: Set<Origin> = []
  /// What is never taken in here, and all of its origins that comes after it.
  private var leftOut: [Origin: MergeReport.LeftOut] = [:]
  private var applied = 0
  private var duplicates = 0
  /// The last value that was listed as not kept exactly before the import.
  private let lastLoss: Int64

  /// Runs inside the import's transaction, after the tables of the file have been adopted.
  private init(
    _ file: SyncFileReader, _ admission: HistoryAdmission, vouched: Roster, writer: ReplicaWriter,
    _ planner: ImportPlanner?, lastLoss: Int64
  ) throws {
    self.admission = admission
    self.file = file
    histories = StatedHistories(file.header)
    self.lastLoss = lastLoss
    self.planner = planner
    self.writer = writer
    connection = writer.connection
    log = writer.log
    applier = try TransactionApplier(writer)
    merger = applier.merger
    staged = StagedTransactions(connection: connection)
    waitingRoom = WaitingRoom(connection, vouched, sender: file.header.sender)
    held = log.origins.vector
    isBehindItself = admission.showsMore(of: log.origins.own, than: held, in: file.header)
    forks = ForkWatch { [log] in try log.chain(at: $0) }
    forgotten = try ForgottenVector.load(log, on: connection)
    vouchedRoster = vouched
    isAware = vouched.isAware(file.preamble, file.header)
    // Of replicas that nobody has invited nothing has ended.
    let known = log.origins.ended
    for (origin, last) in file.header.ended where vouched[origin.replica] != nil {
      try log.origins.end(origin, through: last)
    }
    endings = log.origins.ended
    hasNewEnding = endings.count > known.count
  }

  /// Reads the rest of the file and applies it, or throws and leaves the database as it was. With a planner it throws
  /// ``TakenBack`` when all is done.
  package static func run(
    _ file: SyncFileReader, from members: TrustedMembers, on writer: ReplicaWriter, isRejoining: Bool = false,
    planner: ImportPlanner? = nil, progress: ProgressHandler?
  ) throws -> MergeReport {
    do {
      let report = try writer.inMerge {
        let roster = try members.load()
        // It may have been removed while this import waited for another.
        _ = try members.sender(of: file.preamble, among: roster, isPlanned: planner != nil)
        var vouched = roster
        vouched.merge(file.header.roster, isVouchedFor: true)
        try requireRejoining(after: vouched, since: roster, file.header, isRejoining, writer.log)
        let admission = HistoryAdmission(file.header, vouched)
        let lastLoss = try LossLog(writer.connection).last
        try planner?.begin(writer)
        try FileSchema.takeIn(file.header, on: writer, isRejoining: isRejoining)
        try writer.clock.correct(writer.log, writer.catalog)
        let own = writer.log.origins.own
        let wasBehindItself = admission.showsMore(of: own, than: writer.log.origins.vector, in: file.header)
        var state: StateImport.Outcome?
        if let head = file.header.stateFile,
          try !writer.log.origins.vector.covers(head.floor)
            || isRejoining
              && (holds(unawareOf: head.vector, besides: head.vector, writer.log)
                || isKnownToDiffer(from: head, writer, vouched))
        {
          try admission.requireAll(of: file.header)
          try planner?.beginStateFile(writer)
          state = try StateImport(file, head, from: vouched, writer: writer, isPlanned: planner != nil)
            .run(isRejoining: isRejoining, progress)
        }
        let new = try Importer(file, admission, vouched: vouched, writer: writer, planner, lastLoss: lastLoss)
        new.memberChanges = vouched.changes(since: roster)
        if state != nil { new.isBehindItself = wasBehindItself && writer.log.origins.own == own }
        let report = try state.map(new.acknowledge) ?? new.run(progress)
        // Another process may have removed the sender meanwhile.
        _ = try members.sender(of: file.preamble, among: members.load(), isPlanned: planner != nil)
        // Before the database says what those hold: who is not known here does not count.
        try members.remember(file.header.roster, beyond: roster)
        try members.rememberEpoch(of: file.header)
        return report
      }
      return try report.adding(WaitingRun.run(on: writer), file.header, on: writer)
    } catch let error as GodwitError where error.code == .constraint {
      throw GodwitError(
        .importConstraint, "the merged changes would break a constraint: \(error.message)",
        hint: "nothing was changed; resolve the row on one replica and export again", underlying: error)
    }
  }

  /// Who was removed and is a member again makes anew what it wrote and the sender does not have: others may have
  /// forgotten what it had not seen. Throws `fenced`.
  private static func requireRejoining(
    after members: Roster, since known: Roster, _ header: SyncFileHeader, _ isRejoining: Bool, _ log: ChangeLog
  ) throws {
    let (own, held) = (log.origins.own.replica, log.origins.vector)
    guard members.hasReturned(own, since: known), !isRejoining || header.stateFile == nil,
      held.origins.contains(where: { $0.replica == own && held[$0] > header.vector[$0] })
    else { return }
    throw GodwitError(
      .fenced, "this replica was removed from its group and let in again, and has changes that the sender lacks",
      hint: "nothing was changed; take a state file of the sender's, and make those changes anew: "
        + "godwit export --state FILE there, godwit import --rejoin FILE here")
  }

  /// Whether this replica lacks what a file's sender has forgotten, or the sender would leave out what is held here.
  package static func needsState(after header: SyncFileHeader, _ log: ChangeLog) throws -> Bool {
    if !log.origins.vector.covers(header.floor) { return true }
    return try holds(unawareOf: header.floor, besides: header.vector, log)
  }

  /// Whether anything is held beyond what some other replica has, by authors who had not seen all of what that one
  /// has forgotten, or will have.
  private static func holds(
    unawareOf seen: VersionVector, besides sent: VersionVector, _ log: ChangeLog
  ) throws -> Bool {
    guard !seen.isEmpty else { return false }
    let (held, floor) = (log.origins.vector, log.origins.floor)
    return try held.origins.contains { origin in
      let first = max(sent[origin], floor[origin]).next
      return try first <= held[origin] && !log.context(of: Dot(origin, first)).covers(seen)
    }
  }

  /// Whether it is known here that histories or rows differ, which nothing but another's state brings together.
  private static func isKnownToDiffer(
    from head: StateHead, _ writer: ReplicaWriter, _ members: Roster
  ) throws -> Bool {
    guard try KnownForks(connection: writer.connection).list().isEmpty else { return true }
    guard try SignedAcknowledgements(connection: writer.connection).differing().isEmpty else { return true }
    // What is forgotten everybody holds, but for what a member that was removed since gave this replica alone.
    let floor = writer.log.origins.floor
    let isUnheard = floor.origins.contains { floor[$0] > head.vector[$0] && members[$0.replica]?.isActive == false }
    guard !isUnheard else { return true }
    return try head.origins.contains { origin in
      let chain = try writer.log.chain(at: Dot(origin.origin, origin.sequence))
      return chain != nil && chain != origin.chain
    }
  }

  private func run(_ progress: ProgressHandler?) throws -> MergeReport {
    let known = try KnownForks(connection: connection).shown(by: file.header.sender)
    for (origin, sequence) in known where histories.isSilent(on: Dot(origin, sequence), held: held) {
      forks.part(origin, at: sequence, isExact: false)
    }
    try histories.compare(with: log, admission, &forks)
    let total = file.header.transactionCount
    var count = 0
    progress?(0)
    try forEachRecord { record in
      try take(record)
      count += 1
      if count.isMultiple(of: max(1, total / 256)) { progress?(Double(count) / Double(total)) }
    }
    try histories.checkEnds()
    try finish()
    progress?(1)
    return try conclude(rows: merger.rowCount)
  }

  private func finish() throws {
    try leaveOutStaged()
    try waitingRoom.dropRemoved()
    var migrations = try MigrationHistory(connection)
    try migrations.forgetUnused(broughtBy: { vouchedRoster[$0]?.isActive != true }, on: connection)
    let known = KnownForks(connection: connection)
    try known.note(forks.parted, shownBy: file.header.sender)
    try known.forget { vouchedRoster[$0]?.isActive != true }
    for (origin, left) in leftOut where left.reason == .fenced { try log.origins.moveEnd(of: origin, to: held[origin]) }
    try merger.finish()
    try log.origins.save(changedOrigins)
    try admission.keep(
      file.header, held: log.origins, besides: Set(forks.parted.keys), in: SignedHeads(connection: connection))
    try writer.clock.save(through: log.origins.head(of: log.origins.own).sequence)
    try AcknowledgementIntake(
      header: file.header, writer: writer, roster: vouchedRoster, forks: forks, held: held, endings: endings
    ).run()
  }

  /// What is left to do when a state file has been loaded.
  private func acknowledge(_ stateFile: StateImport.Outcome) throws -> MergeReport {
    try finish()
    return try conclude(rows: merger.rowCount, stateFile)
  }

  private func conclude(rows: Int, _ stateFile: StateImport.Outcome? = nil) throws -> MergeReport {
    let waiting = try MergeReport.Waiting(on: writer)
    let leftOut = leftOut.sorted { $0.key < $1.key }.map(\.value)
    let report = MergeReport(
      sender: file.header.sender,
      applied: MergeReport.Applied(
        transactions: applied, duplicates: duplicates, rows: rows, state: stateFile.map { MergeReport.State($0) },
        members: memberChanges),
      waiting: waiting,
      attention: MergeReport.Attention(
        conflicts: merger.conflictCount + (stateFile?.conflicts ?? 0), prunedConflicts: merger.prunedConflicts,
        losses: Int(try LossLog(connection).last - lastLoss),
        fenced: waiting.fenced(by: file.header, leftOut, on: writer),
        forks: forks.parted.sorted { $0.key < $1.key }.map { origin, sequence in
          MergeReport.Fork(replica: origin.replica, sequence: sequence.rawValue)
        }, leftOut: leftOut, dropped: waitingRoom.notKept,
        differing: try SignedAcknowledgements(connection: connection).differing()))
    if let planner {
      try planner.end(writer, report.adding(WaitingRun.plan(on: writer), file.header, on: writer), stateFile)
      throw TakenBack()
    }
    // Own numbers mean other transactions elsewhere, or would with the next one, or nobody takes any.
    let own = log.origins.own
    if isBehindItself || forks.parted[own] != nil || endings[own] != nil { try writer.anchor.startIncarnation() }
    return report
  }

  /// The file's transactions. Of a state file that a replica does not need only those that have not been forgotten
  /// count.
  private func forEachRecord(_ body: (TransactionRecord) throws -> Void) throws {
    guard let head = file.header.stateFile else {
      while let record = try file.next() { try body(record) }
      return
    }
    var sequences = head.origins.map(\.floor)
    while let block = try file.nextBlock() {
      var reader = ByteReader(block)
      while !reader.isAtEnd {
        let item = try StateItem(
          reading: &reader, tables: file.header.tables.count, origins: head.origins.count,
          migrations: file.header.migrations.count)
        guard case .transaction(let number, let transaction) = item else { continue }
        sequences[number] = sequences[number].next
        try body(transaction.record(Dot(head.origins[number].origin, sequences[number])))
      }
    }
    guard sequences == head.origins.map(\.sequence) else {
      throw ByteReader.malformed("the transactions of a state file do not reach its head")
    }
  }

  private func take(_ record: TransactionRecord) throws {
    let origin = record.dot.origin
    let digest = record.digest()
    let chain = histories.follow(record, digest)
    guard !admission.refused.contains(origin) else {
      return leaveOut(origin, record.dot.sequence...record.dot.sequence, .unsigned)
    }
    let context = histories.context(of: record)
    guard forks.parted[origin] == nil else { return }
    if held.covers(record.dot) { return try takeDuplicate(record.dot, chain) }
    var waiting = StagedTransaction(record: record, context: context, chain: chain)
    waiting.isForeign = try forks.isForeign(waiting.context)
    if !waiting.isForeign, record.dot.sequence == held[origin].next, try !hasSeenWhatItHad(waiting) {
      throw GodwitError.falseContext(record.dot)
    }
    if let reason = reasonToLeaveOut(waiting) {
      admission.passOver(record.dot, digest)
      return leaveOut(origin, record.dot.sequence...record.dot.sequence, reason)
    }
    guard try canApply(waiting) else {
      admission.passOver(record.dot, digest)
      return try waitingRoom.keep(waiting)
    }
    try apply(waiting)
  }

  private func takeDuplicate(_ dot: Dot, _ chain: ContentHash) throws {
    let isLast = dot.sequence == held[dot.origin] || histories.isLast(dot)
    duplicates += 1
    guard try !forks.isSame(dot, chain, isLast: isLast), let parted = forks.parted[dot.origin] else { return }
    // Those since then were none.
    duplicates -= Int(dot.sequence.rawValue - parted.rawValue) + 1
  }

  private func canApply(_ transaction: StagedTransaction) throws -> Bool {
    let dot = transaction.record.dot
    // Whether what waits at its sender fits with the tables nobody may have looked at yet: it is tried by itself.
    guard dot.sequence <= file.header.vector[dot.origin] else { return false }
    guard !transaction.isForeign, dot.sequence == held[dot.origin].next, held.covers(transaction.context) else {
      return false
    }
    return try applier.awaited(by: transaction.record) == nil
  }

  /// Why a transaction can never be applied here: what is forgotten stays so, and what it had seen stays what it is.
  /// Nor can those of its origin that come after it.
  private func reasonToLeaveOut(_ transaction: StagedTransaction) -> MergeReport.LeftOut.Reason? {
    let dot = transaction.record.dot
    if let left = leftOut[dot.origin] { return left.reason }
    // Beyond its end an incarnation's transactions are taken from those alone that live and hold them: they took them
    // before they knew.
    let sender = file.header.origin
    if let end = endings[dot.origin], dot.sequence > end, endings[sender] != nil { return .ended }
    if !isAware, dot.origin.replica == file.header.sender { return .fenced }
    return transaction.hasSeen(forgotten) ? nil : .fenced
  }

  private func leaveOut(
    _ origin: Origin, _ sequences: ClosedRange<SequenceNumber>, _ reason: MergeReport.LeftOut.Reason
  ) {
    let (first, last) = (sequences.lowerBound.rawValue, sequences.upperBound.rawValue)
    let before = leftOut[origin]?.sequences ?? first...last
    leftOut[origin] = MergeReport.LeftOut(
      replica: origin.replica, sequences: min(first, before.lowerBound)...max(last, before.upperBound), reason: reason)
  }

  /// What had been waiting when the end of its author, or of who may have sent it, became known. Who lives and holds it
  /// brings it again.
  private func leaveOutStaged() throws {
    guard hasNewEnding else { return }
    for (origin, left) in try staged.removeBeyond(endings) { leaveOut(origin, left, .ended) }
  }

  /// Compared once for all that inherit one context.
  private func hasSeenWhatItHad(_ transaction: StagedTransaction) throws -> Bool {
    if comparedContexts[transaction.record.dot.origin] == transaction.context { return true }
    return try transaction.hasSeenWhatItHad(log)
  }

  private func apply(_ transaction: StagedTransaction) throws {
    let dot = transaction.record.dot
    comparedContexts[dot.origin] = transaction.context
    try applier.apply(transaction.record, others: transaction.context)
    guard try log.origins.head(of: dot.origin).chain == transaction.chain else {
      throw GodwitError.brokenChain(dot.origin)
    }
    held[dot.origin] = dot.sequence
    changedOrigins.insert(dot.origin)
    applied += 1
  }
}
