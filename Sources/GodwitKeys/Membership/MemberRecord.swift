import GodwitBase
import GodwitCrypto

/// A signed record: this identity is, or is no longer, a member of the group.
package struct MemberRecord: GroundedRecord {
  package enum Status: UInt8, Hashable, Sendable {
    case active = 1
    case removed = 2

    /// Throws `truncatedFile` or `corruptFile`.
    package init(reading reader: inout ByteReader) throws {
      guard let status = Status(rawValue: try reader.byte()) else {
        throw ByteReader.malformed("a member's status is unknown")
      }
      self = status
    }
  }

  package let group: GroupID
  package let identity: PublicIdentity
  /// What people call the member: at most 64 bytes of UTF-8, without control characters.
  package let name: String
  package let status: Status
  /// When the issuer says it was issued, in milliseconds since 1970 UTC.
  package let issuedAtMilliseconds: Int64
  package let issuer: ReplicaID
  package let ground: ContentHash?
  /// Of a removal: the hashes of the records by the removed member that stay, rising. All its others count nowhere.
  package let staying: [ContentHash]
  package let signature: [UInt8]

  /// What one removal can name.
  package static let stayingCountMax = 1_024

  /// Makes and signs a record.
  ///
  /// - Parameters:
  ///   - ground: By which record the issuer is a member; nil for the founder.
  ///   - staying: Of a removal the hashes of the removed member's records that stay, of which there may be 1,024.
  /// - Throws: `invalidArgument` for a name that is too long or has control characters; `limitExceeded`.
  package static func issue(
    group: GroupID, identity: PublicIdentity, name: String, status: Status, at milliseconds: Int64,
    by issuer: Identity, ground: ContentHash? = nil, staying: Set<ContentHash> = []
  ) throws -> MemberRecord {
    try MemberName.check(name)
    guard staying.count <= stayingCountMax, status == .removed || staying.isEmpty else {
      throw GodwitError(.limitExceeded, "a removal can name \(stayingCountMax) records that stay, an addition none")
    }
    let rising = staying.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    func record(_ signature: [UInt8]) -> MemberRecord {
      MemberRecord(
        group: group, identity: identity, name: name, status: status, issuedAtMilliseconds: milliseconds,
        issuer: issuer.replica, ground: ground, staying: rising, signature: signature)
    }
    return record(try issuer.sign(record([]).signedBytes))
  }

  package var subject: ReplicaID { identity.replica }
}

// Specs/keyring.md, section "Member record".
extension MemberRecord {
  private static let version: UInt8 = 2
  package static let domain = Array("godwit member v1\0".utf8)

  /// Throws `unsupportedVersion`, `truncatedFile`, `corruptFile`, `limitExceeded`, or `invalidKey` for unsafe keys.
  package init(reading reader: inout ByteReader) throws {
    let version = try reader.byte()
    guard version == Self.version else {
      throw GodwitError(
        .unsupportedVersion, "the member record has version \(version)", hint: "update Godwit")
    }
    group = GroupID(try Identifier128(reading: &reader))
    identity = try PublicIdentity(reading: &reader)
    name = try MemberName.read(&reader)
    status = try Status(reading: &reader)
    issuedAtMilliseconds = try reader.bigEndian()
    issuer = ReplicaID(try Identifier128(reading: &reader))
    ground = try Self.readGround(&reader)
    staying = status == .removed ? try Self.readStaying(&reader) : []
    signature = Array(try reader.raw(Self.signatureByteCount))
  }

  package func encodeFields(to writer: inout ByteWriter) {
    writer.byte(Self.version)
    group.value.write(to: &writer)
    identity.encode(to: &writer)
    writer.string(name)
    writer.byte(status.rawValue)
    writer.bigEndian(issuedAtMilliseconds)
    issuer.value.write(to: &writer)
    encodeGround(to: &writer)
    guard status == .removed else { return }
    writer.varint(staying.count)
    for hash in staying { writer.raw(hash.bytes) }
  }

  private static func readStaying(_ reader: inout ByteReader) throws -> [ContentHash] {
    let count = try reader.count(limit: stayingCountMax, "records that stay")
    var hashes: [ContentHash] = []
    for _ in 0..<count {
      let hash = try ContentHash(readingBytesOf: &reader)
      if let last = hashes.last, !last.bytes.lexicographicallyPrecedes(hash.bytes) {
        throw ByteReader.malformed("records that stay out of order")
      }
      hashes.append(hash)
    }
    return hashes
  }
}
