import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage

/// The migrations a replica knows (`godwit_migration`): those it ran, and behind them those that other replicas ran.
package struct MigrationHistory {
  static let creation = """
    CREATE TABLE godwit_migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum BLOB NOT NULL,
      applied_at INTEGER, brought_by BLOB, steps BLOB NOT NULL);
    """

  package private(set) var known: [SchemaMigration] = []
  /// When each of them ran here, in milliseconds of Unix time; nil for those that have not.
  package private(set) var times: [Int64?] = []
  /// The version the tables have: so many of the known ones have run here.
  package private(set) var version: UInt64 = 0

  package init(_ connection: Connection) throws {
    try connection.withStatement("SELECT steps, applied_at FROM godwit_migration ORDER BY version") { statement in
      while try statement.step() {
        known.append(try SchemaMigration(bytes: statement.blob(at: 0)[...]))
        let time = statement.isNull(at: 1) ? nil : statement.integer(at: 1)
        times.append(time)
        if time != nil { version = UInt64(known.count) }
      }
    }
    guard known.enumerated().allSatisfy({ UInt64($0 + 1) == $1.version }) else {
      throw GodwitError(.damagedLog, "the database has lost migrations")
    }
  }

  /// Those of them that are not known yet are, behind the others.
  mutating func add(_ migrations: [SchemaMigration]) {
    let new = migrations.dropFirst(known.count)
    known += new
    times += new.map { _ in nil }
  }

  /// The version that the steps known here reach.
  var knownVersion: UInt64 { UInt64(known.count) }

  /// Those that have run here, and those at whose versions something waits: others are passed on by who has run them.
  func used(on connection: Connection) throws -> ArraySlice<SchemaMigration> {
    guard knownVersion > version else { return known[...] }
    let last = try StagedTransactions(connection: connection).lastVersion() ?? 0
    return known.prefix(Int(max(version, last)))
  }

  /// The steps that lead from one version to another.
  func steps(after first: UInt64, through last: UInt64) -> [SchemaStep] {
    known.filter { $0.version > first && $0.version <= last }.flatMap(\.steps)
  }

  /// Where a table of a change set that was written at this version, or an earlier one, stands here.
  func path(of table: ChangeSet.Table, from version: UInt64) -> TablePath {
    var path = TablePath(table)
    for step in steps(after: version, through: self.version) { path.follow(step) }
    return path
  }

  /// The additions that follow on the version here, up to the first barrier.
  var nextAdditions: ArraySlice<SchemaMigration> {
    return known.dropFirst(Int(version)).prefix { $0.isAddition }
  }

  /// Throws `migrationMismatch` with the difference when both know another migration under one number.
  func check(_ others: [SchemaMigration], hint: String) throws {
    for (mine, other) in zip(known, others) where mine.bytes != other.bytes {
      let lines = mine.difference(from: other)
      let shown = lines.filter { !$0.hasPrefix(" ") }.prefix(20).joined(separator: "\n")
      throw GodwitError(
        .migrationMismatch, "migration \(mine.version) is not the one that this database knows:\n\(shown)", hint: hint)
    }
  }

  /// Refuses a program that has another history, or lacks a barrier that the database has passed. Additions it need not
  /// know. Throws `migrationMismatch`, `needsMigration`.
  func requireKnown(to program: [SchemaMigration]) throws {
    try check(
      program,
      hint: "nothing was altered; - stands in the database and + in the program: a migration that has run is "
        + "never changed, what follows is a migration of its own")
    let barrier = known.prefix(Int(version)).dropFirst(program.count).first { !$0.isAddition }
    guard let barrier else { return }
    throw GodwitError(
      .needsMigration,
      "the tables are of version \(version), and the program, which knows \(program.count), lacks the barrier "
        + "\(barrier.version) \"\(barrier.name)\"", hint: "update the program")
  }

  /// Forgets migrations that others are said to have run, from the first on that is unlike these, when nothing here was
  /// written at their version: what was tried out on one replica and given up must not bind the others.
  mutating func forgetUnused(unlike others: [SchemaMigration], on connection: Connection) throws {
    let pairs = zip(known, others).dropFirst(Int(version))
    guard let first = pairs.first(where: { $0.bytes != $1.bytes })?.0.version else { return }
    try forgetUnused(from: first, on: connection)
  }

  /// Forgets what removed members are said to have run and nothing here was written at, from the first of theirs on:
  /// what others have run comes again with their files.
  package mutating func forgetUnused(broughtBy isRemoved: (ReplicaID) -> Bool, on connection: Connection) throws {
    let waiting = known.dropFirst(Int(version)).map(\.version)
    let first = try waiting.first { try Self.bringer(of: $0, on: connection).map(isRemoved) ?? false }
    if let first { try forgetUnused(from: first, on: connection) }
  }

  private mutating func forgetUnused(from first: UInt64, on connection: Connection) throws {
    guard try !ChangeLog.reaches(version: first, on: connection) else { return }
    if let last = try StagedTransactions(connection: connection).lastVersion(), last >= first { return }
    try connection.run("DELETE FROM godwit_migration WHERE version >= ?", [.integer(Int64(first))])
    known.removeLast(known.count - Int(first) + 1)
    times.removeLast(times.count - known.count)
  }

  /// The member whose file a migration came with first; nil for one of the program's, or of a file that a person gave.
  package static func bringer(of version: UInt64, on connection: Connection) throws -> ReplicaID? {
    let sql = "SELECT brought_by FROM godwit_migration WHERE version = ?"
    guard case .blob(let bytes)? = try connection.scalar(sql, [.integer(Int64(version))]) else { return nil }
    return try ReplicaID(column: bytes)
  }

  /// Keeps a migration: as one that has run, or as one that others ran. Who brought it first stays.
  static func record(
    _ migration: SchemaMigration, appliedAt: Int64?, broughtBy bringer: ReplicaID?, on connection: Connection
  ) throws {
    let first = try self.bringer(of: migration.version, on: connection) ?? bringer
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_migration (version, name, checksum, applied_at, brought_by, steps)
      VALUES (?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(Int64(migration.version)), .text(migration.name), .blob(migration.checksum.bytes),
        appliedAt.map { .integer($0) } ?? .null, first.map { $0.column } ?? .null, .blob(migration.bytes),
      ])
    if appliedAt != nil { try Meta.set(.schemaVersion, .integer(Int64(migration.version)), on: connection) }
  }

  /// Reads the migrations of a sync file or a migration file: 1, 2, 3 …
  static func decode(_ all: [[UInt8]]) throws -> [SchemaMigration] {
    let migrations = try all.map { bytes in
      let migration = try SchemaMigration(bytes: bytes[...])
      try migration.requireDigestsOfCode()
      return migration
    }
    guard migrations.enumerated().allSatisfy({ UInt64($0 + 1) == $1.version }) else {
      throw ByteReader.malformed("migrations are not numbered 1, 2, 3 …")
    }
    return migrations
  }
}

extension SchemaMigration {
  /// Refuses code whose digest is not its name's: equal content has one form.
  func requireDigestsOfCode() throws {
    for case .data(let step) in steps where step.isCode && step.digest != SchemaStep.DataWork.digest(ofCode: step.name)
    {
      throw ByteReader.malformed("the digest of a data step that is code is not its name's")
    }
  }

  /// SHA-256 of the canonical bytes.
  package var checksum: ContentHash { bytes.withUnsafeBytes { ContentHash(of: $0) } }
}

extension SchemaStep.DataWork {
  /// Code has no other digest than its name's.
  static func digest(ofCode name: String) -> [UInt8] {
    Array(name.utf8).withUnsafeBytes { ContentHash(of: $0) }.bytes
  }
}
