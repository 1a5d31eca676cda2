import Crypto
import GodwitBase
import GodwitCrypto

/// A slot that one secret opens, or two together (Specs/keyring.md, section "Slots", type 3).
///
/// The secrets give the seed of a hybrid key pair, and the master key is sealed to its public key. So a new master key
/// can be given to a slot whose secrets are not at hand, and nobody who opens one slot learns another's secrets. The
/// seal takes in the slot's token, so that only who has opened the keyring gives it one.
struct FactorSlot: Sendable {
  static let type: UInt8 = 3
  static let factorCountMax = 2
  private static let info = Array("godwit keyring v2 slot".utf8)
  private static let seedInfo = Array("godwit keyring v1 slot seed".utf8)

  let label: String
  /// When it was added, in milliseconds since 1970 UTC.
  let addedAtMilliseconds: Int64
  let factors: [SlotFactor]
  private let publicKey: [UInt8]
  private let share: [UInt8]
  private let sealedKey: [UInt8]

  /// A new slot, and the token that the body is to keep; each factor comes with its secret.
  static func new(
    wrapping masterKey: SecretBytes, label: String, addedAt milliseconds: Int64,
    factors: [(factor: SlotFactor, secret: SecretBytes)]
  ) throws -> (slot: FactorSlot, token: SlotToken) {
    let seed = try seed(factors.map { try $0.factor.key($0.secret) })
    let publicKey = try HybridKey(seed: seed).publicKey
    let token = SlotToken(seed: seed, publicKey: publicKey)
    let slot = try FactorSlot(
      wrapping: masterKey, label: label, addedAt: milliseconds, factors: factors.map(\.factor),
      publicKey: publicKey, token)
    return (slot, token)
  }

  private init(
    wrapping masterKey: SecretBytes, label: String, addedAt milliseconds: Int64, factors: [SlotFactor],
    publicKey: [UInt8], _ token: SlotToken
  ) throws {
    self.label = label
    addedAtMilliseconds = milliseconds
    self.factors = factors
    self.publicKey = publicKey
    (share, sealedKey) = try HybridKey.seal(
      masterKey, to: publicKey, info: Self.info(token),
      authenticating: Self.statement(label, milliseconds, factors, publicKey))
  }

  /// Which of the body's tokens is this slot's.
  var id: [UInt8] { SlotToken.slotID(publicKey) }

  /// The same slot for another master key. The caller has opened the keyring, by this slot or one of its user's others,
  /// which authenticates the public key.
  func rewrapped(_ masterKey: SecretBytes, _ token: SlotToken) throws -> FactorSlot {
    try FactorSlot(
      wrapping: masterKey, label: label, addedAt: addedAtMilliseconds, factors: factors, publicKey: publicKey, token)
  }

  /// The master key, or nil when the keys of the factors are others, it was sealed by who did not know the token, or
  /// the slot names a public key that is not its own, to which the next master key would be sealed.
  func masterKey(unlockedBy factorKeys: [SecretBytes]) throws -> SecretBytes? {
    let seed = try Self.seed(factorKeys)
    let key = try HybridKey(seed: seed)
    guard key.publicKey == publicKey else { return nil }
    return try? key.open(
      share: share, body: sealedKey, info: Self.info(SlotToken(seed: seed, publicKey: publicKey)),
      authenticating: Self.statement(label, addedAtMilliseconds, factors, publicKey))
  }

  private static func info(_ token: SlotToken) -> [UInt8] { token.secret.withUnsafeBytes { info + $0 } }

  private static func seed(_ factorKeys: [SecretBytes]) throws -> SecretBytes {
    var joined: [UInt8] = []
    joined.reserveCapacity(factorKeys.reduce(0) { $0 + $1.count })
    defer { joined.wipe() }
    for key in factorKeys { key.withUnsafeBytes { joined += $0 } }
    return SecretBytes(copying: joined).expanded(salt: [UInt8](), info: seedInfo).secretBytes
  }
}

extension FactorSlot {
  private static let sealedKeyByteCount = KeyringSlot.masterKeyByteCount + AgeChunkCipher.tagByteCount

  /// The slot as it stands in the file.
  var slot: KeyringSlot {
    KeyringSlot(
      type: Self.type, body: Self.statement(label, addedAtMilliseconds, factors, publicKey) + share + sealedKey)
  }

  /// Nil for a slot of another type, or with a kind of factor that is not known here.
  ///
  /// Throws the errors of ``ByteReader`` for a malformed one.
  init?(_ slot: KeyringSlot) throws {
    guard slot.type == Self.type else { return nil }
    var reader = ByteReader(slot.body)
    label = try reader.string(limit: MemberName.byteCountMax)
    guard MemberName.isAcceptable(label) else { throw ByteReader.malformed("a slot's label has control characters") }
    addedAtMilliseconds = try reader.bigEndian()
    var factors: [SlotFactor?] = []
    for _ in 0..<(try reader.byte()) { factors.append(try SlotFactor(reading: &reader)) }
    publicKey = Array(try reader.raw(HybridKey.publicKeyByteCount))
    share = Array(try reader.raw(HybridKey.shareByteCount))
    sealedKey = Array(try reader.raw(Self.sealedKeyByteCount))
    try reader.expectEnd()
    self.factors = factors.compactMap(\.self)
    guard self.factors.count == factors.count, (1...Self.factorCountMax).contains(factors.count) else { return nil }
  }

  /// Everything before the sealed key, which is bound to it.
  private static func statement(
    _ label: String, _ milliseconds: Int64, _ factors: [SlotFactor], _ publicKey: [UInt8]
  ) -> [UInt8] {
    var writer = ByteWriter(capacity: publicKey.count + 128)
    writer.string(label)
    writer.bigEndian(milliseconds)
    writer.byte(UInt8(factors.count))
    for factor in factors { factor.encode(to: &writer) }
    writer.raw(publicKey)
    return writer.bytes
  }
}
