import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Post-quantum hybrid recipients")
struct AgeHybridTests {
  private func newHybrid() throws -> AgeIdentity { try AgeIdentity(.hybrid, secret: SecretBytes(random: 32)) }

  @Test("each of several hybrid recipients opens the file, and others do not")
  func roundTrip() throws {
    let identities = try (0..<3).map { _ in try newHybrid() }
    let plain = randomBytes(100_000)
    let sealed = try seal(plain, to: identities.map(\.recipient))
    for identity in identities { #expect(open(sealed, with: [identity]).plain == plain) }
    #expect(open(sealed, with: [try newHybrid()]).error?.code == .notARecipient)
    #expect(open(sealed, with: [try newAgeIdentity()]).error?.code == .notARecipient)
    #expect(open(sealed, with: [try newAgeIdentity(), identities[2]]).plain == plain)
  }

  @Test("recipient and identity read back as written, and say their kind")
  func texts() throws {
    let identity = try newHybrid()
    #expect(identity.recipient.text.hasPrefix("age1pq1"))
    #expect(identity.recipient.bytes.count == 1_216)
    #expect(try AgeRecipient(identity.recipient.text) == identity.recipient)
    let text = identity.exportSecretText()
    #expect(text.hasPrefix("AGE-SECRET-KEY-PQ-1"))
    #expect(try AgeIdentity(text).recipient == identity.recipient)
  }

  @Test("classical beside hybrid recipients are refused when sealing")
  func mixed() throws {
    let recipients = [try newHybrid().recipient, try newAgeIdentity().recipient]
    for recipients in [recipients, recipients.reversed()] {
      #expect(code { _ = try AgeSealer(recipients: recipients, to: MemorySink()) } == .invalidArgument)
    }
  }

  @Test("a hybrid key of another size, out of range or with an unsafe classical part is refused")
  func unsafeKeys() throws {
    let bytes = try newHybrid().recipient.bytes
    #expect(code { _ = try AgeRecipient(.hybrid, bytes: bytes.dropLast()) } == .invalidKey)
    #expect(code { _ = try AgeRecipient(.hybrid, bytes: bytes + [0]) } == .invalidKey)
    #expect(
      code { _ = try AgeRecipient(.hybrid, bytes: bytes.dropLast(32) + repeatElement(0, count: 32)) } == .invalidKey)
    #expect(code { _ = try AgeRecipient(.hybrid, bytes: [0xFF, 0xFF, 0xFF] + bytes.dropFirst(3)) } == .invalidKey)
    #expect(code { _ = try AgeIdentity(.hybrid, secret: SecretBytes(random: 31)) } == .invalidKey)
  }

  @Test("a share whose classical part is of small order makes the file malformed", arguments: AgeKeyTests.smallOrder)
  func smallOrderShare(hexadecimal: String) throws {
    let identity = try newHybrid()
    let small = try #require(Hexadecimal.decode(hexadecimal))
    let share = try HybridKey.seal(SecretBytes(random: 16), to: identity.recipient.bytes, info: []).share
    let stanza = AgeStanza(
      type: "mlkem768x25519", arguments: [String(decoding: Base64.encode(share.dropLast(32) + small), as: UTF8.self)],
      body: [UInt8](repeating: 0, count: 32))
    let header = AgeHeader(stanzas: [stanza], fileKey: .random())
    #expect(open(header.encoded + randomBytes(48), with: [identity]).error?.code == .corruptFile)
  }

  @Test("1,024 hybrid recipients fit a header")
  func manyStanzas() throws {
    let stanza = try HybridStanza.wrap(.random(), to: newHybrid().recipient)
    let header = AgeHeader(stanzas: [AgeStanza](repeating: stanza, count: 1_024), fileKey: .random())
    #expect(try AgeHeader(reading: LineSource(MemorySource(header.encoded))).stanzas.count == 1_024)
  }
}
