import GodwitEngine
import GodwitStorage
import GodwitSyncFile

/// What this build of Godwit is, and which formats it reads and writes.
public enum GodwitVersion {
  /// The library and the command line, by [Semantic Versioning](https://semver.org).
  public static let current = "0.1.0-dev"
  /// The format of databases. One of another format is refused with `unsupportedVersion`.
  public static let databaseFormat = Int(SystemTables.formatVersion)
  /// The format of sync files.
  public static let syncFileFormat = SyncFileReader.formatVersion
  /// The SQLite in the SQLCipher library that this process has loaded, such as `3.15.2`.
  public static var sqlite: String { LibraryVersion.sqlite }
  /// The version of that SQLCipher library, such as `3.4.1`; nil when the library in use has no cipher, which opens
  /// nothing.
  public static var sqlcipher: String? { LibraryVersion.sqlcipher }
}
