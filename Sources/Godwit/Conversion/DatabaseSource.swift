import GodwitFiles
import GodwitKeys
import GodwitStorage

/// Another program's database, from which a replica can be made. It is only read.
public struct DatabaseSource: Sendable {
  let path: String
  /// Nil for one without encryption.
  let secret: SlotSecret?

  /// A SQLite database without encryption.
  public static func plaintext(at path: String) -> DatabaseSource { DatabaseSource(path: path, secret: nil) }

  /// A database of SQLCipher 3 or 4 with that version's default settings.
  ///
  /// - Parameters:
  ///   - path: The database.
  ///   - secret: Its passphrase, such as `.passphrase(file:)`. A text of the form `x'…'` with 64 or 96 hexadecimal
  ///     digits is the key itself, as for SQLCipher.
  public static func sqlcipher(at path: String, openedBy secret: SlotSecret) -> DatabaseSource {
    DatabaseSource(path: path, secret: secret)
  }

  /// The same by its file's own path: what belongs to a database lies beside that, and not beside a link to it.
  func resolved() -> DatabaseSource { DatabaseSource(path: FilePath.resolved(path), secret: secret) }

  /// Whether a file begins as a SQLite database without encryption.
  ///
  /// - Throws: `fileAccess`; `notADatabase` for one that cannot be a database of either kind.
  public static func isPlaintext(_ path: String) throws -> Bool {
    if try PlaintextFile.isOne(path) { return true }
    _ = try SQLCipherSource.byteCount(of: .openPlainForReading(path))
    return false
  }
}
