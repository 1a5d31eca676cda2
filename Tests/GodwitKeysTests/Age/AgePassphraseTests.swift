import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Passphrases")
struct AgePassphraseTests {
  private func sealed(_ passphrase: String, cost: Int = 10) throws -> [UInt8] {
    let sink = MemorySink()
    let sealer = try AgeSealer(passphrase: SecretBytes(copying: passphrase.utf8), cost: cost, to: sink)
    try sealer.write([1, 2, 3])
    try sealer.finish()
    return sink.bytes
  }

  private func opened(_ file: [UInt8], _ passphrases: String..., costMax: Int = Scrypt.costMax) throws -> [UInt8] {
    try AgeOpener(
      MemorySource(file), passphrases: passphrases.map { SecretBytes(copying: $0.utf8) }, costMax: costMax
    ).readToEnd(limit: 100)
  }

  @Test("a file opens with its passphrase, also among others, and with no other")
  func roundTrip() throws {
    let file = try sealed("correct horse")
    #expect(try opened(file, "correct horse") == [1, 2, 3])
    #expect(try opened(file, "wrong", "correct horse") == [1, 2, 3])
    #expect(code { _ = try opened(file, "wrong") } == .notARecipient)
    #expect(code { _ = try opened(file, "") } == .notARecipient)
    #expect(open(file, with: [try newAgeIdentity()]).error?.code == .notARecipient)
  }

  @Test("the key is that of RFC 7914")
  func vector() throws {
    // RFC 7914, section 12, third vector: N = 16384, r = 8, p = 1, of whose 64 bytes scrypt's last step gives the first
    // 32.
    let key = try Scrypt.key(
      SecretBytes(copying: "pleaseletmein".utf8), salt: Array("SodiumChloride".utf8), cost: 14)
    #expect(
      key.withUnsafeBytes { Hexadecimal.encode(Array($0)) }
        == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
  }

  @Test("a cost beyond the limit is refused at once, before it is allocated", arguments: [11, 20, 30, 62, 64, 1_000])
  func costBomb(cost: Int) throws {
    let stanza = AgeStanza(
      type: "scrypt", arguments: ["AAAAAAAAAAAAAAAAAAAAAA", "\(cost)"], body: randomBytes(32))
    let file = AgeHeader(stanzas: [stanza], fileKey: .random()).encoded + randomBytes(48)
    let duration = ContinuousClock().measure {
      #expect(code { _ = try opened(file, "x", costMax: 10) } == .limitExceeded)
    }
    #expect(duration < .seconds(1))
    #expect(
      code { _ = try AgeSealer(passphrase: SecretBytes(random: 8), cost: 21, to: MemorySink()) } == .limitExceeded)
    #expect(
      code { _ = try AgeSealer(passphrase: SecretBytes(random: 8), cost: 0, to: MemorySink()) } == .invalidArgument)
  }

  @Test(
    "a stanza that is not exactly a passphrase's is refused",
    arguments: ["0", "010", "+10", "-1", "0x0a", "10 ", "1e1", "１０", "", "10 10"])
  func malformedCost(cost: String) throws {
    let stanza = AgeStanza(type: "scrypt", arguments: ["AAAAAAAAAAAAAAAAAAAAAA", cost], body: randomBytes(32))
    #expect(throws: GodwitError.self) { try ScryptStanza(stanza) }
  }

  @Test("a cost that no number holds is beyond the limit")
  func overflow() throws {
    let stanza = AgeStanza(
      type: "scrypt", arguments: ["AAAAAAAAAAAAAAAAAAAAAA", "9223372036854775818"], body: randomBytes(32))
    #expect(
      code { _ = try ScryptStanza(stanza).unwrap(with: SecretBytes(random: 8), costMax: 20) } == .limitExceeded)
  }
}
