import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage

/// Applies waiting transactions inside the running one, for as long as one becomes possible through another.
final class WaitingAttempt {
  /// What came of it.
  struct Outcome {
    var applied = 0
    var rows = 0
    var conflicts = 0
    var prunedConflicts = 0
    var parted: [Origin: SequenceNumber] = [:]
    var leftOut: [Origin: MergeReport.LeftOut] = [:]
    var dropped: [MergeReport.Dropped] = []
    /// What an upgrade could not apply, and keeps.
    var setAside: [MergeReport.Dropped] = []
  }

  private let writer: ReplicaWriter
  private let note: TrialNote
  private let log: ChangeLog
  private let applier: TransactionApplier
  private let staged: StagedTransactions
  private let forgotten: VersionVector
  private var held: VersionVector
  /// The origins that wait, by that of the first transaction which they lack.
  private var awaiting: [Origin: [(origin: Origin, cause: SequenceNumber)]] = [:]
  private(set) var outcome = Outcome()
  /// Those that were tried, in order.
  private(set) var tried: [Dot] = []

  init(_ writer: ReplicaWriter, _ note: TrialNote, aside: Set<Int>) throws {
    self.writer = writer
    self.note = note
    log = writer.log
    applier = try TransactionApplier(writer, aside: aside)
    staged = StagedTransactions(connection: writer.connection)
    forgotten = try ForgottenVector.load(log, on: writer.connection)
    held = log.origins.vector
  }

  /// Tries so many at most.
  func run(limit: Int) throws {
    var queue = try staged.firsts().map(\.origin)
    while let origin = queue.popLast(), tried.count < limit {
      let before = held[origin]
      try applyNext(of: origin, limit: limit)
      try staged.remove(through: Dot(origin, held[origin]))
      if held[origin] > before { queue += freed(by: origin) }
    }
    try finish()
  }

  /// The origins that wait for something which is held now.
  private func freed(by origin: Origin) -> [Origin] {
    let waiting = awaiting[origin] ?? []
    awaiting[origin] = waiting.filter { $0.cause > held[origin] }
    return waiting.filter { $0.cause <= held[origin] }.map(\.origin)
  }

  private func applyNext(of origin: Origin, limit: Int) throws {
    var previous: StagedTransaction?
    while tried.count < limit, let waiting = try staged.get(Dot(origin, held[origin].next), after: previous),
      try canApply(waiting)
    {
      let dot = waiting.record.dot
      if !waiting.hasSeen(forgotten) {
        if let left = try staged.remove(of: origin, after: held[origin]) {
          outcome.leftOut[origin] = MergeReport.LeftOut(
            replica: origin.replica, sequences: left.lowerBound.rawValue...left.upperBound.rawValue, reason: .fenced)
        }
        break
      }
      guard waiting.record.chain(after: try log.origins.head(of: origin).chain) == waiting.chain else {
        // Its sender had another history. It must not stand in the way of the right one.
        outcome.parted[origin] = dot.sequence
        try staged.remove(through: dot)
        break
      }
      guard try waiting.hasSeenWhatItHad(log) else {
        // Who sent it said so falsely. The true one comes again, for this one is not held.
        try staged.remove(through: dot)
        break
      }
      try note.add(waiting.chain)
      tried.append(dot)
      try applier.apply(waiting.record, others: waiting.context)
      held[origin] = dot.sequence
      outcome.applied += 1
      previous = waiting
    }
  }

  private func canApply(_ waiting: StagedTransaction) throws -> Bool {
    guard !waiting.isForeign, !waiting.isSetAside else { return false }
    if let missing = waiting.context.origins.first(where: { waiting.context[$0] > held[$0] }) {
      awaiting[missing, default: []].append((waiting.record.dot.origin, waiting.context[missing]))
      return false
    }
    return try applier.awaited(by: waiting.record) == nil
  }

  private func finish() throws {
    for origin in outcome.leftOut.keys { try log.origins.moveEnd(of: origin, to: held[origin]) }
    try applier.merger.finish()
    try log.origins.save(Set(tried.map(\.origin)))
    try writer.clock.save(through: log.origins.head(of: log.origins.own).sequence)
    try writer.withAcknowledgements { acknowledgements in
      try SignedAcknowledgements(connection: writer.connection).weighPending(&acknowledgements, held: held, writer)
      try acknowledgements.count(held: held)
    }
    outcome.rows = applier.merger.rowCount
    outcome.conflicts = applier.merger.conflictCount
    outcome.prunedConflicts = applier.merger.prunedConflicts
  }
}

extension StagedTransaction {
  /// Whether its author had seen all that has been forgotten here.
  func hasSeen(_ forgotten: VersionVector) -> Bool {
    var context = context
    context[record.dot.origin] = record.dot.sequence
    return context.covers(forgotten)
  }

  /// Chains cover the contexts that transactions state, and not what a file says of those before it: whoever passes on
  /// another's transactions must not change what they had seen. All before it is held.
  func hasSeenWhatItHad(_ log: ChangeLog) throws -> Bool {
    guard record.context == nil else { return true }
    let before = Dot(record.dot.origin, SequenceNumber(rawValue: record.dot.sequence.rawValue - 1))
    return try log.othersContext(of: before) == context
  }
}
