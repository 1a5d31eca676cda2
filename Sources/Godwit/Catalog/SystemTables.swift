import GodwitBase
import GodwitStorage

/// Godwit's own tables (Specs/change-log.md, "Tables"). User SQL can read but never write them.
enum SystemTables {
  /// The layout's version, kept in `godwit_meta`; another one is refused.
  static let formatVersion: Int64 = 3

  static let creation = """
    CREATE TABLE godwit_meta (name TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID;
    CREATE TABLE godwit_table (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, definition BLOB NOT NULL,
      former INTEGER NOT NULL DEFAULT 0, sum BLOB);
    CREATE TABLE godwit_origin (id INTEGER PRIMARY KEY, replica BLOB NOT NULL, incarnation INTEGER NOT NULL,
      sequence INTEGER NOT NULL, chain BLOB NOT NULL, folded INTEGER NOT NULL,
      floor INTEGER NOT NULL, floor_chain BLOB NOT NULL, ended INTEGER, UNIQUE (replica, incarnation));
    CREATE TABLE godwit_log (id INTEGER PRIMARY KEY, hlc INTEGER NOT NULL, chain BLOB NOT NULL, schema INTEGER NOT NULL,
      size INTEGER NOT NULL, changes BLOB NOT NULL, deleted_cells BLOB, sums BLOB);
    CREATE TABLE godwit_context (id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
    CREATE TABLE godwit_staged (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, sequence INTEGER NOT NULL,
      chain BLOB NOT NULL, hlc INTEGER NOT NULL, schema INTEGER NOT NULL, size INTEGER NOT NULL,
      flags INTEGER NOT NULL, context BLOB, changes BLOB NOT NULL,
      PRIMARY KEY (replica, incarnation, sequence)) WITHOUT ROWID;
    CREATE INDEX godwit_staged_schema ON godwit_staged (schema);
    CREATE TABLE godwit_head (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, sequence INTEGER NOT NULL,
      chain BLOB NOT NULL, base INTEGER NOT NULL, signature BLOB NOT NULL, ahead BLOB NOT NULL,
      PRIMARY KEY (replica, incarnation, sequence, chain)) WITHOUT ROWID;
    CREATE TABLE godwit_row (key BLOB PRIMARY KEY NOT NULL, state BLOB NOT NULL, hidden INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX godwit_row_hidden ON godwit_row (key) WHERE hidden;
    CREATE TABLE godwit_limbo (reason BLOB NOT NULL, key BLOB NOT NULL, PRIMARY KEY (reason, key)) WITHOUT ROWID;
    CREATE INDEX godwit_limbo_key ON godwit_limbo (key);
    CREATE TABLE godwit_conflict (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, table_id INTEGER NOT NULL,
      key BLOB NOT NULL, column_name TEXT, value BLOB NOT NULL, winning_value BLOB NOT NULL,
      loser_hlc INTEGER NOT NULL, loser_origin INTEGER NOT NULL, loser_sequence INTEGER NOT NULL,
      winner_hlc INTEGER NOT NULL, winner_origin INTEGER NOT NULL, winner_sequence INTEGER NOT NULL,
      resolved INTEGER NOT NULL DEFAULT 0,
      UNIQUE (table_id, key, kind, column_name, loser_origin, loser_sequence, winner_origin, winner_sequence, value));
    CREATE TABLE godwit_acknowledgement (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, stated BLOB NOT NULL,
      counted BLOB NOT NULL, held BLOB NOT NULL, PRIMARY KEY (replica, incarnation)) WITHOUT ROWID;
    CREATE TABLE godwit_migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum BLOB NOT NULL,
      applied_at INTEGER, brought_by BLOB, steps BLOB NOT NULL);
    CREATE TABLE godwit_loss (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, table_name TEXT NOT NULL,
      key BLOB NOT NULL, column_name TEXT NOT NULL, value BLOB NOT NULL);
    CREATE TABLE godwit_ahead (key BLOB PRIMARY KEY NOT NULL, hlc INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE godwit_statement (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, bytes BLOB NOT NULL,
      pending INTEGER NOT NULL, differs INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (replica, incarnation)) WITHOUT ROWID;
    CREATE TABLE godwit_conflict_value (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, content BLOB NOT NULL);
    CREATE TABLE godwit_fork (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, sequence INTEGER NOT NULL,
      shown_by BLOB NOT NULL, PRIMARY KEY (shown_by, replica, incarnation)) WITHOUT ROWID;
    """

