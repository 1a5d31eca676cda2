import CGodwit
import Godwit

/// The numbers of failures in `godwit.h`. They never change; a later version adds some.
enum ResultCode {
  private static let numbers: [GodwitError.Code: Int32] = [
    .fileAccess: GODWIT_FILE_ACCESS, .unsafeFile: GODWIT_UNSAFE_FILE, .diskFull: GODWIT_DISK_FULL,

    .noCipher: GODWIT_NO_CIPHER, .wrongKey: GODWIT_WRONG_KEY, .plaintextDatabase: GODWIT_PLAINTEXT_DATABASE,
    .notADatabase: GODWIT_NOT_A_DATABASE, .damagedDatabase: GODWIT_DAMAGED_DATABASE, .busy: GODWIT_BUSY,
    .constraint: GODWIT_CONSTRAINT, .sql: GODWIT_SQL, .notAuthorized: GODWIT_NOT_AUTHORIZED,
    .transactionEnded: GODWIT_TRANSACTION_ENDED, .closed: GODWIT_CLOSED,

    .valueMismatch: GODWIT_VALUE_MISMATCH, .valueNotStorable: GODWIT_VALUE_NOT_STORABLE,
    .invalidSchema: GODWIT_INVALID_SCHEMA, .schemaMismatch: GODWIT_SCHEMA_MISMATCH,
    .notInSchema: GODWIT_NOT_IN_SCHEMA, .untranslatablePredicate: GODWIT_UNTRANSLATABLE_PREDICATE,
    .readOnly: GODWIT_READ_ONLY, .notFound: GODWIT_NOT_FOUND, .validationFailed: GODWIT_VALIDATION_FAILED,
    .hooksTooDeep: GODWIT_HOOKS_TOO_DEEP, .invalidDocument: GODWIT_INVALID_DOCUMENT,

    .noReplica: GODWIT_NO_REPLICA, .replicaExists: GODWIT_REPLICA_EXISTS,
    .unsentTransactions: GODWIT_UNSENT_TRANSACTIONS, .damagedLog: GODWIT_DAMAGED_LOG,
    .needsMigration: GODWIT_NEEDS_MIGRATION, .needsApplication: GODWIT_NEEDS_APPLICATION,
    .migrationMismatch: GODWIT_MIGRATION_MISMATCH, .invalidMigration: GODWIT_INVALID_MIGRATION,
    .inLimbo: GODWIT_IN_LIMBO, .importConstraint: GODWIT_IMPORT_CONSTRAINT, .fenced: GODWIT_FENCED,

    .missingKeyring: GODWIT_MISSING_KEYRING, .noKeyFits: GODWIT_NO_KEY_FITS,
    .rolledBackKeyring: GODWIT_ROLLED_BACK_KEYRING, .damagedKeyring: GODWIT_DAMAGED_KEYRING,
    .invalidKey: GODWIT_INVALID_KEY, .unverifiedIdentity: GODWIT_UNVERIFIED_IDENTITY,

    .corruptFile: GODWIT_CORRUPT_FILE, .truncatedFile: GODWIT_TRUNCATED_FILE,
    .notARecipient: GODWIT_NOT_A_RECIPIENT, .invalidSignature: GODWIT_INVALID_SIGNATURE,
    .unknownSender: GODWIT_UNKNOWN_SENDER, .unknownBase: GODWIT_UNKNOWN_BASE, .otherGroup: GODWIT_OTHER_GROUP,
    .unsupportedVersion: GODWIT_UNSUPPORTED_VERSION, .limitExceeded: GODWIT_LIMIT_EXCEEDED,

    .unreachable: GODWIT_UNREACHABLE, .refused: GODWIT_REFUSED, .invalidArgument: GODWIT_INVALID_ARGUMENT,
  ]

  /// `GODWIT_FAILED` for a kind that has no number.
  static func number(of code: GodwitError.Code) -> Int32 { numbers[code] ?? GODWIT_FAILED }
}
