import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitStorage
import Synchronization

/// Opens a replica's database with the key it has now. Rekeying, here or in another process, replaces both, and a
/// database is known by its first bytes; so the keyring is read again only when these are others.
final class DatabaseKeys: Sendable {
  private let folder: ReplicaFolder

  private struct Known {
    var salt: [UInt8]?
    var key: SecretBytes
    /// The file that was the database last; nil before the first was opened.
    var file: SharedFile.Key?
  }
  private let known: Mutex<Known>

  private struct UnfinishedSwap: Error {}
  private static let attempts = 3

  init(_ folder: ReplicaFolder, _ contents: KeyringContents) {
    self.folder = folder
    known = Mutex(Known(salt: contents.databaseSalt, key: contents.databaseKey))
  }

  /// A connection to the file that is the database. What a killed exchange of files left is finished or undone first.
  func connect(
    _ mode: Connection.Mode, _ cancellation: CancellationFlag = CancellationFlag()
  ) throws -> Connection {
    do {
      return try open(mode, cancellation)
    } catch let error as GodwitError where error.code == .fileAccess && known.withLock({ $0.file != nil }) {
      // A reader that opens late must say what those say that are open.
      throw PrivateFile.exists(folder.database) ? error : Connection.removed(folder.database)
    }
  }

  private func open(_ mode: Connection.Mode, _ cancellation: CancellationFlag) throws -> Connection {
    try settling { try Connection(path: folder.database, mode: mode, cancellation: cancellation, keyForFile: key) }
  }

  /// Finishes or undoes first what a killed exchange of files left.
  private func settling<Output>(_ body: () throws -> Output) throws -> Output {
    for _ in 1..<Self.attempts {
      do {
        return try body()
      } catch is UnfinishedSwap {
        let swap = DatabaseSwap(folder)
        let lock = try swap.lock()
        try withExtendedLifetime(lock) { try swap.settle() }
      }
    }
    return try body()
  }

  /// Remembers the salt that a new database has taken with its first page, here and in the keyring: by it a wrong key
  /// and a damaged file are distinguished, and a copy that takes the database's place from a file of Godwit's own.
  ///
  /// - Parameter contents: What the keyring held when the replica was opened.
  func rememberSalt(unlessIn contents: KeyringContents) throws {
    guard contents.databaseSalt == nil, let salt = try DatabaseFile.salt(folder.database) else { return }
    try Keyring.update(at: folder.keys) { $0.databaseSalt = salt }
    known.withLock { $0.salt = salt }
  }

  /// What encrypts the caches: it follows from the database's key as it is now.
  @Sendable func forCaches() throws -> SecretBytes {
    try settling { try key(for: DatabaseFile.open(folder.database)) }.derived(for: "godwit cache 1")
  }

  /// Throws `unsafeFile` for a file that took the database's place by another way than Godwit's own, which gives each
  /// file a salt of its own and notes it in the keyring.
  private func key(for file: DatabaseFile) throws -> SecretBytes {
    let salt = file.salt
    let last = known.withLock { $0 }
    let isExchanged = last.file != nil && last.file != file.key
    if !isExchanged, last.salt == salt {
      known.withLock { $0.file = file.key }
      return last.key
    }
    let contents = try Keyring.open(at: folder.keys)
    let pending = try contents.pendingDatabase
    if pending != nil, try !DatabaseSwap(folder).isUnderWay() { throw UnfinishedSwap() }
    // Whoever has the gate meets no file that the keyring does not know yet; the caches have not.
    let isPending = salt != nil && salt == pending?.salt
    guard !isExchanged || isPending || salt != nil && salt != last.salt && salt == contents.databaseSalt else {
      throw GodwitError(
        .unsafeFile, "another file was put in the place of \(folder.database) while the replica is open",
        hint: "put the database back, or close the replica and open it again: it continues with what lies there then")
    }
    let key = isPending ? pending?.key ?? contents.databaseKey : contents.databaseKey
    known.withLock { $0 = Known(salt: salt, key: key, file: file.key) }
    return key
  }
}
