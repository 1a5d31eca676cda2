import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("age keys")
struct AgeKeyTests {
  /// u-coordinates of small order, canonical and not, as RFC 7748 implementations name them.
  static let smallOrder: [String] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  ]

  @Test("a recipient and an identity read back as written")
  func roundTrip() throws {
    let identity = try newAgeIdentity()
    #expect(try AgeRecipient(identity.recipient.text) == identity.recipient)
    #expect(identity.recipient.text.hasPrefix("age1"))
    let again = try AgeIdentity(identity.exportSecretText())
    #expect(again.secret == identity.secret)
    #expect(again.recipient == identity.recipient)
  }

  @Test("a recipient of small order is refused", arguments: smallOrder)
  func smallOrderRecipient(hexadecimal: String) throws {
    let bytes = try #require(Hexadecimal.decode(hexadecimal))
    #expect(code { _ = try AgeRecipient(bytes: bytes) } == .invalidKey)
  }

  @Test("a share of small order makes the file malformed", arguments: smallOrder)
  func smallOrderShare(hexadecimal: String) throws {
    let share = try #require(Hexadecimal.decode(hexadecimal))
    let identity = try newAgeIdentity()
    let stanza = AgeStanza(
      type: "X25519", arguments: [String(decoding: Base64.encode(share), as: UTF8.self)],
      body: [UInt8](repeating: 0, count: 32))
    let header = AgeHeader(stanzas: [stanza], fileKey: .random())
    #expect(open(header.encoded + randomBytes(48), with: [identity]).error?.code == .corruptFile)
  }

  @Test("a recipient of another size is refused", arguments: [0, 31, 33])
  func otherSizes(count: Int) {
    #expect(code { _ = try AgeRecipient(bytes: randomBytes(count)) } == .invalidKey)
    #expect(code { _ = try AgeIdentity(secret: SecretBytes(random: count)) } == .invalidKey)
  }

  @Test("a recipient is no identity, nor the other way round, and case is kept")
  func mixedUp() throws {
    let identity = try newAgeIdentity()
    let recipientText = identity.recipient.text
    let identityText = identity.exportSecretText()
    #expect(code { _ = try AgeIdentity(recipientText) } == .invalidKey)
    #expect(code { _ = try AgeRecipient(identityText) } == .invalidKey)
    #expect(code { _ = try AgeRecipient(recipientText.uppercased()) } == .invalidKey)
    #expect(code { _ = try AgeIdentity(identityText.lowercased()) } == .invalidKey)
  }
}
