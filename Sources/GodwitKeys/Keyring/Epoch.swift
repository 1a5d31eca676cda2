import GodwitBase
import GodwitCrypto

/// The key pair of an epoch, as the header of a sync file brings it (Specs/remotes.md, "Large groups").
package struct EpochKey: Sendable {
  package let identity: AgeIdentity
  /// When it was made. Milliseconds since 1970 UTC by its maker's clock.
  package let createdAt: Int64

  package init(identity: AgeIdentity, createdAt: Int64) {
    self.identity = identity
    self.createdAt = createdAt
  }

  /// A new one from the system's random number generator.
  package static func generate(_ kind: AgeKeyKind, at createdAt: Int64) throws -> EpochKey {
    EpochKey(identity: try AgeIdentity(kind, secret: SecretBytes(random: secretByteCount)), createdAt: createdAt)
  }

  package var recipient: AgeRecipient { identity.recipient }

  /// By which files are named: the first 16 digits of the SHA-256 of the public key.
  package var digits: String {
    String(recipient.bytes.withUnsafeBytes { ContentHash(of: $0) }.hexadecimal.prefix(16))
  }
}

/// An epoch that this replica knows.
package struct Epoch: Sendable {
  package let key: EpochKey
  /// A hash of the recipients that the file was sealed to which brought it.
  package let set: ContentHash
  /// Who sealed that file.
  package let maker: ReplicaID

  /// How long files are sealed to an epoch, and from how far ahead it may be. Milliseconds.
  package static let age: Int64 = 30 * 86_400_000
  package static let ahead: Int64 = 86_400_000

  package init(_ key: EpochKey, set: ContentHash, maker: ReplicaID) {
    self.key = key
    self.set = set
    self.maker = maker
  }

  /// Whether a file for these recipients may be sealed to it.
  package func isUsable(for set: ContentHash, at now: Int64) -> Bool {
    set == self.set && key.createdAt > now - Self.age && key.createdAt <= now + Self.ahead
  }

  /// The order in which one is preferred to another.
  package static func isBefore(_ left: Epoch, _ right: Epoch) -> Bool {
    if left.key.createdAt != right.key.createdAt { return left.key.createdAt < right.key.createdAt }
    if left.maker != right.maker { return left.maker < right.maker }
    return left.key.recipient.bytes.lexicographicallyPrecedes(right.key.recipient.bytes)
  }
}

// Specs/sync-file.md, "Fields": field 22.
extension EpochKey {
  private static let secretByteCount = 32
  static let byteCount = 1 + 8 + secretByteCount

  /// Writes the private key; only into what is sealed.
  package func encode(to writer: inout ByteWriter) {
    writer.byte(identity.recipient.kind.rawValue)
    writer.bigEndian(createdAt)
    identity.secret.withUnsafeBytes { writer.raw($0) }
  }

  /// Throws `corruptFile`, `truncatedFile`.
  package init(reading reader: inout ByteReader) throws {
    guard let kind = AgeKeyKind(rawValue: try reader.byte()) else {
      throw ByteReader.malformed("the kind of an epoch's key")
    }
    createdAt = try reader.bigEndian()
    identity = try AgeIdentity(kind, secret: SecretBytes(copying: reader.raw(Self.secretByteCount)))
  }
}

// Specs/keyring.md, "Body": entry 21.
extension KeyringContents {
  private static let epochsTag: UInt64 = 21
  private static let epochByteCount = EpochKey.byteCount + ContentHash.byteCount + 16
  /// So many are kept, and so many that one member has made.
  private static let epochCountMax = 64
  private static let epochCountOfMakerMax = 8

  /// The epochs that this replica knows, the latest first.
  ///
  /// Reading throws `damagedKeyring` for an entry that is not of its form.
  package var epochs: [Epoch] {
    get throws {
      try read(Self.epochsTag) { bytes in
        var copy = Array(bytes)
        defer { copy.wipe() }
        return try Self.epochs(copy)
      } ?? []
    }
  }

  private static func epochs(_ bytes: [UInt8]) throws -> [Epoch] {
    var reader = ByteReader(bytes)
    var epochs: [Epoch] = []
    while !reader.isAtEnd {
      let key = try EpochKey(reading: &reader)
      guard let set = ContentHash(bytes: try reader.raw(ContentHash.byteCount)) else {
        throw ByteReader.malformed("the recipients of an epoch")
      }
      epochs.append(Epoch(key, set: set, maker: ReplicaID(try Identifier128(reading: &reader))))
    }
    return epochs
  }

  /// Keeps an epoch, and drops the earliest of who has made most where there are more than are kept: what others date
  /// ahead takes no place of anybody's. One that is known stays as it is.
  package mutating func add(_ epoch: Epoch) throws {
    var epochs = try epochs
    guard !epochs.contains(where: { $0.key.recipient == epoch.key.recipient }) else { return }
    epochs.append(epoch)
    epochs.sort { Epoch.isBefore($1, $0) }
    var counts: [ReplicaID: Int] = [:]
    epochs.removeAll { epoch in
      counts[epoch.maker, default: 0] += 1
      return counts[epoch.maker, default: 0] > Self.epochCountOfMakerMax
    }
    while epochs.count > Self.epochCountMax {
      let most = Dictionary(grouping: epochs.indices) { epochs[$0].maker }.values.max {
        ($0.count, $0.last ?? 0) < ($1.count, $1.last ?? 0)
      }
      guard let earliest = most?.last else { break }
      epochs.remove(at: earliest)
    }
    let kept = epochs
    // All of the room at once, so that growing leaves no copy behind.
    var writer = ByteWriter(capacity: kept.count * Self.epochByteCount)
    for epoch in kept {
      epoch.key.encode(to: &writer)
      writer.raw(epoch.set.bytes)
      epoch.maker.value.write(to: &writer)
    }
    var bytes = writer.bytes
    writer = ByteWriter()
    setEntry(Self.epochsTag, bytes)
    bytes.wipe()
  }
}
