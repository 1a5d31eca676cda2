import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Secret bytes")
struct SecretBytesTests {
  @Test("every size keeps what it was given", arguments: [0, 1, 7, 8, 9, 16, 32, 33])
  func copies(count: Int) {
    let bytes = [UInt8]((0..<count).map { UInt8($0) })
    let secret = SecretBytes(copying: bytes)
    #expect(secret.count == count)
    #expect(secret.withUnsafeBytes(Array.init) == bytes)
    #expect(SecretBytes(random: count).count == count)
  }

  @Test("random secrets differ, down to the last byte")
  func random() {
    let secrets = (0..<64).map { _ in randomBytes(33) }
    #expect(Set(secrets).count == 64)
    #expect(Set(secrets.map { $0[32] }).count > 1)
    #expect(Set(secrets.map { $0[0] }).count > 1)
  }

  @Test("secrets are equal when size and bytes are")
  func equality() {
    let bytes = randomBytes(32)
    #expect(SecretBytes(copying: bytes) == SecretBytes(copying: bytes))
    #expect(SecretBytes(copying: bytes) != SecretBytes(copying: bytes.dropLast()))
    for index in 0..<32 {
      var other = bytes
      other[index] ^= 0x80
      #expect(SecretBytes(copying: bytes) != SecretBytes(copying: other))
    }
  }

  @Test("no description or dump shows the bytes")
  func redacted() throws {
    let secret = SecretBytes(copying: [UInt8](repeating: 173, count: 32))
    let identity = try Identity(replica: newIdentity().replica, signingSeed: secret, agreementKey: secret)
    var text = "\(secret) \(String(reflecting: secret)) \(identity)"
    dump(identity, to: &text)
    dump(secret, to: &text)
    #expect(text.contains("<32 secret bytes>"))
    #expect(!text.contains("173, 173"))
    #expect(!text.contains("- 173"))
    #expect(!text.contains("adadad"))
  }
}
