import GodwitBase
import GodwitKeys
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica {
  /// The care of a replica's files: checking, forgetting, backups and keys of the database.
  public struct Maintenance: Sendable {
    let replica: Replica
  }

  /// The care of the replica's files.
  public var maintenance: Maintenance { Maintenance(replica: self) }
}

extension Replica.Maintenance {
  /// Checks every page of the database, the hash chain of every origin, all foreign keys and that every table holds
  /// what was written to it, and computes the digest of the logical state. Takes time in proportion to the database;
  /// writers continue meanwhile.
  ///
  /// - Throws: `damagedDatabase` when a page cannot be read at all.
  public func verify() async throws -> VerificationReport {
    let anchor = replica.folder.anchor
    return try await replica.pool.read { try Replica.check($0).altered(at: anchor.alteredAt()) }
  }

  /// Takes what the tables hold for what they should hold, once ``verify()`` or the log has said that it is something
  /// else than was noted beside the keyring. Restoring a backup, or rejoining from another replica, is the better way
  /// where either is at hand: it brings back what was there.
  ///
  /// - Returns: Whether there was anything to accept.
  /// - Throws: `readOnly`, `closed`, `fileAccess`.
  @discardableResult
  public func acceptState() async throws -> Bool {
    let anchor = replica.folder.anchor
    return try await replica.withWriter { _ in try anchor.acceptState() }
  }

  /// A hash of the synced tables' content: equal on replicas that hold the same changes.
  public func digest() async throws -> String {
    try await replica.pool.read { try LogicalDigest.compute($0, catalog: Catalog($0)).hexadecimal }
  }
}

extension Replica {
  static func check(_ connection: Connection) throws -> VerificationReport {
    var problems = try connection.integrityProblems(limit: 20).map { "database: \($0)" }
    let (transactions, chainProblems) = try checkChains(connection)
    problems += chainProblems
    let catalog = try Catalog(connection)
    for table in catalog.tables { problems += try checkForeignKeys(of: table.definition.name, connection) }
    var rows = 0
    for table in catalog.synced {
      let count = try connection.scalar("SELECT count(*) FROM \(SQLName.quoted(table.definition.name))")
      if case .integer(let number)? = count { rows += Int(number) }
    }
    let (state, differing) = try StateScan.check(connection, catalog, ChangeLog(connection).origins)
    problems += differing.map { table in
      "state: table \(table) does not hold what was written to it: a page of it was put back or altered"
    }
    let digest = try LogicalDigest.compute(connection, catalog: catalog)
    return VerificationReport(
      problems: problems, transactions: transactions, rows: rows, digest: digest.hexadecimal,
      stateHash: state.hexadecimal, differing: try SignedAcknowledgements(connection: connection).differing())
  }

  private static func checkChains(_ connection: Connection) throws -> (Int, [String]) {
    let log = try ChangeLog(connection)
    var problems: [String] = []
    var count = 0
    for origin in log.origins.vector.origins {
      let head = try log.origins.head(of: origin)
      var chain = head.floorChain
      var expected = head.floor
      try log.forEach(of: origin, after: head.floor) { record, _ in
        expected = expected.next
        chain = record.chain(after: chain)
        count += 1
        if record.dot.sequence != expected {
          problems.append("log: \(origin.replica) lacks transaction \(expected.rawValue)")
          expected = record.dot.sequence
        }
        if try log.chain(at: record.dot) != chain {
          problems.append("log: transaction \(record.dot.sequence.rawValue) of \(origin.replica) was changed")
          chain = try log.chain(at: record.dot) ?? chain
        }
      }
      if head.sequence != expected || head.chain != chain {
        problems.append("log: \(origin.replica) should reach transaction \(head.sequence.rawValue)")
      }
    }
    return (count, problems)
  }

  /// A table of the program's own is not asked: a merge, which knows nothing of it, may have deleted what it refers to.
  private static func checkForeignKeys(of table: String, _ connection: Connection) throws -> [String] {
    try connection.withStatement("PRAGMA foreign_key_check(\(SQLName.quoted(table)))") { statement in
      var problems: [String] = []
      while try statement.step(), problems.count < 20 {
        problems.append(
          "foreign key: a row of \(try statement.text(at: 0)) refers to a missing one of \(try statement.text(at: 2))")
      }
      return problems
    }
  }
}
