import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("age header")
struct AgeHeaderTests {
  private func read(_ text: String) -> GodwitError.Code? {
    code { _ = try AgeHeader(reading: LineSource(MemorySource(Array(text.utf8)))) }
  }

  private static let mac = "--- " + String(repeating: "A", count: 43) + "\n"

  @Test("stanzas of any type read back as written, whatever the body's size", arguments: [0, 1, 47, 48, 49, 96, 1_120])
  func roundTrip(count: Int) throws {
    let stanzas = [
      AgeStanza(type: "mlkem768x25519", arguments: ["one", "~!"], body: randomBytes(count)),
      AgeStanza(type: "x", arguments: [], body: []),
    ]
    let header = AgeHeader(stanzas: stanzas, fileKey: .random())
    let again = try AgeHeader(reading: LineSource(MemorySource(header.encoded)))
    #expect(again.stanzas == stanzas)
    #expect(again.encoded == header.encoded)
  }

  @Test("other versions and armor are distinguished from damage")
  func versions() {
    #expect(read("age-encryption.org/v2\n") == .unsupportedVersion)
    #expect(read("age-encryption.org/v10\n-> x\n\n" + Self.mac) == .unsupportedVersion)
    #expect(read("-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n") == .unsupportedVersion)
    #expect(read("age-encryption.org/v1\r\n") == .corruptFile)
    #expect(read("SQLite format 3") == .corruptFile)
    #expect(read("hello\n") == .corruptFile)
    #expect(read(String(repeating: "x", count: 100_000)) == .corruptFile)
    #expect(read("") == .truncatedFile)
    #expect(read("age-encr") == .truncatedFile)
  }

  @Test(
    "what is not exactly a header is refused",
    arguments: [
      mac, "->\n\n" + mac, "-> \n\n" + mac, "-> x \n\n" + mac, "->  x\n\n" + mac, "-> x\ty\n\n" + mac,
      "-> é\n\n" + mac, "-> x\n" + mac, "-> x\nA\n" + mac, "-> x\nAA==\n" + mac, "-> x\n\n\n" + mac,
      "-> x\n" + String(repeating: "A", count: 68) + "\n\n" + mac, "-> x\n\n---\n", "-> x\n\n--- AAAA\n",
      "-> x\n\n--- " + String(repeating: "A", count: 42) + "B\n", "-> x\n\n---" + mac, "x\n-> x\n\n" + mac,
    ])
  func malformed(rest: String) {
    #expect(read("age-encryption.org/v1\n" + rest) == .corruptFile)
  }

  @Test("a header beyond the limits is refused before it is read whole")
  func limits() {
    let stanzas = String(repeating: "-> x\n\n", count: 1_025)
    #expect(read("age-encryption.org/v1\n" + stanzas + Self.mac) == .limitExceeded)
    let body = String(repeating: String(repeating: "A", count: 64) + "\n", count: 40_000)
    #expect(read("age-encryption.org/v1\n-> x\n" + body) == .limitExceeded)
    #expect(read("age-encryption.org/v1\n-> " + String(repeating: "x", count: 3_000_000)) == .limitExceeded)
  }

  @Test("a stanza of an unknown type is passed over, a passphrase stanza beside others is refused")
  func otherStanzas() throws {
    let identity = try newAgeIdentity()
    let fileKey = AgeFileKey.random()
    func file(_ other: AgeStanza) throws -> [UInt8] {
      let stanzas = [other, try X25519Stanza.wrap(fileKey, to: identity.recipient)]
      let nonce = randomBytes(16)
      let cipher = AgeChunkCipher(key: fileKey.payloadKey(nonce: nonce))
      let chunk = try [7].withUnsafeBytes { try cipher.seal($0, number: 0, isFinal: true) }
      return AgeHeader(stanzas: stanzas, fileKey: fileKey).encoded + nonce + chunk
    }
    let greased = try file(AgeStanza(type: "grease", arguments: ["!"], body: randomBytes(100)))
    #expect(open(greased, with: [identity]).error == nil)
    let mixed = try file(AgeStanza(type: "scrypt", arguments: ["AAAAAAAAAAAAAAAAAAAAAA", "10"], body: randomBytes(32)))
    #expect(open(mixed, with: [identity]).error?.code == .corruptFile)
  }

  @Test("a header with 1,024 recipients stays within the limits")
  func manyStanzas() throws {
    let stanza = try X25519Stanza.wrap(.random(), to: newAgeIdentity().recipient)
    let header = AgeHeader(stanzas: [AgeStanza](repeating: stanza, count: 1_024), fileKey: .random())
    #expect(try AgeHeader(reading: LineSource(MemorySource(header.encoded))).stanzas.count == 1_024)
  }
}
