import CSQLCipher
import Foundation
import GodwitBase
import GodwitFiles

/// One SQLCipher connection. It belongs to one thread and is not Sendable; see ``DatabaseThread``.
package final class Connection {
  package enum Mode: Sendable {
    case writer, reader
    /// A new file that takes the pages of another database: neither journal nor order of writes, for it counts only
    /// once it is whole.
    case copy
  }

  package let path: String
  package let mode: Mode
  let handle: OpaquePointer
  private var statements = StatementCache()
  let authorizer: Authorizer
  private var functions: [AnyObject] = []
  let functionFailure = FunctionFailure()
  /// What statements may still cost, while that is bounded; see ``withStepBudget(_:_:)``.
  var stepBudget: StepBudget?
  let cancellation: CancellationFlag
  /// Nil for a database without encryption, which is another program's.
  private let file: DatabaseFile?
  private let isTemporary: Bool
  private var savepointDepth = 0
  /// Whether the database had no tables when the connection was opened.
  package private(set) var wasEmpty = true
  /// Whether the running job of the connection's thread has written already.
  private var hasWrittenInJob = false

  /// Called when statements and savepoints were rolled back; see ``ChangeJournal``.
  package var journal: (any ChangeJournal)?

  /// See ``memory(_:)``.
  var memories: [ObjectIdentifier: any ConnectionMemory] = [:]

  /// Called with every row while ``fingerprint(_:)`` runs.
  var rowHasher: RowHasher?

  /// What ``takeWrittenTables()`` takes next, and how often it was called.
  var writtenTables = TableSet.none
  var writtenTablesNumber = 0

  /// Whether a failing statement of Godwit's own may leave part of its work behind: the program has triggers, or FAIL
  /// stands somewhere in the schema.
  package var schemaMayFail = false

  /// Opens an existing private file; an empty one becomes a new database.
  ///
  /// - Parameters:
  ///   - isTemporary: Whether the file has no name yet that anybody else knows, so that nobody exchanges it.
  ///   - pageSize: That of a file which another program has made.
  package convenience init(
    path: String, key: some CipherKey, mode: Mode, busyTimeoutMilliseconds: Int32 = 5_000,
    cancellation: CancellationFlag = CancellationFlag(), isTemporary: Bool = false,
    pageSize: Int = DatabaseFile.pageSize
  ) throws {
    try self.init(
      path: path, mode: mode, busyTimeoutMilliseconds: busyTimeoutMilliseconds, cancellation: cancellation,
      isTemporary: isTemporary, pageSize: pageSize
    ) { _ in key }
  }

  /// The same where the key may be replaced together with the file.
  ///
  /// The order of key, compatibility and page size is what serves SQLCipher 3.4.1 and 4.x alike (Specs/storage.md).
  ///
  /// - Parameter keyForFile: Gives the key of the file, which stays in its place meanwhile.
  package init(
    path: String, mode: Mode, busyTimeoutMilliseconds: Int32 = 5_000, cancellation: CancellationFlag,
    isTemporary: Bool = false, pageSize: Int = DatabaseFile.pageSize,
    keyForFile: (DatabaseFile) throws -> any CipherKey
  ) throws {
    self.isTemporary = isTemporary
    let gate = isTemporary ? nil : try DatabaseGate.open(for: path)
    defer { withExtendedLifetime(gate) {} }
    let file = try DatabaseFile.open(path)
    self.file = file
    try file.check()
    try DatabaseFile.checkCompanions(of: path)
    let key = try keyForFile(file)
    handle = try Self.handle(path, SQLITE_OPEN_READWRITE)
    self.path = path
    self.mode = mode
    authorizer = Authorizer(isReader: mode == .reader)
    self.cancellation = cancellation
    try requireChecked(file)
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
    try setKey(key, pageSize: pageSize)
    fence()
    try configure()
    cancellation.attach(handle)
    watchCancellation()
    authorizer.install(on: handle)
  }

  /// For databases of other programs (Connection+Foreign.swift).
  init(
    foreign path: String, _ flags: Int32, mode: Mode, cancellation: CancellationFlag, whenOpened: () throws -> Void,
    setKey: (Connection) throws -> Void
  ) throws {
    isTemporary = true
    file = nil
    handle = try Self.handle(PlaintextFile.uri(path, flags), flags)
    self.path = path
    self.mode = mode
    authorizer = Authorizer(isReader: mode == .reader)
    self.cancellation = cancellation
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, 5_000)
    try whenOpened()
    try setKey(self)
    fence()
    try configure()
    cancellation.attach(handle)
    watchCancellation()
    authorizer.install(on: handle)
  }

  private static func handle(_ path: String, _ flags: Int32) throws -> OpaquePointer {
    _ = (firstPages, CryptoLibrary.staysUntilTheEnd)
    var opened: OpaquePointer?
    let result = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
    guard result == SQLITE_OK, let opened else {
      defer { sqlite3_close_v2(opened) }
      throw GodwitError.sqlite(result, opened)
    }
    return opened
  }

  /// SQLite opens files by their names: what it has open must be the file that was checked. Throws `unsafeFile`, before
  /// it has the key.
  private func requireChecked(_ file: DatabaseFile) throws {
    var hasMoved: Int32 = 1
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK, hasMoved == 0,
      file.lies(at: path)
    else {
      throw GodwitError(
        .unsafeFile, "another file took the place of \(path) while it was opened",
        hint: "see who else writes to its folder, then try again")
    }
  }

  deinit {
    cancellation.detach()
    statements.removeAll()
    let gate = isTemporary ? nil : try? DatabaseGate.open(for: path)
    defer { withExtendedLifetime(gate) {} }
    if !isTemporary, gate == nil || hasMoved { keepLog() }
    sqlite3_close_v2(handle)
  }

  /// Whether another file has taken the database's place since this connection was opened.
  package var hasMoved: Bool { standing == .replaced }

  /// What lies at the database's path by now.
  var standing: DatabaseFile.Standing { file?.standing(at: path) ?? .inPlace }

  /// Throws `unsafeFile` when the database's file has no name any more: what is written to it is lost with the last who
  /// has it open.
  func requireName() throws(GodwitError) {
    guard !isTemporary, standing == .removed else { return }
    throw Self.removed(path)
  }

  /// What is said of a database whose name is gone while it is open.
  package static func removed(_ path: String) -> GodwitError {
    GodwitError(
      .unsafeFile, "the database \(path) was removed while it is open",
      hint: "put it back, or close the replica and restore a backup; what was written since it was removed is lost")
  }

  /// Keeps the last connection from removing the log by its name, which is another database's by now.
  private func keepLog() {
    var isKept: Int32 = 1
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
  }

  /// Takes leave of what may hold the connection in turn, and of its statements, so that closing is brief.
  func detach() {
    journal = nil
    memories = [:]
    statements.removeAll()
  }

  func setKey(_ key: some CipherKey, pageSize: Int) throws {
    // First of all, for a handle of another library is nothing that SQLCipher's functions may touch.
    guard let version = try scalar("PRAGMA cipher_version"), case .text(let text) = version, !text.isEmpty else {
      throw GodwitError(
        .noCipher, "the SQLite library in use has no cipher",
        hint: "link libsqlcipher, and nothing that brings libsqlite3 ahead of it")
    }
    var keyspec: [UInt8] = []
    keyspec.reserveCapacity(67)  // so that growing leaves no copy behind
    keyspec += "x'".utf8
    key.withKeyBytes { bytes in Hexadecimal.append(bytes, to: &keyspec) }
    keyspec.append(UInt8(ascii: "'"))
    defer {
      keyspec.withUnsafeMutableBytes { buffer in
        if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
      }
    }
    guard keyspec.count == 67 else {
      throw GodwitError(.invalidKey, "a database key has 32 bytes, not \((keyspec.count - 3) / 2)")
    }
    let result = keyspec.withUnsafeBytes { sqlite3_key_v2(handle, "main", $0.baseAddress, Int32($0.count)) }
    guard result == SQLITE_OK else { throw GodwitError.sqlite(result, handle) }
    try execute("PRAGMA cipher_compatibility=3")
    try execute("PRAGMA cipher_page_size=\(pageSize)")
  }

  private func configure() throws {
    wasEmpty = try scalar("SELECT count(*) FROM sqlite_master") == .integer(0)
    try execute(
      """
      PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=ON; PRAGMA recursive_triggers=ON; PRAGMA secure_delete=ON;
      PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA cache_size=-16384
      """)
    switch mode {
    case .writer:
      // Chosen before the first page is written, or never: forgetting gives pages back a few at a time.
      if try wasEmpty && scalar("PRAGMA page_count") == .integer(0) { try execute("PRAGMA auto_vacuum=INCREMENTAL") }
      guard try scalar("PRAGMA journal_mode=WAL") == .text("wal") else {
        throw GodwitError(.fileAccess, "the file system under \(path) cannot hold a write-ahead log")
      }
      try execute("PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=67108864")
      try file?.checkEncrypted()
    case .reader:
      try execute("PRAGMA query_only=ON")
    case .copy:
      try execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
    }
    try defend()
  }

  /// The version of the SQLite inside, such as 3015002.
  package static var libraryVersion: Int { Int(sqlite3_libversion_number()) }

  // MARK: Statements

  /// Runs one or several statements of Godwit's own, without values.
  package func execute(_ sql: String) throws {
    defer { if authorizer.hasWrites { writtenTables.formUnion(authorizer.takeWrites()) } }
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw failure(result, sql: sql) }
  }

  /// Lends the cached statement for `sql` and takes it back, reset, when the body is done.
  package func withStatement<Result>(
    _ sql: String, authority: Authority = .trusted, _ body: (Statement) throws -> Result
  ) throws -> Result {
    let statement = try borrow(sql, authority: authority)
    defer { giveBack(statement) }
    return try body(statement)
  }

  package func borrow(_ sql: String, authority: Authority = .trusted) throws -> Statement {
    if let statement = statements.take(sql, authority) { return statement }
    return try authorizer.withAuthority(authority) {
      try Statement(sql: sql, connection: self, authority: authority)
    }
  }

  package func giveBack(_ statement: Statement) {
    statement.reset()
    statement.clearBindings()
    statements.put(statement)
  }

  /// The first column of the first row, or nil without a row.
  package func scalar(_ sql: String, _ values: [Value] = []) throws -> Value? {
    try withStatement(sql) { statement in
      try statement.bind(values)
      return try statement.step() ? statement.value(at: 0) : nil
    }
  }

  /// Runs a statement of Godwit's own with values, to its end.
  package func run(_ sql: String, _ values: [Value] = []) throws {
    try withStatement(sql) { statement in
      try statement.bind(values)
      try statement.run()
    }
  }

  /// Rows changed by the last finished INSERT, UPDATE or DELETE, not counting triggers.
  package var changes: Int { Int(sqlite3_changes(handle)) }
  /// The same of all statements so far, counting triggers.
  package var totalChanges: Int { Int(sqlite3_total_changes(handle)) }

  // MARK: Transactions

  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Begins a transaction that writes, in the file that is the database.
  ///
  /// Whoever exchanges the file holds the write lock of the old one until it has another name or none, so who gets the
  /// lock afterwards sees it here, and never writes into a file that is lost.
  ///
  /// - Throws: ``DatabaseMoved`` when nothing has been written in this job, which can be done anew; else `busy`.
  ///   `unsafeFile` when the file was removed.
  package func beginWriting() throws {
    try execute("BEGIN IMMEDIATE")
    do {
      try requireName()
    } catch {
      rollBack()
      throw error
    }
    guard hasMoved else {
      hasWrittenInJob = true
      return
    }
    try execute("ROLLBACK")
    guard hasWrittenInJob else { throw DatabaseMoved() }
    throw GodwitError(.busy, "the database was exchanged meanwhile", hint: "try again")
  }

  /// Says that what follows has nothing to do with what was written before.
  func startJob() { hasWrittenInJob = false }

  /// Runs one write of Godwit's own so that it leaves nothing behind when it fails.
  package func whole<Result>(_ body: () throws -> Result) throws -> Result {
    try schemaMayFail ? savepoint(body) : body()
  }

  /// Runs the body in a savepoint: a throw takes back what it did and is passed on.
  package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    savepointDepth += 1
    defer { savepointDepth -= 1 }
    let name = "godwit_\(savepointDepth)"
    let mark = journal?.mark() ?? 0
    try execute("SAVEPOINT \(name)")
    do {
      let result = try body()
      try execute("RELEASE \(name)")
      return result
    } catch {
      if isInTransaction { takeBack(to: name, mark) }
      throw error
    }
  }

  /// An interrupt that comes as it begins takes effect there. Where it fails once more, nothing of the transaction is
  /// kept, for rows would stay that no log has.
  private func takeBack(to name: String, _ mark: Int) {
    for _ in 0..<2 where (try? execute("ROLLBACK TO \(name); RELEASE \(name)")) != nil {
      journal?.rewind(to: mark)
      return
    }
    rollBack()
  }

  // MARK: Settings

  /// Whether triggers fire. Changing it makes SQLite compile every statement anew at its next use.
  package private(set) var hasTriggers = true

  package func setTriggers(_ enabled: Bool) throws {
    guard enabled != hasTriggers else { return }
    let result = godwitSetTriggers(handle, enabled ? 1 : 0)
    guard result == SQLITE_OK else { throw failure(result) }
    hasTriggers = enabled
  }

  /// Whether foreign keys are judged and their actions done. Unlike the PRAGMA it also works inside a transaction.
  package func setForeignKeys(_ enabled: Bool) throws {
    let result = godwitSetForeignKeys(handle, enabled ? 1 : 0)
    guard result == SQLITE_OK else { throw failure(result) }
  }

  /// Tables whose shape user SQL may not change, because their writes are captured.
  package func protectTables(_ names: Set<String>) { authorizer.protectedTables = names }

  /// The functions, in small letters, that statements of the authority ``Authority/expression`` may call.
  package func permitInExpressions(_ functions: Set<String>) { authorizer.expressionFunctions = functions }

  /// Keeps a function's context alive as long as the connection.
  func retain(_ context: AnyObject) { functions.append(context) }

  package func checkCancellation() throws {
    if cancellation.isCancelled { throw CancellationError() }
  }
}
