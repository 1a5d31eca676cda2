import Crypto
import GodwitBase
import GodwitCrypto

/// Proves to a slot that whoever gave it the master key had opened the keyring (Specs/keyring.md, section "Slots").
///
/// It follows from the slot's secrets. The body keeps it, so that the slot can be given a new master key without them.
struct SlotToken: Sendable {
  static let byteCount = 32
  static let slotIDByteCount = 16
  private static let info = Array("godwit keyring v2 slot token".utf8)

  /// Which slot it belongs to.
  let slotID: [UInt8]
  let secret: SecretBytes

  init(slotID: [UInt8], secret: SecretBytes) {
    self.slotID = slotID
    self.secret = secret
  }

  /// - Parameters:
  ///   - seed: What the slot's secrets give.
  ///   - publicKey: The slot's, of the key pair that the same seed gives.
  init(seed: SecretBytes, publicKey: [UInt8]) {
    slotID = Self.slotID(publicKey)
    secret = seed.expanded(salt: [UInt8](), info: Self.info).secretBytes
  }

  static func slotID(_ publicKey: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: publicKey).prefix(slotIDByteCount))
  }
}

// Specs/keyring.md, "Body": entry 22.
extension KeyringContents {
  private static let slotTokensTag: UInt64 = 22

  /// The tokens of the slots.
  ///
  /// Reading throws `damagedKeyring` for an entry that is not of its form.
  var slotTokens: [SlotToken] {
    get throws {
      try read(Self.slotTokensTag) { bytes in
        let size = SlotToken.slotIDByteCount + SlotToken.byteCount
        guard bytes.count.isMultiple(of: size) else { throw ByteReader.malformed("a slot's token is cut") }
        return stride(from: 0, to: bytes.count, by: size).map { start in
          let secret = start + SlotToken.slotIDByteCount
          return SlotToken(
            slotID: Array(bytes[start..<secret]),
            secret: SecretBytes(copying: bytes[secret..<(start + size)]))
        }
      } ?? []
    }
  }

  mutating func setSlotTokens(_ tokens: [SlotToken]) {
    // All of the room at once, so that growing leaves no copy behind.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(tokens.count * (SlotToken.slotIDByteCount + SlotToken.byteCount))
    for token in tokens {
      bytes += token.slotID
      token.secret.withUnsafeBytes { bytes += $0 }
    }
    setEntry(Self.slotTokensTag, tokens.isEmpty ? nil : bytes)
    bytes.wipe()
  }
}
