import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Name record")
struct NameRecordTests {
  private let issuer: Identity
  private let record: NameRecord
  private let bytes: [UInt8]

  init() throws {
    issuer = try newIdentity()
    record = try NameRecord.issue(
      group: newGroup(), subject: newIdentity().replica, name: "Küche 🐦", at: 1_790_000_000_000, by: issuer)
    var writer = ByteWriter()
    record.encode(to: &writer)
    bytes = writer.bytes
  }

  @Test("a record reads back as written and is signed by its issuer only")
  func roundTrip() throws {
    var reader = ByteReader(bytes)
    let again = try NameRecord(reading: &reader)
    #expect(reader.isAtEnd && again == record)
    #expect(again.isSigned(by: issuer.publicIdentity))
    #expect(try !again.isSigned(by: Identity.generate(replica: issuer.replica).publicIdentity))
  }

  @Test("a record with any byte changed is refused or no longer signed, and one that is cut is truncated")
  func everyByte() {
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      var reader = ByteReader(changed)
      guard let other = try? NameRecord(reading: &reader), reader.isAtEnd else { continue }
      #expect(!other.isSigned(by: issuer.publicIdentity), "byte \(index)")
    }
    for count in bytes.indices {
      var reader = ByteReader(bytes[..<count])
      #expect(code { _ = try NameRecord(reading: &reader) } == .truncatedFile, "length \(count)")
    }
  }

  @Test("is not taken for a member record, nor the other way round")
  func domains() throws {
    let member = try MemberRecord.issue(
      group: record.group, identity: issuer.publicIdentity, name: "x", status: .active, at: 1, by: issuer)
    #expect(!issuer.publicIdentity.verifies(signature: member.signature, of: record.signedBytes))
    #expect(!issuer.publicIdentity.verifies(signature: record.signature, of: member.signedBytes))
  }

  @Test(
    "a name that would disturb a terminal is refused",
    arguments: ["a\nb", "a\u{202E}b", String(repeating: "x", count: 65)])
  func refused(name: String) throws {
    #expect(
      code { _ = try NameRecord.issue(group: record.group, subject: record.subject, name: name, at: 1, by: issuer) }
        == .invalidArgument)
  }

  @Test("a list of them has one form: rising, none twice, not empty, nothing behind")
  func lists() throws {
    let others = try (0..<3).map { _ in
      try NameRecord.issue(group: record.group, subject: newIdentity().replica, name: "n", at: 1, by: issuer)
    }
    let written = RosterRecords.encode(others)
    #expect(try RosterRecords.names(written) == others.sorted { $0.subject < $1.subject })
    #expect(RosterRecords.encode(others.reversed()) == written)
    #expect(code { _ = try RosterRecords.names(written + [0]) } == .corruptFile)
    #expect(code { _ = try RosterRecords.names([0]) } == .corruptFile)
    #expect(code { _ = try RosterRecords.names(written.dropLast()) } == .truncatedFile)
    #expect(code { _ = try RosterRecords.names(RosterRecords.encode([others[0], others[0]])) } == .corruptFile)
    #expect(code { _ = try RosterRecords.names([0x81, 0x08]) } == .limitExceeded)
  }
}
