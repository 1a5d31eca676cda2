import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// The writing side of a replica: turns what a transaction writes into a log entry, all or nothing. It lives on the
/// writer's thread with its connection.
package final class ReplicaWriter {
  package let connection: Connection
  let wallClock: WallClock
  private let changes: any CommitListener
  private let memory: WriterMemory
  /// What makes the database known from its copies.
  package let anchor: WriterAnchor
  let steps = WriteStepsCache()
  let mergeFunctions: [CustomMerge]
  private var upkeep = UpkeepSchedule()
  /// Whether the running transaction has made or extended collections.
  private var hasGrownCollections = false
  /// Whether the running transaction may have made or dropped triggers of the program's own.
  private var hasChangedTriggers = false

  package var catalog: Catalog { memory.catalog }
  package var log: ChangeLog { memory.log }
  package var capture: ChangeCapture { memory.capture }
  package var models: ModelWriter { memory.models }
  package var tablesWithTriggers: Set<String> { memory.tablesWithTriggers }
  package var foreignCommits: ForeignCommits { memory.foreignCommits }
  var clock: ReplicaClock { memory.clock }
  var tally: StateTally { memory.tally }
  var circles: CircleCheck? { memory.circles }

  /// A writer on a connection that was just opened.
  package init(
    _ connection: Connection, group: GroupID, anchor file: AnchorFile, wallClock: WallClock,
    incarnations: IncarnationNumbers, changes: any CommitListener, mergeFunctions: [CustomMerge],
    documentClock: DocumentClock
  ) throws {
    self.mergeFunctions = mergeFunctions
    self.connection = connection
    self.wallClock = wallClock
    self.changes = changes
    memory = try connection.reading {
      try WriterMemory(connection, group: group, wallClock: wallClock, changes: changes, documentClock)
    }
    anchor = WriterAnchor(connection, memory, file, wallClock, incarnations)
    try memory.renewCapture()
    if try !anchor.check() { try inTransaction {} }
  }

  /// Runs the body in a transaction and logs what it changed, all or nothing.
  package func write<Output>(_ body: (Transaction) throws -> Output) throws -> Output {
    try inTransaction { try logged(body).output }
  }

  /// Logs what the body changes as a transaction of its own, inside a database transaction that does more. Returns how
  /// many operations that took.
  func logging(_ body: (Transaction) throws -> Void) throws -> Int {
    defer { capture.removeAll() }
    try memory.lookAtLimbo()
    return try logged(body).operations
  }

  func logged<Output>(_ body: (Transaction) throws -> Output) throws -> (output: Output, operations: Int) {
    let transaction = Transaction(self, models: models)
    defer { transaction.end() }
    let output = try body(transaction)
    try transaction.checkIsOpen()
    // A cancelled statement may have left what the body took for rolled back.
    try connection.checkCancellation()
    try checkReferences()
    let operations = try appendCaptured()
    if memory.hasLimbo, operations > 0 { try settleLimbo() }
    return (output, operations)
  }

  /// Brings what waits in limbo in line with what the running transaction has written, which saw only what the tables
  /// show.
  private func settleLimbo() throws {
    try withoutChecks { try settle() }
    tally.touch()
    try memory.lookAtLimbo()
  }

  /// What others have said they hold, which the body may change.
  func withAcknowledgements<Output>(_ body: (inout Acknowledgements) throws -> Output) throws -> Output {
    try memory.withAcknowledgements(body)
  }

  /// Runs the body in a transaction in which changes of the log are brought into the tables: neither triggers nor
  /// foreign key actions may add to them, for derived effects are the merge's own business.
  package func inMerge<Output>(_ body: () throws -> Output) throws -> Output {
    try withoutChecks {
      try inTransaction {
        let output = try body()
        tally.touch()
        // Before the commit: what fails afterwards would say that nothing was done.
        try memory.lookAtLimbo()
        return output
      }
    }
  }

  /// Runs the body with triggers and foreign keys off.
  func withoutChecks<Output>(_ body: () throws -> Output) throws -> Output {
    try connection.setTriggers(false)
    try connection.setForeignKeys(false)
    defer {
      try? connection.setTriggers(true)
      try? connection.setForeignKeys(true)
    }
    return try body()
  }

  /// Runs the body so that it leaves nothing in the running transaction, nor in memory, when it throws.
  package func savepoint(_ body: () throws -> Void) throws {
    try memory.writeSums()
    do {
      try connection.savepoint(body)
    } catch {
      try memory.readAnew()
      throw error
    }
  }

  /// Folds what the log holds into the row states, and brings limbo in line with it. Triggers and foreign keys are off.
  func settle() throws { try merger().settleLocalWrites() }

  /// What brings changes into the tables, for one such transaction.
  ///
  /// - Parameter aside: Tables whose rows come back afterwards: references to them are judged then.
  func merger(_ adapter: SchemaAdapter? = nil, aside: Set<Int> = []) throws -> Merger {
    try Merger(
      connection, log: log, catalog: catalog, functions: mergeFunctions, tally: tally,
      adapter ?? SchemaAdapter(connection, catalog), aside: aside)
  }

  /// Runs the body between BEGIN IMMEDIATE and COMMIT, in the file that is the database by then; a throw rolls
  /// everything back. Observers learn which tables were written once that is committed.
  package func inTransaction<Output>(_ body: () throws -> Output) throws -> Output {
    _ = connection.takeWrittenTables()
    hasGrownCollections = false
    hasChangedTriggers = false
    try connection.beginWriting()
    do {
      try memory.reloadAfterOthers()
      try anchor.renewOnce()
      let output = try body()
      try tally.flush(through: log.origins.ownKey)
      try connection.execute("COMMIT")
      anchor.hasCommitted()
      capture.removeAll()
      memory.followClock()
      changes.announce(connection.takeWrittenTables())
      return output
    } catch {
      capture.removeAll()
      tally.discard()
      memory.expire()
      connection.rollBack()
      anchor.putBack()
      throw error
    }
  }

  /// SQLite judges references when it commits, and does not say which one dangles.
  private func checkReferences() throws {
    guard connection.isDangling else { return }
    try connection.checkReferences(
      hint: "insert the row that is referred to in the same transaction, before or after")
  }

  /// Captures what the body writes as an own transaction, within one in which nothing else is captured.
  func captured(_ body: () throws -> Void) throws {
    try connection.setTriggers(true)
    defer { try? connection.setTriggers(false) }
    try reported(body)
  }

  /// The same for a body that reports what it writes, while triggers are off (``CaptureTriggers``). There may be
  /// several, one after another.
  ///
  /// - Parameter hlc: See ``appendCaptured(stampedAs:)``.
  func reported(stampedAs hlc: HLC? = nil, _ body: () throws -> Void) throws {
    defer { capture.removeAll() }
    try body()
    try appendCaptured(stampedAs: hlc, isJudged: true)
    // The latest own transaction does not give the clock any more when it has an old timestamp.
    if hlc != nil { try clock.save(through: log.origins.ownSequence) }
  }

  /// - Parameters:
  ///   - hlc: A timestamp to take in place of the clock's: that of rows no one has written before.
  ///   - isJudged: Whether references are judged afterwards, so that a circle is opened and not refused.
  @discardableResult
  func appendCaptured(stampedAs hlc: HLC? = nil, isJudged: Bool = false) throws -> Int {
    let hash: (CatalogTable) -> TableHash = { [tally] in tally.hash(of: $0) }
    let captured = try capture.finish(hash: hash) { [connection, tablesWithTriggers] definition in
      guard tablesWithTriggers.contains(definition.name.lowercased()) else { return nil }
      let rows = TableRows(definition, on: connection)
      return { try rows.values($0) }
    }
    guard var captured else { return 0 }
    captured.entrySums = tally.take(captured.sums)
    if !isJudged { try circles?.run(captured.changes) }
    let operations = capture.entries.count
    let head = try log.origins.head(of: log.origins.own)
    let context = log.origins.othersVector
    let sequence = head.sequence.next
    let hlc = try hlc ?? clock.stamp(captured.changes, sequence, log, catalog)
    let record = TransactionRecord(
      dot: Dot(log.origins.own, sequence), hlc: hlc, schemaVersion: memory.schemaVersion,
      context: context == memory.lastContext ? nil : context, changes: captured.changes)
    try log.append(record, captured)
    memory.hasLogged(context)
    upkeep.hasWritten()
    return operations
  }

  /// Whether so much has been written since the last time that a replica without other members should forget it.
  package func isForgettingDue() -> Bool { upkeep.isForgettingDue() }

  /// Whether expired documents have not been looked for lately.
  package func isSweepDue() -> Bool {
    upkeep.isSweepDue(at: wallClock.milliseconds()) && catalog.synced.contains { $0.definition.isCollection }
  }

  /// Takes in what the running transaction has made of the tables and their definitions.
  package func reload() throws { try memory.reload() }

  /// Drops a table that is not synced. The capture knows only synced ones; the catalog is read anew by the next
  /// transaction, when this one has committed or not.
  func drop(_ table: String) throws {
    try Catalog.drop(table, on: connection)
    memory.expire()
    try triggersMayHaveChanged()
  }

  /// Makes a collection's table, or adds columns to it, while a transaction runs.
  package func growCollection(_ table: String, columns: [String]) throws {
    try models.endRun()
    guard try Catalog.grow(table, columns: columns, on: connection) else { return }
    hasGrownCollections = true
    try memory.followCollections()
  }

  /// To be called when a savepoint has been rolled back, and with it perhaps what a collection had gained.
  func savepointWasRolledBack() throws {
    if hasGrownCollections { try memory.followCollections() }
    if hasChangedTriggers { try memory.reloadTriggers() }
  }

  /// Has the writer refuse to write once another program has passed a barrier that is not among these.
  package func follow(_ migrations: [SchemaMigration]) throws { memory.follow(migrations) }

  /// To be called when SQL of the program's own may have made or dropped triggers.
  func triggersMayHaveChanged() throws {
    hasChangedTriggers = true
    try memory.reloadTriggers()
  }

  /// What keeps something of the tables beside this writer, made at its first use.
  package func follower<Follower: CatalogFollower>(_ type: Follower.Type) -> Follower {
    memory.follower(type, for: self)
  }
}
