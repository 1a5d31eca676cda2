import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Post-quantum identities")
struct PostQuantumIdentityTests {
  @Test("the text, the public and the private form read back as written")
  func roundTrip() throws {
    let identity = try newIdentity(.hybrid)
    let shown = identity.publicIdentity
    #expect(shown.isPostQuantum && shown.ageRecipient.hasPrefix("age1pq1"))
    #expect(shown.binary.count == 1_265 && shown.byteCount == 1_265)
    #expect(try PublicIdentity(shown.description) == shown)
    #expect(shown.description.utf8.count < 2_100)
    var writer = ByteWriter()
    identity.encode(to: &writer)
    #expect(writer.count == 81 && writer.bytes[0] == 2)
    var reader = ByteReader(writer.bytes)
    #expect(try Identity(reading: &reader).publicIdentity == shown)
    #expect(try !newIdentity().publicIdentity.isPostQuantum)
  }

  @Test("the private keys of one kind are not those of the other")
  func kinds() throws {
    var writer = ByteWriter()
    try newIdentity().encode(to: &writer)
    let classical = writer.bytes
    var reader = ByteReader([2] + classical[1...])
    // 32 bytes are a seed as well as a scalar: they give another public identity.
    let other = try Identity(reading: &reader).publicIdentity
    var original = ByteReader(classical)
    #expect(try Identity(reading: &original).publicIdentity != other)
    #expect(other.isPostQuantum)
  }

  @Test("a cut or extended form, and an unsafe part of the key, are refused")
  func refused() throws {
    let binary = try newIdentity(.hybrid).publicIdentity.binary
    func parse(_ data: [UInt8]) -> GodwitError.Code? {
      let text = String(decoding: Bech32.encode(prefix: "godwit", data: data), as: UTF8.self)
      return code { _ = try PublicIdentity(text) }
    }
    #expect(parse(binary) == nil)
    #expect(parse(binary.dropLast()) == .invalidKey)
    #expect(parse(binary + [0]) == .invalidKey)
    #expect(parse([1] + binary[1...]) == .invalidKey)
    var weak = binary
    weak.replaceSubrange(17 + 1_184..<17 + 1_216, with: [UInt8](repeating: 0, count: 32))
    #expect(parse(weak) == .invalidKey)
    var outOfRange = binary
    outOfRange.replaceSubrange(17..<20, with: [0xFF, 0xFF, 0xFF])
    #expect(parse(outOfRange) == .invalidKey)
  }

  @Test("a keyring holds as many post-quantum members as others")
  func keyring() throws {
    let folder = try TemporaryFolder()
    let location = KeyringLocation(keyring: folder.path("keyring"), machineKey: folder.path("machine-key"))
    let identity = try newIdentity(.hybrid)
    let group = newGroup()
    let record = try MemberRecord.issue(
      group: group, identity: identity.publicIdentity, name: String(repeating: "n", count: 64), status: .active, at: 1,
      by: identity)
    let contents = KeyringContents(
      identity: identity, group: group, members: Array(repeating: record, count: 2_048))
    try Keyring.create(at: location, contents: contents)
    let opened = try Keyring.open(at: location)
    #expect(opened.identity.publicIdentity == identity.publicIdentity)
    #expect(opened.members.count == 2_048)
    #expect(opened.members.last == record && record.isSigned(by: identity.publicIdentity))
  }
}
