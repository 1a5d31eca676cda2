import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// What a writer keeps in memory of its database from one transaction to the next: tables, log, clock and sums. Read
/// anew when another process has committed, and when a transaction failed that may have been ahead of the database.
package final class WriterMemory {
  private let connection: Connection
  private(set) var catalog = Catalog()
  let log: ChangeLog
  let clock: ReplicaClock
  /// The sums of the synced tables' rows.
  let tally: StateTally
  let capture = ChangeCapture()
  let models: ModelWriter
  private let documentClock: DocumentClock
  /// What the observers know of. Apart from ``dataVersion``, which is forgotten when memory has to be read anew, so
  /// that neither takes a change from the other.
  let foreignCommits: ForeignCommits
  /// Nil when memory may be ahead of the database.
  private var dataVersion: Value?
  private(set) var schemaVersion: UInt64 = 0
  /// The context last written to the log; the next transaction writes its own only when it differs.
  private(set) var lastContext = VersionVector()
  /// The database's half of its anchor.
  private(set) var nonce = Nonce.none
  private(set) var circles: CircleCheck?
  /// What others have said they hold; nil until it is asked for.
  private var knownAcknowledgements: Acknowledgements?
  /// Whether rows wait in limbo or references are hidden, which local writes may change.
  private(set) var hasLimbo = false
  /// Tables, in lower case, that triggers of the program's own are defined on.
  private(set) var tablesWithTriggers: Set<String> = []
  /// The migrations that the program knows, and the version that was looked at last.
  private var program: (migrations: [SchemaMigration], version: UInt64)?
  private var followers: [ObjectIdentifier: any CatalogFollower] = [:]

  init(
    _ connection: Connection, group: GroupID, wallClock: WallClock, changes: any CommitListener,
    _ documentClock: DocumentClock
  ) throws {
    self.connection = connection
    self.documentClock = documentClock
    log = try ChangeLog(connection)
    clock = ReplicaClock(connection, wallClock: wallClock)
    tally = StateTally(connection, group: group)
    models = ModelWriter(connection, capture: capture, now: wallClock.milliseconds)
    try CaptureFunction.register(capture, on: connection)
    dataVersion = try connection.scalar("PRAGMA data_version")
    foreignCommits = try ForeignCommits(connection, changes, documentClock)
    try loadTables()
  }

  /// Whether it is what the database holds, for all that is known.
  var isCurrent: Bool { dataVersion != nil }

  /// Has the next transaction read it anew.
  func expire() { dataVersion = nil }

  func reloadAfterOthers() throws {
    let version = try foreignCommits.look()
    guard version != dataVersion else { return }
    dataVersion = version
    try readAnew()
    try checkProgram()
  }

  /// Takes note of the program's migrations, for another program may run more of them.
  func follow(_ migrations: [SchemaMigration]) { program = (migrations, schemaVersion) }

  /// Throws `needsMigration` when another program has passed a barrier that this one lacks: what it wrote then would
  /// not mean what it says.
  private func checkProgram() throws {
    guard let known = program, known.version != schemaVersion else { return }
    try MigrationHistory(connection).requireKnown(to: known.migrations)
    program?.version = schemaVersion
  }

  /// Takes in what the running transaction has made of the tables and their definitions.
  func reload() throws {
    try writeSums()
    try readAnew()
  }

  /// Writes the sums that are in memory alone, but for those of tables that are still to be looked at.
  func writeSums() throws {
    tally.touch()
    try tally.flush(through: log.origins.ownKey, computing: false)
  }

  /// What others have said they hold, which the body may change here and in the database.
  func withAcknowledgements<Output>(_ body: (inout Acknowledgements) throws -> Output) throws -> Output {
    var acknowledgements = try knownAcknowledgements ?? Acknowledgements(connection)
    knownAcknowledgements = nil
    let output = try body(&acknowledgements)
    knownAcknowledgements = acknowledgements
    return output
  }

  func readAnew() throws {
    knownAcknowledgements = nil
    try log.reload()
    try connection.reading { try loadTables() }
    try renewCapture()
  }

  private func loadTables() throws {
    try lookForTriggers()
    catalog = try Catalog(connection)
    capture.setCatalog(catalog)
    for follower in followers.values { follower.catalogHasChanged() }
    circles = CircleCheck(catalog, on: connection)
    try lookAtLimbo()
    let meta = try Meta.all(on: connection)
    try tally.load(catalog, log.origins.ownSums, summedThrough: StateTally.summedThrough(meta))
    schemaVersion = UInt64(try meta.integer(.schemaVersion))
    nonce = Nonce(meta[.nonce])
    let own = log.origins.own
    let head = try log.origins.head(of: own)
    lastContext = try log.othersContext(of: Dot(own, head.sequence))
    try clock.load(meta, own: head, latest: log.origins.ownLatest)
    followClock()
  }

  func lookAtLimbo() throws { hasLimbo = try Limbo.any(on: connection) }

  func followClock() { documentClock.follow(clock.latest.milliseconds) }

  func hasLogged(_ context: VersionVector) { lastContext = context }

  /// Gives the database the half of an anchor.
  func setNonce(_ nonce: Nonce) throws {
    try Meta.set(.nonce, .blob(nonce.bytes), on: connection)
    self.nonce = nonce
  }

  /// Takes in collections that the running transaction has made, extended, or taken back.
  func followCollections() throws {
    let old = catalog
    catalog = try Catalog(connection)
    for table in old.synced where catalog[table.definition.name] == nil { capture.replace(nil, numbered: table.id) }
    for table in catalog.synced where old[table.definition.name]?.definition != table.definition {
      capture.replace(table, numbered: table.id)
    }
    tally.follow(catalog)
    for follower in followers.values { follower.catalogHasChanged() }
  }

  /// What keeps something of the tables beside a writer, made at its first use.
  func follower<Follower: CatalogFollower>(_ type: Follower.Type, for writer: ReplicaWriter) -> Follower {
    if let known = followers[ObjectIdentifier(type)] as? Follower { return known }
    let follower = Follower(writer)
    followers[ObjectIdentifier(type)] = follower
    return follower
  }

  /// Takes in triggers that the running transaction has made or dropped.
  func reloadTriggers() throws {
    try lookForTriggers()
    try renewCapture()
  }

  /// Looks for triggers and failure modes of the user's own, which change how a failing statement must be run.
  private func lookForTriggers() throws {
    tablesWithTriggers = []
    connection.schemaMayFail = false
    let sql = """
      SELECT tbl_name, type = 'trigger' FROM sqlite_master
      WHERE name NOT LIKE 'godwit\\_%' ESCAPE '\\' AND (type = 'trigger' OR sql LIKE '%FAIL%')
      """
    try connection.withStatement(sql) { statement in
      while try statement.step() {
        if statement.integer(at: 1) != 0 { tablesWithTriggers.insert(try statement.text(at: 0).lowercased()) }
        connection.schemaMayFail = true
      }
    }
    models.reset(tablesWithTriggers: tablesWithTriggers)
  }

  /// Makes capture's triggers the newest of tables with triggers of the program's own.
  func renewCapture() throws {
    for table in catalog.synced where tablesWithTriggers.contains(table.definition.name.lowercased()) {
      try CaptureTriggers.renew(table, on: connection)
    }
  }
}
