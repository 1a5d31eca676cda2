import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitStorage

/// Tries what has waited, once an import has committed what its file brought, in transactions of its own: what nobody
/// can apply is dropped, by name, and keeps nothing else from being applied (Specs/merge.md, "Waiting").
struct WaitingRun {
  private let writer: ReplicaWriter
  private let note: TrialNote
  private let staged: StagedTransactions
  private let place: Place
  private let progress: ProgressHandler?
  private var aside: Set<Int> = []
  private var outcome = WaitingAttempt.Outcome()

  private enum Place {
    /// Transactions of its own.
    case own
    /// The transaction of an import that is going to be taken back.
    case plan
    /// The transaction of a migration, which continues whatever comes of it.
    case migration
  }

  /// So many are tried in one transaction.
  private static let batchLimit = 256
  /// What says that a transaction cannot be applied, now or later.
  private static let unfit: Set<GodwitError.Code> = [
    .corruptFile, .truncatedFile, .needsMigration, .constraint, .limitExceeded, .invalidSchema,
  ]

  private init(_ writer: ReplicaWriter, in place: Place, _ progress: ProgressHandler? = nil) {
    self.writer = writer
    self.place = place
    self.progress = progress
    note = TrialNote(besideDatabase: writer.connection.path)
    staged = StagedTransactions(connection: writer.connection)
  }

  /// What an import would have applied and dropped of what waits, inside its transaction.
  static func plan(on writer: ReplicaWriter) throws -> WaitingAttempt.Outcome {
    guard try StagedTransactions(connection: writer.connection).count() > 0 else { return WaitingAttempt.Outcome() }
    var run = WaitingRun(writer, in: .plan)
    // What a process died of stays noted.
    guard try run.note.suspects().isEmpty else { return WaitingAttempt.Outcome() }
    try run.all()
    return run.outcome
  }

  /// Applies what had waited for the tables as they are now, inside the transaction that made them so. What nobody can
  /// apply stays, set aside, and is named.
  ///
  /// - Parameters:
  ///   - aside: Tables whose rows come back afterwards.
  ///   - isPlanned: Whether all is taken back in the end.
  static func runInside(
    _ writer: ReplicaWriter, _ progress: ProgressHandler? = nil, aside: Set<Int> = [], isPlanned: Bool = false
  ) throws -> WaitingAttempt.Outcome {
    guard try StagedTransactions(connection: writer.connection).count() > 0 else { return WaitingAttempt.Outcome() }
    var run = WaitingRun(writer, in: .migration, progress)
    run.aside = aside
    // What a process died of stays noted.
    guard try !isPlanned || run.note.suspects().isEmpty else { return WaitingAttempt.Outcome() }
    try run.all()
    return run.outcome
  }

  /// Tries all that waits; what is due to this machine's state alone (a full disk, another writer) leaves it waiting.
  static func run(on writer: ReplicaWriter) throws -> WaitingAttempt.Outcome {
    guard try StagedTransactions(connection: writer.connection).count() > 0 else {
      try TrialNote(besideDatabase: writer.connection.path).remove()
      return WaitingAttempt.Outcome()
    }
    var run = WaitingRun(writer, in: .own)
    do {
      try run.all()
    } catch let error as GodwitError where error.code != .damagedLog && error.code != .damagedDatabase {
      // The file is in; what waits is tried again by the next import.
    }
    return run.outcome
  }

  private mutating func all() throws {
    do {
      try tryAll()
    } catch {
      // The process lives: nobody died of what was tried.
      try? note.remove()
      throw error
    }
    try note.remove()
  }

  private mutating func tryAll() throws {
    let suspects = try note.suspects()
    // Of several that were tried together when a process died one is at fault: from now on each is tried alone.
    if suspects.count == 1 { try inTransaction { try staged.setAside(suspects) } }
    let total = try staged.count()
    var isAlone = suspects.count > 1
    var alone = 0
    while true {
      try note.begin()
      let attempt = try attempt(limit: isAlone || alone > 0 ? 1 : Self.batchLimit)
      let tried = attempt.tried.count
      guard tried > 0 else { break }
      if let error = attempt.error {
        if tried == 1, let culprit = attempt.tried.first {
          try drop(culprit, error)
        } else {
          alone = tried
        }
      } else if alone > 0 {
        alone -= 1
      }
      let left = try staged.count()
      progress?(Double(total - left) / Double(max(total, 1)))
      if left == 0 { isAlone = false }
    }
  }

  private func inTransaction<Output>(_ body: () throws -> Output) throws -> Output {
    place == .own ? try writer.inTransaction(body) : try body()
  }

  private mutating func attempt(limit: Int) throws -> (tried: [Dot], error: GodwitError?) {
    var current: WaitingAttempt?
    do {
      try inMerge {
        let attempt = try WaitingAttempt(writer, note, aside: aside)
        current = attempt
        try attempt.run(limit: limit)
      }
      if let current { outcome.add(current.outcome) }
      return (current?.tried ?? [], nil)
    } catch let error as GodwitError where Self.unfit.contains(error.code) {
      return (current?.tried ?? [], error)
    }
  }

  /// Runs the body in a transaction of its own, or so that it leaves nothing in the running one when it fails.
  private func inMerge(_ body: () throws -> Void) throws {
    try place == .own ? writer.inMerge(body) : writer.savepoint(body)
  }

  /// It is not held, so it comes again if it is fit after all. A migration keeps it, set aside.
  private mutating func drop(_ dot: Dot, _ error: GodwitError) throws {
    func entry(_ sequences: ClosedRange<UInt64>) -> MergeReport.Dropped {
      MergeReport.Dropped(replica: dot.origin.replica, sequences: sequences, reason: .unfit, message: error.message)
    }
    if place == .migration {
      if let waiting = try staged.get(dot) { try staged.setAside([waiting.chain]) }
      return outcome.setAside.append(entry(dot.sequence.rawValue...dot.sequence.rawValue))
    }
    let before = SequenceNumber(rawValue: dot.sequence.rawValue - 1)
    guard let left = try inTransaction({ try staged.remove(of: dot.origin, after: before) }) else { return }
    outcome.dropped.append(entry(left.lowerBound.rawValue...left.upperBound.rawValue))
  }
}

extension WaitingAttempt.Outcome {
  fileprivate mutating func add(_ other: Self) {
    applied += other.applied
    rows += other.rows
    conflicts += other.conflicts
    prunedConflicts += other.prunedConflicts
    parted.merge(other.parted) { $1 }
    leftOut.merge(other.leftOut) { $1 }
    dropped += other.dropped
    setAside += other.setAside
  }
}
