import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Identity")
struct IdentityTests {
  @Test("the key and signature of RFC 8032, test 1, come out")
  func rfc8032() throws {
    func bytes(_ text: String) throws -> [UInt8] { try #require(Hexadecimal.decode(text)) }
    let seed = try bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    let identity = try Identity(
      replica: newIdentity().replica, signingSeed: SecretBytes(copying: seed), agreementKey: SecretBytes(random: 32))
    let key = try bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    #expect(identity.publicIdentity.verificationKey == key)
    let signature = try bytes(
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b")
    #expect(identity.publicIdentity.verifies(signature: signature, of: []))
    #expect(identity.publicIdentity.verifies(signature: try identity.sign([]), of: []))
  }

  @Test("a signature fits its message and its signer only")
  func signatures() throws {
    let identity = try newIdentity()
    let message = randomBytes(100)
    let signature = try identity.sign(message)
    #expect(signature.count == 64)
    #expect(identity.publicIdentity.verifies(signature: signature, of: message))
    #expect(!identity.publicIdentity.verifies(signature: signature, of: message + [0]))
    #expect(!identity.publicIdentity.verifies(signature: Array(signature.dropLast()), of: message))
    #expect(!identity.publicIdentity.verifies(signature: [], of: message))
    #expect(try !newIdentity().publicIdentity.verifies(signature: signature, of: message))
    for index in signature.indices {
      var changed = signature
      changed[index] ^= 1
      #expect(!identity.publicIdentity.verifies(signature: changed, of: message))
    }
  }

  @Test("private keys read back as written, and a cut or newer form is refused")
  func coding() throws {
    let identity = try newIdentity()
    var writer = ByteWriter()
    identity.encode(to: &writer)
    var reader = ByteReader(writer.bytes)
    let again = try Identity(reading: &reader)
    #expect(reader.isAtEnd)
    #expect(again.publicIdentity == identity.publicIdentity)
    #expect(again.ageIdentity.secret == identity.ageIdentity.secret)
    #expect(identity.publicIdentity.verifies(signature: try again.sign([1]), of: [1]))
    for count in 0..<writer.count {
      var cut = ByteReader(writer.bytes[..<count])
      #expect(code { _ = try Identity(reading: &cut) } == .truncatedFile)
    }
    var newer = ByteReader([3] + writer.bytes[1...])
    #expect(code { _ = try Identity(reading: &newer) } == .unsupportedVersion)
  }

  @Test("generated identities share no key")
  func distinct() throws {
    let identities = try (0..<50).map { _ in try newIdentity().publicIdentity }
    #expect(Set(identities.map(\.recipient)).count == 50)
    #expect(Set(identities.map(\.verificationKey)).count == 50)
    #expect(Set(identities.map(\.fingerprint)).count == 50)
  }
}
