import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("What an age file shows without a key")
struct AgeEnvelopeTests {
  @Test("its stanzas and the header's size, armored or not")
  func outline() throws {
    let recipients = try (0..<3).map { _ in try newAgeIdentity().recipient }
    let sealed = try seal(randomBytes(10), to: recipients)
    let envelope = try AgeEnvelope(MemorySource(sealed))
    #expect(envelope.stanzaTypes == ["X25519", "X25519", "X25519"])
    #expect(!envelope.isArmored)
    #expect(envelope.headerByteCount == sealed.count - 10 - 16 - 16)
    try envelope.requireOnly(.x25519)
    #expect(code { try envelope.requireOnly(.hybrid) } == .corruptFile)

    let recipient = try AgeIdentity(.hybrid, secret: SecretBytes(random: 32)).recipient
    let hybrid = try AgeEnvelope(MemorySource(seal([], to: [recipient])))
    #expect(hybrid.stanzaTypes == ["mlkem768x25519"])
  }

  @Test("a stanza of another kind beside those of one kind is refused")
  func mixed() throws {
    let classical = try newAgeIdentity()
    let hybrid = try AgeIdentity(.hybrid, secret: SecretBytes(random: 32))
    let sealed = try sealMixed([1, 2, 3], to: [hybrid.recipient, classical.recipient])
    #expect(open(sealed, with: [hybrid]).plain == [1, 2, 3])
    let envelope = try AgeEnvelope(MemorySource(sealed))
    for kind in [AgeKeyKind.hybrid, .x25519] { #expect(code { try envelope.requireOnly(kind) } == .corruptFile) }
  }

  @Test("stanzas of noise are tried with a few of many keys")
  func noise() throws {
    let identities = try (0..<33).map { _ in try newAgeIdentity() }
    func tried(_ count: Int) throws -> Int {
      let stanzas = (0..<count).map { _ in
        let share = String(decoding: Base64.encode(randomBytes(32)), as: UTF8.self)
        return AgeStanza(type: X25519Stanza.type, arguments: [share], body: randomBytes(32))
      }
      let header = AgeHeader(stanzas: stanzas, fileKey: .random())
      return try AgeEnvelope(MemorySource(header.encoded)).worthTrying(identities).count
    }
    #expect(try tried(1_024) == 8)
    #expect(try tried(248) == 33)
  }

  @Test("a file for keys of another kind says so")
  func otherKind() throws {
    let sealed = try seal([], to: [newAgeIdentity().recipient])
    let error = open(sealed, with: [try AgeIdentity(.hybrid, secret: SecretBytes(random: 32))]).error
    #expect(error?.code == .notARecipient)
    #expect(error?.message.contains("another kind") == true)
  }
}

/// Seals to keys of both kinds, which ``AgeSealer`` refuses.
func sealMixed(_ plain: [UInt8], to recipients: [AgeRecipient]) throws -> [UInt8] {
  let fileKey = AgeFileKey.random()
  let stanzas = try recipients.map { recipient in
    switch recipient.kind {
    case .x25519: try X25519Stanza.wrap(fileKey, to: recipient)
    case .hybrid: try HybridStanza.wrap(fileKey, to: recipient)
    }
  }
  let sink = MemorySink()
  let sealer = try AgeSealer(fileKey, stanzas, to: sink)
  try sealer.write(plain)
  try sealer.finish()
  return sink.bytes
}
