import Godwit

/// What a tool's exit code says (Specs/cli.md, "Exit codes").
public enum ExitStatus {
  /// Done.
  public static let success: Int32 = 0
  /// Anything without a code of its own.
  public static let failed: Int32 = 1
  /// The import went well and left conflicts (`--fail-on-conflict`).
  public static let conflicts: Int32 = 3
  /// Transactions are missing that others wait for (`missing`).
  public static let missing: Int32 = 4
  /// There is no replica here.
  public static let noReplica: Int32 = 10
  /// Somebody else holds the lock.
  public static let busy: Int32 = 11
  /// No key here opens the replica or the file.
  public static let noKeyFits: Int32 = 12
  /// Corrupt or tampered with.
  public static let damaged: Int32 = 13
  /// The data has another schema.
  public static let needsMigration: Int32 = 14
  /// A remote cannot be reached; a later try may do.
  public static let unreachable: Int32 = 16
  /// A remote refuses: somebody has to change something first.
  public static let refused: Int32 = 17
  /// The command line makes no sense.
  public static let usage: Int32 = 64
  /// Ended by Ctrl-C.
  public static let interrupted: Int32 = 130

  /// The exit code for a failure of the library.
  public static func code(for code: GodwitError.Code) -> Int32 {
    switch code {
    case .noReplica: noReplica
    case .busy: busy
    case .wrongKey, .noKeyFits, .missingKeyring, .notARecipient: noKeyFits
    case .damagedDatabase, .plaintextDatabase, .notADatabase, .damagedLog, .damagedKeyring, .rolledBackKeyring,
      .corruptFile,
      .truncatedFile, .invalidSignature, .unknownSender, .unverifiedIdentity, .unsupportedVersion, .limitExceeded:
      damaged
    case .needsMigration, .schemaMismatch, .migrationMismatch: needsMigration
    case .unreachable: unreachable
    case .refused: refused
    default: failed
    }
  }
}
