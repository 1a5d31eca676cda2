import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Public identity")
struct PublicIdentityTests {
  /// The torsion points of edwards25519 in every encoding that a lenient reader takes.
  static let smallOrder: [String] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  ]

  @Test("the text and the binary form read back as written")
  func roundTrip() throws {
    for _ in 0..<50 {
      let identity = try newIdentity().publicIdentity
      #expect(try PublicIdentity(identity.description) == identity)
      #expect(identity.description.hasPrefix("godwit1"))
      #expect(!identity.description.contains { $0.isWhitespace })
      var reader = ByteReader(identity.binary)
      #expect(try PublicIdentity(reading: &reader) == identity)
      #expect(reader.isAtEnd)
      #expect(identity.binary.count == 81 && identity.byteCount == 81)
      #expect(try AgeRecipient(identity.ageRecipient) == identity.recipient)
    }
  }

  @Test("a text with any character changed, dropped or added is refused")
  func mutations() throws {
    let text = Array(try newIdentity().publicIdentity.description)
    for index in text.indices {
      var changed = text
      changed[index] = text[index] == "q" ? "p" : "q"
      #expect(code { _ = try PublicIdentity(String(changed)) } == .invalidKey, "character \(index)")
      changed.remove(at: index)
      #expect(code { _ = try PublicIdentity(String(changed)) } == .invalidKey, "without character \(index)")
    }
    let whole = String(text)
    for other in ["", " \(whole)", "\(whole)\n", "\(whole)q", whole.uppercased(), "age" + whole] {
      #expect(code { _ = try PublicIdentity(other) } == .invalidKey)
    }
  }

  @Test("a text of another version, prefix or length is refused with what it is")
  func otherForms() throws {
    let binary = try newIdentity().publicIdentity.binary
    func parse(_ prefix: String, _ data: [UInt8]) -> GodwitError.Code? {
      let text = String(decoding: Bech32.encode(prefix: prefix, data: data), as: UTF8.self)
      return code { _ = try PublicIdentity(text) }
    }
    #expect(parse("godwit", binary) == nil)
    #expect(parse("godwit", [3] + binary[1...]) == .unsupportedVersion)
    #expect(parse("godwit", [2] + binary[1...]) == .invalidKey)
    #expect(parse("godwit", [0] + binary[1...]) == .unsupportedVersion)
    #expect(parse("age", binary) == .invalidKey)
    #expect(parse("godwit", binary + [0]) == .invalidKey)
    #expect(parse("godwit", binary.dropLast()) == .invalidKey)
    #expect(parse("godwit", []) == .invalidKey)
  }

  @Test("a verification key of small order is refused", arguments: smallOrder)
  func smallOrderVerificationKey(hexadecimal: String) throws {
    let key = try #require(Hexadecimal.decode(hexadecimal))
    let binary = try newIdentity().publicIdentity.binary
    let text = String(decoding: Bech32.encode(prefix: "godwit", data: binary[..<49] + key), as: UTF8.self)
    #expect(code { _ = try PublicIdentity(text) } == .invalidKey)
  }

  @Test("an agreement key of small order is refused", arguments: AgeKeyTests.smallOrder)
  func smallOrderAgreementKey(hexadecimal: String) throws {
    let key = try #require(Hexadecimal.decode(hexadecimal))
    let binary = try newIdentity().publicIdentity.binary
    let data = binary[..<17] + key + binary[49...]
    let text = String(decoding: Bech32.encode(prefix: "godwit", data: data), as: UTF8.self)
    #expect(code { _ = try PublicIdentity(text) } == .invalidKey)
  }

  @Test("the fingerprint is five groups of four digits and the same for the same identity")
  func fingerprint() throws {
    let identity = try newIdentity().publicIdentity
    let groups = identity.fingerprint.split(separator: "-")
    #expect(groups.count == 5)
    #expect(groups.allSatisfy { $0.count == 4 && $0.allSatisfy { "0123456789abcdef".contains($0) } })
    #expect(try PublicIdentity(identity.description).fingerprint == identity.fingerprint)
  }

  @Test("the fingerprint is read aloud as five words, and either form is known however it is typed")
  func words() throws {
    let identity = try newIdentity().publicIdentity
    let words = identity.fingerprintWords.split(separator: "-")
    #expect(words.count == 5 && words.allSatisfy { $0.count == 5 })
    for text in [identity.fingerprint, identity.fingerprintWords] {
      #expect(identity.hasFingerprint(text))
      #expect(identity.hasFingerprint(" \(text.uppercased().replacing("-", with: " "))\n"))
      #expect(!identity.hasFingerprint(String(text.dropLast())))
      #expect(!identity.hasFingerprint(text + "a"))
    }
    #expect(!identity.hasFingerprint("") && !identity.hasFingerprint("-"))
    #expect(try !newIdentity().publicIdentity.hasFingerprint(identity.fingerprint))
  }

  @Test("words are proquints of the fingerprint's bits")
  func proquints() {
    // SHA-256 of nothing: e3b0 c442 98fc 1c14 9afb.
    let fingerprint = Fingerprint(of: [])
    #expect(fingerprint.text == "e3b0-c442-98fc-1c14-9afb")
    #expect(fingerprint.words == "vavub-sidaf-nogus-dubih-norur")
  }
}
