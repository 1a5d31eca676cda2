import Foundation
import GodwitBase
import GodwitReplication
import GodwitStorage

/// Transactions that are held and passed on, and that this replica's tables have no place for yet, or not for all of
/// them (`godwit_quarantine`).
struct Quarantine {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Keeps what waits of a transaction that is in the log.
  func set(_ carried: ChangeCarrier.Carried, for key: LogKey) throws {
    guard !carried.waiting.isEmpty else {
      return try connection.run("DELETE FROM godwit_quarantine WHERE id = ?", [.integer(key.rawValue)])
    }
    var writer = ByteWriter()
    carried.waiting.write(to: &writer)
    try connection.run(
      "INSERT OR REPLACE INTO godwit_quarantine (id, operations, unknown) VALUES (?, ?, ?)",
      [.integer(key.rawValue), .blob(writer.bytes), .text(carried.unknown.sorted().joined(separator: "; "))])
  }

  /// Whether anything of a transaction waits.
  static func holds(_ dot: Dot, of log: ChangeLog, on connection: Connection) throws -> Bool {
    let key = LogKey(origin: try log.origins.number(of: dot.origin), dot.sequence)
    return try connection.scalar("SELECT 1 FROM godwit_quarantine WHERE id = ?", [.integer(key.rawValue)]) != nil
  }

  static func count(on connection: Connection) throws -> Int {
    guard case .integer(let count)? = try connection.scalar("SELECT count(*) FROM godwit_quarantine") else { return 0 }
    return Int(count)
  }

  /// What the transactions wait for, in words, each once.
  static func unknown(on connection: Connection) throws -> [String] {
    try connection.withStatement("SELECT DISTINCT unknown FROM godwit_quarantine") { statement in
      var all: Set<String> = []
      while try statement.step() { all.formUnion(try statement.text(at: 0).components(separatedBy: "; ")) }
      return all.sorted()
    }
  }

  /// The transactions of which a write to this row waits, whole or in part, and what they wait for, in the
  /// order of timestamps. Reads all that waits.
  func transactions(
    writingTo row: RowKey, of table: String, _ log: ChangeLog
  ) throws -> [(dot: Dot, unknown: [String])] {
    let history = try MigrationHistory(connection)
    var found: [(dot: Dot, unknown: [String])] = []
    for entry in try Self.load(connection) {
      guard let record = try log.record(at: entry.key) else { continue }
      let changes = try ChangeSet(record.changes[...])
      let isTable = changes.tables.map { changed in
        let carriage = history.carriage(of: changed, from: record.schemaVersion)
        guard case .here(let name) = carriage.fate else { return false }
        return name.isSameName(as: table)
      }
      var place = 0
      var isFound = false
      try changes.forEach { operation in
        defer { place += 1 }
        guard !isFound, isTable[operation.table], entry.operations.columns[place] != nil else { return }
        isFound = operation.key == row.key
      }
      if isFound { found.append((record.dot, try unknown(entry.key))) }
    }
    return found
  }

  private func unknown(_ key: LogKey) throws -> [String] {
    let text = try connection.scalar("SELECT unknown FROM godwit_quarantine WHERE id = ?", [.integer(key.rawValue)])
    guard case .text(let text)? = text else { return [] }
    return text.components(separatedBy: "; ")
  }

  /// Applies what now has a place, with the stamps it came with, and returns how many transactions wait no more. It
  /// runs inside a database transaction with triggers and foreign keys off.
  ///
  /// - Parameters:
  ///   - rebuilt: Tables that a migration has made anew: their rows wait for other things now, and may lack nothing any more.
  ///   - reindexed: Tables of which it has only changed the indexes.
  static func release(
    on writer: ReplicaWriter, rebuilt: [String] = [], reindexed: [String] = []
  ) throws -> Int {
    let (connection, log) = (writer.connection, writer.log)
    let waiting = try load(connection)
    guard !waiting.isEmpty || !rebuilt.isEmpty || !reindexed.isEmpty else { return 0 }
    let merger = try writer.merger()
    try merger.renewHolds(of: rebuilt + reindexed)
    let quarantine = Quarantine(connection)
    let carrier = try ChangeCarrier(
      connection, catalog: writer.catalog, history: MigrationHistory(connection))
    var released = 0
    for entry in waiting {
      guard let record = try log.record(at: entry.key) else { continue }
      let carried = try carrier.carry(record, only: entry.operations)
      try merger.mergeLate(carried, by: record)
      try quarantine.set(carried, for: entry.key)
      // Its table may not have been here when it came.
      try writer.clock.take(record, carrier)
      if carried.waiting.isEmpty { released += 1 }
    }
    try merger.finish(rebuilt: rebuilt)
    try writer.clock.save(through: log.origins.ownSequence)
    return released
  }

  /// Makes what collections lack of what waits, which came by way of a program that did not know documents, and applies
  /// it. Returns how many transactions wait no more. It runs as ``release(on:)`` does.
  static func releaseDocuments(on writer: ReplicaWriter) throws -> Int {
    let connection = writer.connection
    guard try hasDocuments(connection) else { return 0 }
    var tables: [ChangeSet.Table] = []
    for entry in try load(connection) {
      guard let record = try writer.log.record(at: entry.key) else { continue }
      tables += try ChangeSet(record.changes[...]).tables
    }
    guard try Catalog.growFromQuarantine(tables, on: connection) else { return 0 }
    try writer.reload()
    try writer.settle()
    return try release(on: writer)
  }

  /// Whether anything waits for a table or column of a collection.
  static func hasDocuments(_ connection: Connection) throws -> Bool {
    try connection.scalar("SELECT 1 FROM godwit_quarantine WHERE unknown LIKE '%table documents\\_%' ESCAPE '\\' LIMIT 1")
      != nil
  }

  /// In the order of timestamps, which rise from cause to effect.
  private static func load(_ connection: Connection) throws -> [(key: LogKey, operations: WaitingOperations)] {
    let sql = """
      SELECT q.id, q.operations FROM godwit_quarantine q JOIN godwit_log l ON l.id = q.id ORDER BY l.hlc, q.id
      """
    return try connection.withStatement(sql) { statement in
      var entries: [(key: LogKey, operations: WaitingOperations)] = []
      while try statement.step() {
        var reader = ByteReader(statement.blob(at: 1))
        entries.append((LogKey(rawValue: statement.integer(at: 0)), try WaitingOperations(reading: &reader)))
      }
      return entries
    }
  }
}

extension ChangeLog {
  /// A transaction; nil when the log does not have it any more.
  func record(of dot: Dot) throws -> TransactionRecord? {
    try record(at: LogKey(origin: origins.number(of: dot.origin), dot.sequence))
  }

  /// The transaction under a key.
  func record(at key: LogKey) throws -> TransactionRecord? {
    let origin = try origins.origin(numbered: key.originNumber)
    let before = SequenceNumber(rawValue: key.sequence.rawValue - 1)
    return try cursor(of: origin, after: before, through: key.sequence).next()?.record
  }
}
