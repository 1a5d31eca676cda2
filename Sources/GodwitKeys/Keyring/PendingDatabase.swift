import GodwitBase
import GodwitCrypto

/// A database file that is being made to take the place of the present one, under a key of its own
/// (Specs/rekey.md, "Keys").
package struct PendingDatabase: Sendable {
  /// Its key.
  package let key: SecretBytes
  /// Its first 16 bytes, once it is whole. Before that it cannot have taken the place.
  package var salt: [UInt8]?

  package init(key: SecretBytes, salt: [UInt8]? = nil) {
    self.key = key
    self.salt = salt
  }
}

// Specs/keyring.md, "Body": entry 16.
extension KeyringContents {
  private static let pendingTag: UInt64 = 16
  private static let keyByteCount = 32
  private static let saltByteCount = 16

  /// The database that is about to take the present one's place.
  ///
  /// Reading throws `damagedKeyring` for an entry that is not of its form.
  package var pendingDatabase: PendingDatabase? {
    get throws {
      guard let entry = entries.first(where: { $0.tag == Self.pendingTag }) else { return nil }
      return try entry.bytes.withUnsafeBytes { bytes in
        guard bytes.count == Self.keyByteCount || bytes.count == Self.keyByteCount + Self.saltByteCount else {
          throw GodwitError(.damagedKeyring, "the keyring's pending database key is not of its form")
        }
        return PendingDatabase(
          key: SecretBytes(copying: bytes.prefix(Self.keyByteCount)),
          salt: bytes.count > Self.keyByteCount ? Array(bytes.dropFirst(Self.keyByteCount)) : nil)
      }
    }
  }

  package mutating func setPendingDatabase(_ pending: PendingDatabase?) {
    entries.removeAll { $0.tag == Self.pendingTag }
    guard let pending else { return }
    // All of the room at once, so that growing leaves no copy behind.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.keyByteCount + Self.saltByteCount)
    pending.key.withUnsafeBytes { bytes += $0 }
    bytes += pending.salt ?? []
    entries.append(KeyringEntry(tag: Self.pendingTag, bytes: SecretBytes(copying: bytes)))
    bytes.wipe()
  }

  /// What was pending is the database now.
  package mutating func takePendingDatabase() throws {
    guard let pending = try pendingDatabase else { return }
    databaseKey = pending.key
    databaseSalt = pending.salt
    setPendingDatabase(nil)
  }
}
