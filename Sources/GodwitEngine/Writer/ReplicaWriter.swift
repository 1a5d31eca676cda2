import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// The writing side of a replica: what one connection needs to turn a transaction's writes into a log entry.
/// It lives on the writer's thread with its connection.
package final class ReplicaWriter {
  package let connection: Connection
  let wallClock: WallClock
  package private(set) var catalog = Catalog()
  package let log: ChangeLog
  private let changes: any CommitListener
  package let capture = ChangeCapture()
  package let models: ModelWriter
  let steps = WriteStepsCache()
  let clock: ReplicaClock
  /// The sums of the synced tables' rows.
  let tally: StateTally
  let anchorFile: AnchorFile
  /// The database's half of its anchor.
  var nonce = Nonce.none
  /// Whether this opening found the database to be a copy, or an earlier state of itself.
  package var hasStartedIncarnation = false
  /// Whether this opening found other tables than were noted beside the keyring.
  package var hasFoundAlteration = false
  /// Whether this opening has given database and anchor a new nonce.
  private var hasRenewedAnchor = false
  /// What the running transaction has replaced by the anchor of another incarnation.
  var replacedAnchor: Anchor?
  /// The context last written to the log; the next transaction writes its own only when it differs.
  private var lastContext = VersionVector()
  private var schemaVersion: UInt64 = 0
  private var dataVersion: Value?
  /// What the observers know of. Apart from ``dataVersion``, which is forgotten when memory has to be read anew, so
  /// that neither takes a change from the other.
  package let foreignCommits: ForeignCommits
  /// Tables, in lower case, that triggers of the program's own are defined on.
  package private(set) var tablesWithTriggers: Set<String> = []
  private var followers: [ObjectIdentifier: any CatalogFollower] = [:]
  /// Whether the running transaction has made or extended collections.
  private var hasGrownCollections = false
  let mergeFunctions: [CustomMerge]
  private let documentClock: DocumentClock
  private var nextSweep: Int64 = 0
  private static let sweepIntervalMilliseconds: Int64 = 60_000
  private(set) var circles: CircleCheck?
  private var writesSinceForgetting = 0
  /// Seldom enough that no writer notices.
  private static let writesBetweenForgetting = 1_024
  /// Whether rows wait in limbo or references are hidden, which local writes may change.
  private(set) var hasLimbo = false

  /// Reads what a writer keeps in memory.
  private init(
    _ connection: Connection, group: GroupID, anchor: AnchorFile, wallClock: WallClock, changes: any CommitListener,
    mergeFunctions: [CustomMerge], documentClock: DocumentClock
  ) throws {
    self.documentClock = documentClock
    self.mergeFunctions = mergeFunctions
    self.connection = connection
    anchorFile = anchor
    self.wallClock = wallClock
    self.changes = changes
    log = try ChangeLog(connection)
    clock = ReplicaClock(connection, wallClock: wallClock)
    tally = StateTally(connection, group: group)
    models = ModelWriter(connection, capture: capture, now: wallClock.milliseconds)
    try CaptureFunction.register(capture, on: connection)
    dataVersion = try connection.scalar("PRAGMA data_version")
    foreignCommits = try ForeignCommits(connection, changes, documentClock)
    try loadFromTables()
  }

  /// A writer on a connection that was just opened.
  package static func open(
    _ connection: Connection, group: GroupID, anchor: AnchorFile, wallClock: WallClock, changes: any CommitListener,
    mergeFunctions: [CustomMerge], documentClock: DocumentClock
  ) throws -> ReplicaWriter {
    let writer = try connection.reading {
      try ReplicaWriter(
        connection, group: group, anchor: anchor, wallClock: wallClock, changes: changes,
        mergeFunctions: mergeFunctions, documentClock: documentClock)
    }
    try writer.reloadTriggers()
    try writer.checkAnchor()
    return writer
  }

  /// Whether this opening has committed anything, and memory is not ahead of the database.
  var isStateKnown: Bool { hasRenewedAnchor && dataVersion != nil }

  /// Runs the body in a transaction and logs what it changed, all or nothing.
  package func write<Output>(_ body: (Transaction) throws -> Output) throws -> Output {
    try inTransaction { try logged(body).output }
  }

  /// Logs what the body changes as a transaction of its own, inside a database transaction that does more. Returns how
  /// many operations that took.
  func logging(_ body: (Transaction) throws -> Void) throws -> Int {
    defer { capture.removeAll() }
    hasLimbo = try Limbo.any(on: connection)
    return try logged(body).operations
  }

  private func logged<Output>(_ body: (Transaction) throws -> Output) throws -> (output: Output, operations: Int) {
    let transaction = Transaction(self, models: models)
    defer { transaction.end() }
    let output = try body(transaction)
    try transaction.checkIsOpen()
    try checkReferences()
    let operations = try appendCaptured()
    if hasLimbo, operations > 0 { try settleLimbo() }
    return (output, operations)
  }

  /// Brings what waits in limbo in line with what the running transaction has written, which saw only what the tables
  /// show.
  private func settleLimbo() throws {
    try withoutChecks { try settle() }
    tally.touch()
    hasLimbo = try Limbo.any(on: connection)
  }

  /// Runs the body in a transaction in which changes of the log are brought into the tables: neither triggers nor
  /// foreign key actions may add to them, for derived effects are the merge's own business.
  package func inMerge<Output>(_ body: () throws -> Output) throws -> Output {
    let output = try withoutChecks {
      try inTransaction {
        let output = try body()
        tally.touch()
        return output
      }
    }
    hasLimbo = try Limbo.any(on: connection)
    return output
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
    try writeSums()
    do {
      try connection.savepoint(body)
    } catch {
      try readAnew()
      throw error
    }
  }

  /// Folds what the log holds into the row states, and brings limbo in line with it. Triggers and foreign keys are off.
  func settle() throws { try merger().settleLocalWrites() }

  /// What brings changes into the tables, for one such transaction.
  func merger(_ adapter: SchemaAdapter? = nil) throws -> Merger {
    try Merger(
      connection, log: log, catalog: catalog, functions: mergeFunctions, tally: tally,
      adapter ?? SchemaAdapter(connection, catalog))
  }

  /// Runs the body between BEGIN IMMEDIATE and COMMIT, in the file that is the database by then; a throw rolls
  /// everything back. Observers learn which tables were written once that is committed.
  package func inTransaction<Output>(_ body: () throws -> Output) throws -> Output {
    _ = connection.takeWrittenTables()
    hasGrownCollections = false
    try connection.beginWriting()
    do {
      try reloadAfterOthers()
      if !hasRenewedAnchor { try renewAnchor() }
      let output = try body()
      try tally.flush(through: log.origins.ownKey)
      try connection.execute("COMMIT")
      hasRenewedAnchor = true
      replacedAnchor = nil
      capture.removeAll()
      documentClock.follow(clock.latest.milliseconds)
      changes.announce(connection.takeWrittenTables())
      return output
    } catch {
      capture.removeAll()
      tally.discard()
      // What is in memory may be ahead of the database now; the next transaction reads it anew.
      dataVersion = nil
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      putAnchorBack()
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
    try appendCaptured(stampedAs: hlc)
    // The latest own transaction does not give the clock any more when it has an old timestamp.
    if hlc != nil { try clock.save(through: log.origins.ownSequence) }
  }

  /// `hlc` is a timestamp to take in place of the clock's: that of rows no one has written before.
  @discardableResult
  func appendCaptured(stampedAs hlc: HLC? = nil) throws -> Int {
    let hash: (CatalogTable) -> TableHash = { [tally] in tally.hash(of: $0) }
    let captured = try capture.finish(hash: hash) { [connection, tablesWithTriggers] definition in
      guard tablesWithTriggers.contains(definition.name.lowercased()) else { return nil }
      let rows = TableRows(definition, on: connection)
      return { try rows.values($0) }
    }
    guard var captured else { return 0 }
    captured.entrySums = tally.take(captured.sums)
    try circles?.run(captured.changes)
    let operations = capture.entries.count
    let head = try log.origins.head(of: log.origins.own)
    let context = log.origins.othersVector
    let sequence = head.sequence.next
    let hlc = try hlc ?? clock.stamp(captured.changes, sequence, log, catalog)
    let record = TransactionRecord(
      dot: Dot(log.origins.own, sequence), hlc: hlc, schemaVersion: schemaVersion,
      context: context == lastContext ? nil : context, changes: captured.changes)
    try log.append(record, captured)
    lastContext = context
    writesSinceForgetting += 1
    return operations
  }

  /// Whether so much has been written since the last time that a replica without other members should forget it.
  package func isForgettingDue() -> Bool {
    guard writesSinceForgetting >= Self.writesBetweenForgetting else { return false }
    writesSinceForgetting = 0
    return true
  }

  /// Whether expired documents have not been looked for lately.
  package func isSweepDue() -> Bool {
    let now = wallClock.milliseconds()
    // A clock that was set back is no reason to wait for long.
    guard now >= nextSweep || now < nextSweep - Self.sweepIntervalMilliseconds else { return false }
    nextSweep = now + Self.sweepIntervalMilliseconds
    return catalog.synced.contains { $0.definition.isCollection }
  }

  private func reloadAfterOthers() throws {
    let version = try foreignCommits.look()
    guard version != dataVersion else { return }
    dataVersion = version
    try readAnew()
  }

  /// Takes in what the running transaction has made of the tables and their definitions.
  package func reload() throws {
    try writeSums()
    try readAnew()
  }

  /// Writes the sums that are in memory alone, but for those of tables that are still to be looked at.
  func writeSums() throws {
    tally.touch()
    try tally.flush(through: log.origins.ownKey, computing: false)
  }

  /// Reads what is kept in memory anew from the database.
  private func readAnew() throws {
    try log.reload()
    try load()
  }

  private func load() throws {
    try connection.reading { try loadFromTables() }
    try reloadTriggers()
  }

  private func loadFromTables() throws {
    catalog = try Catalog(connection)
    capture.setCatalog(catalog)
    for follower in followers.values { follower.catalogHasChanged() }
    circles = CircleCheck(catalog, on: connection)
    hasLimbo = try Limbo.any(on: connection)
    let meta = try Meta.all(on: connection)
    try tally.load(catalog, log.origins.ownSums, summedThrough: StateTally.summedThrough(meta))
    schemaVersion = UInt64(try meta.integer(.schemaVersion))
    nonce = Nonce(meta[.nonce])
    let own = log.origins.own
    let head = try log.origins.head(of: own)
    lastContext = try log.othersContext(of: Dot(own, head.sequence))
    try clock.load(meta, own: head, latest: log.origins.ownLatest)
    documentClock.follow(clock.latest.milliseconds)
  }

  /// Drops a table that is not synced. The capture knows only synced ones; the catalog is read anew by the next
  /// transaction, when this one has committed or not.
  func drop(_ table: String) throws {
    try Catalog.drop(table, on: connection)
    dataVersion = nil
    try reloadTriggers()
  }

  /// Makes a collection's table, or adds columns to it, while a transaction runs.
  package func growCollection(_ table: String, columns: [String]) throws {
    try models.endRun()
    guard try Catalog.grow(table, columns: columns, on: connection) else { return }
    hasGrownCollections = true
    try followCollections()
  }

  /// To be called when a savepoint has been rolled back, and with it perhaps what a collection had gained.
  func savepointWasRolledBack() throws {
    if hasGrownCollections { try followCollections() }
  }

  private func followCollections() throws {
    let old = catalog
    catalog = try Catalog(connection)
    for table in old.synced where catalog[table.definition.name] == nil { capture.replace(nil, numbered: table.id) }
    for table in catalog.synced where old[table.definition.name]?.definition != table.definition {
      capture.replace(table, numbered: table.id)
    }
    tally.follow(catalog)
    for follower in followers.values { follower.catalogHasChanged() }
  }

  /// What keeps something of the tables beside this writer, made at its first use.
  package func follower<Follower: CatalogFollower>(_ type: Follower.Type) -> Follower {
    if let known = followers[ObjectIdentifier(type)] as? Follower { return known }
    let follower = Follower(self)
    followers[ObjectIdentifier(type)] = follower
    return follower
  }

  /// Looks for triggers and failure modes of the user's own, which change how a failing statement must be run.
  func reloadTriggers() throws {
    tablesWithTriggers = []
    connection.schemaMayFail = false
    let sql = """
      SELECT lower(tbl_name), type = 'trigger', sql LIKE '%FAIL%' FROM sqlite_master
      WHERE name NOT LIKE 'godwit\\_%' ESCAPE '\\' AND (type = 'trigger' OR sql LIKE '%FAIL%')
      """
    try connection.withStatement(sql) { statement in
      while try statement.step() {
        if statement.integer(at: 1) != 0 { tablesWithTriggers.insert(try statement.text(at: 0)) }
        if statement.integer(at: 2) != 0 { connection.schemaMayFail = true }
      }
    }
    models.reset(tablesWithTriggers: tablesWithTriggers)
    for table in catalog.synced where tablesWithTriggers.contains(table.definition.name.lowercased()) {
      try CaptureTriggers.renew(table, on: connection)
    }
  }
}