  /// Creates the tables in an empty database, or checks the version of those that are there.
  static func ensure(on connection: Connection, group: GroupID, replica: ReplicaID) throws {
    if try connection.scalar("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'godwit_meta')") == .integer(1) {
      return try check(on: connection, group: group)
    }
    try connection.execute(creation)
    try Meta.set(.format, .integer(formatVersion), on: connection)
    try Meta.set(.group, .text(group.description), on: connection)
    try Meta.set(.schemaVersion, .integer(0), on: connection)
    try Meta.set(.clock, .integer(0), on: connection)
    try OriginTable.addOwn(replica: replica, on: connection)
  }

  static func check(on connection: Connection, group: GroupID) throws {
    let meta = try Meta.all(on: connection)
    let format = try meta.integer(.format)
    guard format == formatVersion else {
      throw GodwitError(
        .unsupportedVersion, "the database is of format \(format), and this program reads format \(formatVersion)",
        hint: format > formatVersion
          ? "update this program"
          : "export it as a plaintext database with the program that made it, and begin a new group from that")
    }
    guard meta[.group] == .text(group.description) else {
      throw GodwitError(.otherGroup, "the database and the keyring belong to different groups")
    }
  }
}

/// Single values of a database.
enum Meta: String {
  case format
  case group
  /// The last migration that has run here; 0 without migrations.
  case schemaVersion
  /// The latest timestamp of the clock; the own transactions after `clocked` may have later ones.
  case clock
  /// The own sequence up to which `clock` tells all.
  case clocked
  /// The earliest timestamp in `godwit_ahead`; 0 or missing when that is empty.
  case ahead
  /// The latest timestamp within the clock of what has been forgotten; missing before anything is.
  case forgottenClock
  /// The latest timestamp beyond the clock of what has been forgotten; missing when none was.
  case forgottenBeyond
  /// How many entries the conflict log has let go of.
  case conflictsPruned
  /// The database's half of its anchor (Specs/incarnations.md).
  case nonce
  /// What every member was known to hold when rows were last forgotten, and when the pass under way began.
  case forgotten
  case forgetting
  /// Up to which row key the pass under way has come.
  case forgettingCursor
  /// The union of all that anything has been forgotten by.
  case forgottenThrough
  /// The log key up to which `godwit_table` has the tables' sums (Specs/state-hash.md, "Keeping").
  case summed
  /// The greatest generation of the keyring that the database was opened with (Specs/keyring.md, "Rollback").
  case keyringGeneration

  /// All of them, in one statement: opening a replica needs most.
  static func all(on connection: Connection) throws -> [Meta: Value] {
    try connection.withStatement("SELECT name, value FROM godwit_meta") { statement in
      var values: [Meta: Value] = [:]
      while try statement.step() {
        if let name = Meta(rawValue: try statement.text(at: 0)) { values[name] = try statement.value(at: 1) }
      }
      return values
    }
  }

  static func integer(_ name: Meta, on connection: Connection) throws -> Int64 {
    try all(on: connection).integer(name)
  }

  /// The group that the database belongs to.
  static func group(on connection: Connection) throws -> GroupID {
    guard case .text(let text)? = try all(on: connection)[.group], let value = Identifier128(hexadecimal: text) else {
      throw GodwitError(.damagedLog, "the database has lost its group")
    }
    return GroupID(value)
  }

  static func set(_ name: Meta, _ value: Value, on connection: Connection) throws {
    try connection.run(
      "INSERT OR REPLACE INTO godwit_meta (name, value) VALUES (?, ?)", [.text(name.rawValue), value])
  }

  static func remove(_ name: Meta, on connection: Connection) throws {
    try connection.run("DELETE FROM godwit_meta WHERE name = ?", [.text(name.rawValue)])
  }
}

extension [Meta: Value] {
  func integer(_ name: Meta) throws -> Int64 {
    guard case .integer(let number)? = self[name] else {
      throw GodwitError(.damagedLog, "the database has lost its \(name.rawValue)")
    }
    return number
  }
}
