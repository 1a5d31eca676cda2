import GodwitBase
import GodwitCrypto

/// A signed record: a member is called so from now on (Specs/membership.md, "Renaming").
package struct NameRecord: GroundedRecord {
  package let group: GroupID
  package let subject: ReplicaID
  /// At most 64 bytes of UTF-8, without control characters.
  package let name: String
  package let issuedAtMilliseconds: Int64
  package let issuer: ReplicaID
  package let ground: ContentHash?
  package let signature: [UInt8]

  /// Makes and signs a record. Throws `invalidArgument` for what cannot be a name.
  package static func issue(
    group: GroupID, subject: ReplicaID, name: String, at milliseconds: Int64, by issuer: Identity,
    ground: ContentHash? = nil
  ) throws -> NameRecord {
    try MemberName.check(name)
    func record(_ signature: [UInt8]) -> NameRecord {
      NameRecord(
        group: group, subject: subject, name: name, issuedAtMilliseconds: milliseconds, issuer: issuer.replica,
        ground: ground, signature: signature)
    }
    return record(try issuer.sign(record([]).signedBytes))
  }
}

extension NameRecord {
  private static let version: UInt8 = 2
  package static let domain = Array("godwit member name v1\0".utf8)

  /// Throws `unsupportedVersion`, `truncatedFile`, `corruptFile` or `limitExceeded`.
  package init(reading reader: inout ByteReader) throws {
    let version = try reader.byte()
    guard version == Self.version else {
      throw GodwitError(.unsupportedVersion, "the name record has version \(version)", hint: "update Godwit")
    }
    group = GroupID(try Identifier128(reading: &reader))
    subject = ReplicaID(try Identifier128(reading: &reader))
    name = try MemberName.read(&reader)
    issuedAtMilliseconds = try reader.bigEndian()
    issuer = ReplicaID(try Identifier128(reading: &reader))
    ground = try Self.readGround(&reader)
    signature = Array(try reader.raw(Self.signatureByteCount))
  }

  package func encodeFields(to writer: inout ByteWriter) {
    writer.byte(Self.version)
    group.value.write(to: &writer)
    subject.value.write(to: &writer)
    writer.string(name)
    writer.bigEndian(issuedAtMilliseconds)
    issuer.value.write(to: &writer)
    encodeGround(to: &writer)
  }
}
