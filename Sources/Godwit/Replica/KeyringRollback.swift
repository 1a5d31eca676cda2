import GodwitBase
import GodwitKeys
import GodwitStorage

/// Notices a keyring that was put back to an earlier state, by the generation the database remembers: members that were
/// removed, and slots that were dropped, would be back (Specs/keyring.md, section "Rollback").
enum KeyringRollback {
  /// Compares, and remembers a later generation unless the connection only reads.
  ///
  /// Throws `rolledBackKeyring`.
  static func check(
    _ contents: KeyringContents, _ location: KeyringLocation, on connection: Connection, isReadOnly: Bool
  ) throws {
    let known = try known(on: connection)
    if contents.generation < known {
      // Another process may have changed the keyring and opened the database since it was read here.
      let current = try Keyring.open(at: location).generation
      guard current >= known else { throw rolledBack(location.keyring, current, known) }
    } else if contents.generation > known, !isReadOnly {
      try Meta.set(.keyringGeneration, .integer(Int64(clamping: contents.generation)), on: connection)
    }
  }

  /// 0 for a database that was never opened with one.
  static func known(on connection: Connection) throws -> UInt64 {
    guard case .integer(let number)? = try Meta.all(on: connection)[.keyringGeneration] else { return 0 }
    return UInt64(clamping: number)
  }

  private static func rolledBack(_ path: String, _ found: UInt64, _ known: UInt64) -> GodwitError {
    GodwitError(
      .rolledBackKeyring,
      "the keyring \(path) is of generation \(found), but the database was opened with generation \(known)",
      hint: "restore the latest keyring; if it is lost, go on with this one by: godwit keyring accept")
  }
}
