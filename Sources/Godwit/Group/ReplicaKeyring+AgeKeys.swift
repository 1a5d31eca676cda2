import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitStorage

extension ReplicaKeyring {
  /// Writes the private keys of a replica's identity, those that it has replaced and those of epochs included,
  /// **without encryption**, in the form that the age program reads: so that files sealed to this replica can be opened
  /// in an emergency without Godwit (Specs/sync-file.md, "Without Godwit"). The replica need not be open.
  ///
  /// - Parameter file: The file, which must not exist; outside of the replica's folder. It is open to this user alone.
  /// - Throws: `invalidArgument` for a file that exists, or lies in the replica's folder; `missingKeyring`,
  ///   `noKeyFits`, `diskFull`, `fileAccess`.
  public func exportAgeKeys(to file: String) async throws -> Replica.AgeKeys {
    let folder = folder
    return try await BlockingThread.run {
      try folder.requireOutside(file)
      guard !PrivateFile.exists(file) else {
        throw GodwitError(
          .invalidArgument, "\(file) exists already", hint: "choose another name, or remove it first")
      }
      let contents = try Keyring.open(at: folder.keys)
      let keys = try contents.ageIdentities
      try Self.write(keys, epochs: contents.epochs.count, to: file)
      let own = contents.identity.publicIdentity
      return Replica.AgeKeys(ageRecipient: own.ageRecipient, keyCount: keys.count, isPostQuantum: own.isPostQuantum)
    }
  }

  /// - Parameter count: How many of the keys, the last, are of epochs.
  private static func write(_ keys: [AgeIdentity], epochs count: Int, to path: String) throws {
    let file = try PrivateFile.create(path)
    do {
      for (index, key) in keys.enumerated() {
        let kind = index == 0 ? "" : index < keys.count - count ? " that was replaced" : " of an epoch at remotes"
        let comment = "# public key\(kind): \(key.recipient)\n"
        var bytes = Array((comment + key.exportSecretText() + "\n").utf8)
        defer { bytes.wipe() }
        try bytes.withUnsafeBytes { try file.write($0) }
      }
      try file.synchronize()
      try PrivateFile.synchronizeFolder(FilePath.folder(of: path))
    } catch {
      unlink(path)
      throw error
    }
  }
}

extension Replica {
  /// What private keys were written.
  public struct AgeKeys: Sendable {
    /// What the age program calls the present key: `age1…`, or `age1pq1…`.
    public let ageRecipient: String
    /// How many keys: the present one, those that were replaced, and those of epochs at remotes.
    public let keyCount: Int
    /// Whether they are hybrid keys, which age reads from version 1.3 on.
    public let isPostQuantum: Bool
  }
}
