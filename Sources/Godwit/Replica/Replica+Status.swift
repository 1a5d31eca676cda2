import GodwitBase
import GodwitModel
import GodwitReplication
import GodwitStorage

extension Replica {
  /// Where the replica stands: its tables, what it holds of whom, what waits.
  public func status() async throws -> ReplicaStatus {
    let own = identity.replica
    let members = try await members().filter { $0.isActive && !$0.isOwn }.map(\.identity.replica)
    return try await pool.read { connection in
      let origins = try OriginTable(connection)
      let held = origins.vector
      let staged = StagedTransactions(connection: connection)
      let tables = try Catalog(connection).synced.map { table in
        ReplicaStatus.Table(
          name: table.definition.name,
          rows: try Self.integer("SELECT count(*) FROM \(SQLName.quoted(table.definition.name))", connection))
      }
      let ownHeld = held.origins.filter { $0.replica == own }
      let unsent = try ownHeld.reduce(0) { sum, origin in
        let known = try members.map { try Acknowledgements.get($0, on: connection)[origin] }.min() ?? .none
        return sum + Int(held[origin].rawValue - min(known, held[origin]).rawValue)
      }
      return ReplicaStatus(
        incarnation: Self.incarnation(origins.own), tables: tables,
        held: held.origins.map { ReplicaStatus.Held(replica: $0.replica, sequence: held[$0].rawValue) },
        staged: try staged.count(), schemaVersion: Int(try Meta.integer(.schemaVersion, on: connection)),
        quarantined: try Quarantine.count(on: connection), conflicts: try ConflictLog.count(on: connection),
        missing: try staged.missing(held: held), unsent: unsent,
        databaseBytes: try Self.integer("PRAGMA page_count", connection) * DatabaseFile.pageSize,
        cipherVersion: try Self.text("PRAGMA cipher_version", connection))
    }
  }

  /// The latest transactions of all origins, newest first.
  ///
  /// - Throws: `invalidArgument` for a negative limit.
  public func log(limit: Int = 50) async throws -> [LogEntry] {
    try Self.check(limit)
    return try await pool.read { connection in
      let log = try ChangeLog(connection)
      var newest: [TransactionRecord] = []
      for origin in log.origins.vector.origins {
        let head = try log.origins.head(of: origin).sequence.rawValue
        let start = SequenceNumber(rawValue: head > UInt64(limit) ? head - UInt64(limit) : 0)
        try log.forEach(of: origin, after: start) { record, _ in newest.append(record) }
      }
      newest.sort { ($1.hlc, $1.dot.origin) < ($0.hlc, $0.dot.origin) }
      return try newest.prefix(limit).map(LogEntry.init)
    }
  }

  /// Writes that lost to writes they had not seen, newest first.
  ///
  /// - Throws: `invalidArgument` for a negative limit.
  public func conflicts(limit: Int = 100) async throws -> [Conflict] {
    try Self.check(limit)
    return try await pool.read { connection in
      try ConflictLog(connection, origins: OriginTable(connection)).list(limit: limit)
    }
  }

  private static func incarnation(_ own: Origin) -> String {
    let digits = String(own.incarnation, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  private static func check(_ limit: Int) throws {
    guard limit >= 0 else { throw GodwitError(.invalidArgument, "a limit of \(limit) is negative") }
  }

  private static func integer(_ sql: String, _ connection: Connection) throws -> Int {
    guard case .integer(let number)? = try connection.scalar(sql) else { return 0 }
    return Int(number)
  }

  private static func text(_ sql: String, _ connection: Connection) throws -> String {
    guard case .text(let text)? = try connection.scalar(sql) else { return "" }
    return text
  }
}

extension LogEntry {
  init(_ record: TransactionRecord) throws {
    let changes = try ChangeSet(record.changes[...])
    var counts = changes.tables.map { _ in [0, 0, 0] }
    try changes.forEach { operation in
      // A row that goes on under another key is one less there and one more here.
      let kinds = operation.kind == .move ? [.insert, .delete] : [operation.kind]
      for kind in kinds { counts[operation.table][Int(kind.rawValue)] += 1 }
    }
    self.init(
      replica: record.dot.origin.replica, sequence: record.dot.sequence.rawValue,
      milliseconds: record.hlc.milliseconds,
      changes: zip(changes.tables, counts).map { table, count in
        TableChanges(table: table.name, inserted: count[0], updated: count[1], deleted: count[2])
      })
  }
}
