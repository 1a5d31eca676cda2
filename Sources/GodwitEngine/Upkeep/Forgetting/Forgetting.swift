import GodwitBase
import GodwitCore
import GodwitStorage

/// Forgets what every member is known to hold, a bounded piece at a time, each in a transaction of its own
/// (Specs/forgetting.md).
package final class Forgetting {
  /// How much one step does.
  package struct Portion {
    package var transactions = 512
    var bytes = 8 << 20
    var rows = 4_096
    var pages = 1_024

    package init(transactions: Int = 512, bytes: Int = 8 << 20, rows: Int = 4_096, pages: Int = 1_024) {
      self.transactions = transactions
      self.bytes = bytes
      self.rows = rows
      self.pages = pages
    }

    /// What an import can take along.
    package static let small = Portion(transactions: 128, bytes: 4 << 20, rows: 1_024, pages: 256)
    /// Leaves free pages where they are.
    package static let withoutPages = Portion(pages: 0)
  }

  /// What steps have done.
  package struct Progress {
    package var transactions = 0
    package var rows = 0
    /// Whether there was nothing left to do.
    package var isDone = false

    package init(transactions: Int = 0, rows: Int = 0, isDone: Bool = false) {
      self.transactions = transactions
      self.rows = rows
      self.isDone = isDone
    }
  }

  private let writer: ReplicaWriter
  private let roster: Roster
  private let portion: Portion
  private let needsState: Bool

  /// - Parameter needsState: Whether this replica needs a state of another's: then it forgets nothing.
  package init(_ writer: ReplicaWriter, _ roster: Roster, portion: Portion = Portion(), needsState: Bool = false) {
    self.needsState = needsState
    self.writer = writer
    self.roster = roster
    self.portion = portion
  }

  /// Whether the log is so long that imports forget by themselves. A short one costs little, says who wrote what, and
  /// lets a backup that is not very old catch up without a state file.
  package static func isDue(_ writer: ReplicaWriter, keeping keptTransactions: Int) throws -> Bool {
    let origins = writer.log.origins
    let (floor, held) = (origins.floor, origins.vector)
    let count = held.origins.reduce(0) { $0 + Int(held[$1].rawValue - floor[$1].rawValue) }
    guard count <= keptTransactions else { return true }
    return try ChangeLog.byteCount(on: writer.connection) > keptBytes
  }

  package static let keptTransactions = 1_000
  static let keptBytes = 4.0 * 1_048_576

  /// One step.
  package func step(_ progress: inout Progress) throws {
    progress = try writer.inTransaction { [progress] in
      var progress = progress
      // Only the log says what was written beyond a clock that was set back.
      try writer.clock.correct(writer.log, writer.catalog)
      let frontier = try Frontier(writer, roster, needsState: needsState)
      try ForgottenVector.extend(to: frontier.vector, on: writer.connection)
      let isFolded = try fold(through: frontier)
      var log = LogForgetting(writer.log, portion)
      let dropped = try log.drop(through: frontier.vector)
      try writer.clock.noteForgotten(log.latest)
      let own = try writer.log.origins.head(of: writer.log.origins.own)
      if dropped > 0 {
        try writer.clock.save(through: own.sequence)
        // The sums that own entries held stand in their tables' rows from now on.
        writer.tally.touch()
      }
      progress.transactions += dropped
      let sweep = try RowSweep(writer, frontier)
      let swept = try isFolded ? sweep.run(portion.rows) : (rows: 0, isDone: false)
      progress.rows += swept.rows
      let isCompact = try portion.pages == 0 || FreePages(connection: writer.connection).giveBack(portion.pages)
      progress.isDone = isFolded && swept.isDone && isCompact && dropped == 0
      return progress
    }
  }

  /// Folds what is about to be dropped, so far as rows with a state need it. Returns whether all of it has been.
  private func fold(through limit: Frontier) throws -> Bool {
    let log = writer.log
    let frontier = limit.vector
    let folded = log.origins.foldedVector
    guard !folded.covers(frontier) else { return true }
    let tables = MergeTables(writer.connection, catalog: writer.catalog, functions: writer.mergeFunctions)
    let states = RowStates(connection: writer.connection, origins: log.origins)
    let memory = RowMemory(writer, limit)
    if try memory.isEmpty(frontier, log) {
      try log.origins.markFolded(through: frontier)
      return true
    }
    let fold = LogFold(
      connection: writer.connection, log: log, tables: tables, states: states,
      adapter: SchemaAdapter(writer.connection, writer.catalog))
    try fold.run(through: frontier, limit: portion.transactions) { !memory.isAhead($0.hlc) }
    return log.origins.foldedVector.covers(frontier)
  }
}
