import Foundation
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitEngine
import GodwitStorage
import GodwitCache

extension Replica.Maintenance {
  /// Gives the database a new random key: copies it under that key beside the old file, compares both, and puts the
  /// copy in the old one's place. Whoever has the old key, or the keyring as it was, cannot open the database from then
  /// on. Who has opened the keyring and can read it later on as well finds the new key there, unless it has been given
  /// another master key before: ``ReplicaKeyring/rotateMasterKey()``.
  ///
  /// Reads continue meanwhile. Writes wait, and those of other processes are `busy` after five seconds. Programs that
  /// have the replica open continue with the new file by themselves. A process that is killed at any time leaves the
  /// old database or the new one, with its key; a failure or cancellation leaves the old one. Caches begin anew. Needs
  /// as much free space as the database takes, and memory that does not depend on it.
  ///
  /// Backups made before have the old key in them, and open as ever. To take a new master key too, see
  /// ``ReplicaKeyring/rotateMasterKey()``.
  ///
  /// - Parameter progress: Called with how much is done.
  /// - Throws: `readOnly`; `busy` when another process writes, rekeys or restores for longer than five seconds;
  ///   `diskFull`; `damagedDatabase` when a page cannot be read, or the copy does not hold what the database holds.
  public func rekey(progress: ProgressHandler? = nil) async throws {
    let folder = replica.folder
    let keys = replica.databaseKeys
    try await replica.withWriter { writer in
      let swap = DatabaseSwap(folder)
      let lock = try swap.lock()
      try withExtendedLifetime(lock) {
        // Nobody writes to the old file from here on until it has no name.
        try writer.connection.beginWriting()
        defer { writer.connection.rollBack() }
        try Self.rekey(swap, keys, cancelledWith: writer.connection, progress)
      }
    }
    replica.caches.discardAll()
    do {
      // Of all processes, and those that nobody has open.
      try await BlockingThread.run { try Cache.removeFiles(in: "\(folder.path)/cache") }
    } catch {
      replica.logger.warning(
        "caches of the former key stay", metadata: ["path": "\(replica.path)", "error": "\(error)"])
    }
    replica.logger.debug("rekeyed the database", metadata: ["path": "\(replica.path)"])
  }

  private static func rekey(
    _ swap: DatabaseSwap, _ keys: DatabaseKeys, cancelledWith writer: Connection, _ progress: ProgressHandler?
  ) throws {
    let key = SecretBytes(random: 32)
    do {
      try swap.begin(key: key)
      try DatabaseFile.create(swap.newFile)
      try copy(to: swap.newFile, key: key, keys, cancelledWith: writer, progress)
      try swap.commit(isOpenElsewhere: true)
      progress?(1)
    } catch {
      swap.abandon()
      throw error
    }
  }

  /// On a connection of its own, for one that writes cannot be copied from. It closes before the files are exchanged.
  private static func copy(
    to newFile: String, key: SecretBytes, _ keys: DatabaseKeys, cancelledWith writer: Connection,
    _ progress: ProgressHandler?
  ) throws {
    let source = try keys.connect(.reader)
    try source.reading {
      try DatabaseCopy.run(from: source, to: newFile, key: key, hasLog: true) { fraction in
        try writer.checkCancellation()
        progress?(fraction / 2)
      }
      try DatabaseCopy.verify(newFile, key: key, against: source, SetCheck.register)
      try writer.checkCancellation()
    }
  }
}
