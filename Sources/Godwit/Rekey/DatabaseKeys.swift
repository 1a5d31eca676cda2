import GodwitBase
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
    for _ in 1..<Self.attempts {
      do {
        return try Connection(path: folder.database, mode: mode, cancellation: cancellation, keyForSalt: key)
      } catch is UnfinishedSwap {
        let swap = DatabaseSwap(folder)
        let lock = try swap.lock()
        try withExtendedLifetime(lock) { try swap.settle() }
      }
    }
    return try Connection(path: folder.database, mode: mode, cancellation: cancellation, keyForSalt: key)
  }

  /// What encrypts the caches: it follows from the database's key as it is now.
  @Sendable func forCaches() throws -> SecretBytes {
    try key(for: DatabaseFile.salt(folder.database)).derived(for: "godwit cache 1")
  }

  private func key(for salt: [UInt8]?) throws -> SecretBytes {
    let remembered = known.withLock { $0.salt == salt ? $0.key : nil }
    if let remembered { return remembered }
    let contents = try Keyring.open(at: folder.keys)
    if try contents.pendingDatabase != nil, try !DatabaseSwap(folder).isUnderWay() { throw UnfinishedSwap() }
    known.withLock { $0 = Known(salt: salt, key: contents.databaseKey) }
    return contents.databaseKey
  }
}
