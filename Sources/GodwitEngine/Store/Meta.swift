import GodwitBase
import GodwitStorage

/// Single values of a database (`godwit_meta`).
package enum Meta: String {
  case format
  case group
  /// The last migration that has run here; 0 without migrations.
  case schemaVersion
  /// The latest timestamp of the clock; the own transactions after `clocked` may have later ones.
  case clock
  /// The own sequence up to which `clock` covers all.
  case clocked
  /// The earliest timestamp in `godwit_ahead`; 0 or missing when that is empty.
  case ahead
  /// The latest timestamp within the clock of what has been forgotten; missing before anything is.
  case forgottenClock
  /// The latest timestamp beyond the clock of what has been forgotten; missing when none was.
  case forgottenBeyond
  /// How many entries the conflict log has dropped.
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

  static let creation = """
    CREATE TABLE godwit_meta (name TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID;
    """

  /// Whether the database has them: it is one of Godwit's.
  static func isThere(on connection: Connection) throws -> Bool {
    try connection.scalar("SELECT 1 FROM sqlite_master WHERE name = 'godwit_meta'") != nil
  }

  /// All of them, in one statement: opening a replica needs most.
  package static func all(on connection: Connection) throws -> [Meta: Value] {
    try connection.withStatement("SELECT name, value FROM godwit_meta") { statement in
      var values: [Meta: Value] = [:]
      while try statement.step() {
        if let name = Meta(rawValue: try statement.text(at: 0)) { values[name] = try statement.value(at: 1) }
      }
      return values
    }
  }

  package static func integer(_ name: Meta, on connection: Connection) throws -> Int64 {
    try all(on: connection).integer(name)
  }

  /// The group that the database belongs to.
  static func group(on connection: Connection) throws -> GroupID {
    guard case .text(let text)? = try all(on: connection)[.group], let value = Identifier128(hexadecimal: text) else {
      throw GodwitError(.damagedLog, "the database has lost its group")
    }
    return GroupID(value)
  }

  package static func set(_ name: Meta, _ value: Value, on connection: Connection) throws {
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
