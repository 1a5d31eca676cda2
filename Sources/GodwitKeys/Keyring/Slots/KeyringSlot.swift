import Crypto
import GodwitBase
import GodwitCrypto

/// One way to the keyring's master key, as it stands in the file; ``FactorSlot`` reads those of type 3. Slots of types
/// unknown here are kept as they are.
struct KeyringSlot: Equatable, Sendable {
  static let machineKeyFile: UInt8 = 1
  static let masterKeyByteCount = 32
  private static let saltByteCount = 16
  private static let nonceByteCount = 12
  private static let tagByteCount = 16
  private static let info = Array("godwit keyring v1 machine slot".utf8)

  let type: UInt8
  let body: [UInt8]

  init(type: UInt8, body: [UInt8]) {
    self.type = type
    self.body = body
  }

  /// A slot that the machine key opens: salt, nonce, and the master key under ChaCha20-Poly1305 (RFC 8439).
  init(wrapping masterKey: SecretBytes, with machineKey: SecretBytes) throws {
    let salt = SecretBytes(random: Self.saltByteCount).withUnsafeBytes(Array.init)
    let nonce = try SecretBytes(random: Self.nonceByteCount).withUnsafeBytes { try ChaChaPoly.Nonce(data: $0) }
    let box = try masterKey.withUnsafeBytes {
      try ChaChaPoly.seal($0, using: Self.wrapKey(machineKey, salt: salt[...]), nonce: nonce)
    }
    self.init(type: Self.machineKeyFile, body: salt + box.combined)
  }

  /// The master key, or nil when this slot is of another type or does not open with the machine key.
  func masterKey(unlockedBy machineKey: SecretBytes) -> SecretBytes? {
    let size = Self.saltByteCount + Self.nonceByteCount + Self.masterKeyByteCount + Self.tagByteCount
    guard type == Self.machineKeyFile, body.count == size,
      let box = try? ChaChaPoly.SealedBox(combined: body[Self.saltByteCount...]),
      var plain = try? ChaChaPoly.open(
        box, using: Self.wrapKey(machineKey, salt: body[..<Self.saltByteCount]))
    else { return nil }
    defer { plain.wipe() }
    return SecretBytes(copying: plain)
  }

  /// HKDF-SHA-256 (RFC 5869).
  private static func wrapKey(_ machineKey: SecretBytes, salt: ArraySlice<UInt8>) -> SymmetricKey {
    machineKey.expanded(salt: salt, info: info)
  }
}
