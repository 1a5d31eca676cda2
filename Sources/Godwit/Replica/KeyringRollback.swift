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
    let known = UInt64(clamping: try Meta.all(on: connection).integer(.keyringGeneration))
    if contents.generation < known {
      // Another process may have changed the keyring and opened the database since it was read here.
      let current = try Keyring.open(at: location).generation
      guard current >= known else { throw rolledBack(location.keyring, current, known) }
    } else if contents.generation > known, !isReadOnly {
      try Meta.set(.keyringGeneration, .integer(Int64(clamping: contents.generation)), on: connection)
    }
  }

  private static func rolledBack(_ path: String, _ found: UInt64, _ known: UInt64) -> GodwitError {
    GodwitError(
      .rolledBackKeyring,
      "the keyring \(path) is of generation \(found), but the database was opened with generation \(known)",
      hint: "restore the latest keyring; if there is none, see who the members are and go on with: godwit keyring accept")
  }
}

extension Replica {
  /// Goes on with a keyring that is older than the database knows (`rolledBackKeyring`). Members that were removed and
  /// slots that were dropped since then are back until they are removed once more.
  ///
  /// - Parameters:
  ///   - path: The replica's folder.
  ///   - key: Where the keys are.
  /// - Throws: `noReplica`, and as opening does.
  public static func acceptKeyring(at path: String, key: KeySource = .keyring()) async throws {
    let folder = ReplicaFolder(path, key: key)
    guard folder.hasDatabase else {
      throw GodwitError(.noReplica, "there is no replica in \(path)", hint: "make one with: godwit init")
    }
    try await BlockingThread.run {
      let contents = try Keyring.open(at: folder.keys)
      let connection = try Connection(path: folder.database, key: contents.databaseKey, mode: .reader)
      let known = UInt64(clamping: try Meta.all(on: connection).integer(.keyringGeneration))
      guard contents.generation < known else { return }
      try Keyring.accept(at: folder.keys, above: known)
    }
  }
}
