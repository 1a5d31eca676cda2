import GodwitBase
import GodwitKeys
import GodwitEngine
import GodwitStorage

/// Notices a keyring that was put back to an earlier state, by the generation the database remembers: members that were
/// removed, and slots that were dropped, would be back (Specs/keyring.md, section "Rollback").
enum KeyringRollback {
  /// Throws `rolledBackKeyring` where the database knows a later generation.
  static func check(_ contents: KeyringContents, _ location: KeyringLocation, after known: UInt64) throws {
    guard contents.generation < known else { return }
    // Another process may have changed the keyring and opened the database since it was read here.
    let current = try Keyring.open(at: location).generation
    guard current >= known else { throw Keyring.rolledBack(location.keyring, current, known) }
  }

  /// Has the file that is the database by then know a later generation.
  static func remember(_ contents: KeyringContents, after known: UInt64, on connection: Connection) throws {
    guard contents.generation > known else { return }
    try connection.writing {
      try Meta.set(.keyringGeneration, .integer(Int64(clamping: contents.generation)), on: connection)
    }
  }

  /// The latest generation that the database of a replica which is not open knows; 0 where there is none yet.
  ///
  /// Throws as opening it does.
  static func known(in folder: ReplicaFolder, _ contents: KeyringContents) throws -> UInt64 {
    guard folder.hasDatabase else { return 0 }
    return try known(on: DatabaseKeys(folder, contents).connect(.reader))
  }

  /// 0 for a database that was never opened with one.
  static func known(on connection: Connection) throws -> UInt64 {
    guard case .integer(let number)? = try Meta.all(on: connection)[.keyringGeneration] else { return 0 }
    return UInt64(clamping: number)
  }
}
