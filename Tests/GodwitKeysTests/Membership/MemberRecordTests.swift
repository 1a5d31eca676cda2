import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Member record")
struct MemberRecordTests {
  private func issue(name: String = "laptop", by issuer: Identity) throws -> MemberRecord {
    try MemberRecord.issue(
      group: newGroup(), identity: newIdentity().publicIdentity, name: name, status: .active,
      at: 1_790_000_000_000, by: issuer)
  }

  private func encoded(_ record: MemberRecord) -> [UInt8] {
    var writer = ByteWriter()
    record.encode(to: &writer)
    return writer.bytes
  }

  @Test("a record reads back as written and is signed by its issuer only")
  func roundTrip() throws {
    let issuer = try newIdentity()
    let record = try issue(name: "Küche 🐦", by: issuer)
    var reader = ByteReader(encoded(record))
    let again = try MemberRecord(reading: &reader)
    #expect(reader.isAtEnd)
    #expect(again == record)
    #expect(again.isSigned(by: issuer.publicIdentity))
    #expect(try !again.isSigned(by: newIdentity().publicIdentity))
    let impostor = try Identity.generate(replica: issuer.replica)
    #expect(!again.isSigned(by: impostor.publicIdentity))
  }

  @Test("a record with any byte changed is refused or no longer signed")
  func everyByte() throws {
    let issuer = try newIdentity()
    let record = try issue(by: issuer)
    let bytes = encoded(record)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      var reader = ByteReader(changed)
      guard let other = try? MemberRecord(reading: &reader), reader.isAtEnd else { continue }
      #expect(!other.isSigned(by: issuer.publicIdentity), "byte \(index)")
    }
    for count in bytes.indices {
      var reader = ByteReader(bytes[..<count])
      #expect(code { _ = try MemberRecord(reading: &reader) } == .truncatedFile, "length \(count)")
    }
  }

  @Test("a founder's record of itself is signed by itself")
  func founder() throws {
    let founder = try newIdentity()
    let record = try MemberRecord.issue(
      group: newGroup(), identity: founder.publicIdentity, name: "", status: .removed, at: -1, by: founder)
    #expect(record.isSigned(by: record.identity))
    #expect(record.issuer == founder.replica)
    #expect(record.status == .removed)
  }

  @Test(
    "a name that is too long or would disturb a terminal is refused",
    arguments: [
      String(repeating: "x", count: 65), String(repeating: "é", count: 33), "a\nb", "a\u{1B}[2J", "\0", "\u{7F}",
      "\u{85}", "\u{2028}", "a\u{202E}b", "\u{2066}",
    ])
  func refusedNames(name: String) throws {
    let issuer = try newIdentity()
    #expect(code { _ = try issue(name: name, by: issuer) } == .invalidArgument)
    var bytes = encoded(try issue(name: "", by: issuer))
    bytes.replaceSubrange(98..<99, with: [UInt8(name.utf8.count)] + Array(name.utf8))
    var reader = ByteReader(bytes)
    let expected: GodwitError.Code = name.utf8.count > 64 ? .limitExceeded : .corruptFile
    #expect(code { _ = try MemberRecord(reading: &reader) } == expected)
  }

  @Test("names of up to 64 bytes are taken", arguments: ["", String(repeating: "x", count: 64), "Büro 2", "👩‍🌾"])
  func names(name: String) throws {
    let issuer = try newIdentity()
    #expect(try issue(name: name, by: issuer).isSigned(by: issuer.publicIdentity))
  }
}
