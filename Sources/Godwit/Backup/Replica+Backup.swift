import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitStorage

extension Replica.Maintenance {
  /// Writes the whole replica, encrypted as it is here, to one file: the database as it is now, and the keyring. The
  /// file and one secret that opens the keyring, such as a recovery code, are all that
  /// ``Replica/restore(_:to:key:discardingUnsent:progress:)`` needs.
  ///
  /// Others continue to read and write meanwhile. The copy is read back and compared before the file appears, whole or
  /// not at all, open to this user alone; one that exists is replaced. Memory does not depend on the database's size.
  ///
  /// - Parameters:
  ///   - path: The file, outside of the replica's folder.
  ///   - progress: Called with how much is done.
  /// - Throws: `invalidArgument` for a file in the replica's folder, `unsafeFile` for another replica's file, and in a
  ///   folder to which others may write, where they could put links in the way; `busy` while the database is rekeyed;
  ///   `diskFull`, `fileAccess`; `damagedDatabase` when a page cannot be read.
  public func backup(to path: String, progress: ProgressHandler? = nil) async throws -> Replica.BackupReport {
    let folder = replica.folder
    return try await replica.pool.read { connection in
      try folder.requireOutside(path)
      try ParentFolders.check(of: path, besideOthers: true)
      // A power cut must not take back what the backup has, or its numbers would be used twice.
      _ = try Meta.all(on: connection)
      try Replica.synchronizeLog(of: folder.database)
      let keyring = try Keyring.bytes(at: folder.keys)
      // The key in these bytes is the one of this connection's file, as long as no other has taken its place.
      guard try keyring.contents.pendingDatabase == nil, !connection.hasMoved else {
        throw GodwitError(.busy, "the database is being rekeyed or restored", hint: "try again when that is done")
      }
      try Leftovers.remove(of: path)
      let file = try PendingFile(replacing: path)
      let key = keyring.contents.databaseKey
      try DatabaseCopy.run(from: connection, to: file.temporaryPath, key: key, hasLog: false) { progress?($0 / 2) }
      try DatabaseCopy.verify(file.temporaryPath, key: key, against: connection, SetCheck.register)
      try BackupFile.finish(file, keyring: keyring.bytes)
      try connection.checkCancellation()
      let bytes = try file.reopened().size()
      try folder.requireOutside(path)
      try file.commit()
      progress?(1)
      return Replica.BackupReport(bytes: bytes, slots: try Keyring.slots(in: keyring.bytes))
    }
  }
}

extension Replica {
  /// What a backup wrote.
  public struct BackupReport: Sendable {
    /// The file's size.
    public let bytes: Int
    /// What opens it: the slots of the keyring that is in it.
    public let slots: [SlotDescription]
  }
}
