import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// What an incarnation of a member holds and knows, signed by itself, so that others can pass it on
/// (Specs/sync-file.md, "Acknowledgements").
package struct SignedAcknowledgement: SignedRecord {
  package let group: GroupID
  package let origin: Origin
  /// Milliseconds since 1970 UTC by its maker's clock.
  package let createdAt: Int64
  /// All that its maker held.
  package let vector: VersionVector
  /// What the chains of all that hash to: see ``hash(_:chain:)``.
  package let chains: ContentHash
  /// What its maker's tables held of it.
  package let state: StatedState
  /// The members its maker knew.
  package let members: [ReplicaID: MemberRecord.Status]
  /// The incarnations it knew to have ended.
  package let ended: Set<Origin>
  package let signature: [UInt8]

  package var subject: ReplicaID { origin.replica }
  package var issuer: ReplicaID { origin.replica }
  package var issuedAtMilliseconds: Int64 { createdAt }

  init(
    group: GroupID, origin: Origin, createdAt: Int64, vector: VersionVector, chains: ContentHash,
    state: StatedState = .none, members: [ReplicaID: MemberRecord.Status], ended: Set<Origin>, signature: [UInt8]
  ) {
    self.group = group
    self.origin = origin
    self.createdAt = createdAt
    self.vector = vector
    self.chains = chains
    self.state = state
    self.members = members
    self.ended = ended
    self.signature = signature
  }

  /// Makes and signs one.
  package static func issue(
    group: GroupID, incarnation: UInt32, at milliseconds: Int64, vector: VersionVector, chains: ContentHash,
    state: StatedState = .none, members: [ReplicaID: MemberRecord.Status], ended: Set<Origin>, by issuer: Identity
  ) throws -> SignedAcknowledgement {
    func acknowledgement(_ signature: [UInt8]) -> SignedAcknowledgement {
      SignedAcknowledgement(
        group: group, origin: Origin(replica: issuer.replica, incarnation: incarnation), createdAt: milliseconds,
        vector: vector, chains: chains, state: state, members: members, ended: ended, signature: signature)
    }
    return acknowledgement(try issuer.sign(acknowledgement([]).signedBytes))
  }

  /// One hash for the histories that a vector names; nil when one of the chains is not known.
  package static func hash(_ vector: VersionVector, chain: (Dot) throws -> ContentHash?) rethrows -> ContentHash? {
    var writer = ByteWriter(capacity: vector.entries.count * 60)
    for entry in vector.entries {
      guard let chain = try chain(Dot(entry.origin, entry.sequence)) else { return nil }
      entry.origin.write(to: &writer)
      writer.bigEndian(entry.sequence.rawValue)
      writer.raw(chain.bytes)
    }
    return writer.bytes.withUnsafeBytes { ContentHash(of: $0) }
  }
}

extension SignedAcknowledgement {
  package static let domain = Array("godwit statement v2\0".utf8)

  package func encodeFields(to writer: inout ByteWriter) {
    group.value.write(to: &writer)
    origin.write(to: &writer)
    writer.signedVarint(createdAt)
    vector.write(to: &writer)
    writer.raw(chains.bytes)
    state.write(to: &writer)
    writer.varint(members.count)
    for (replica, status) in members.sorted(by: { $0.key < $1.key }) {
      replica.value.write(to: &writer)
      writer.byte(status.rawValue)
    }
    writer.varint(ended.count)
    for origin in ended.sorted() { origin.write(to: &writer) }
  }

  /// Reads what was kept. Throws `truncatedFile` or `corruptFile`.
  package init(reading reader: inout ByteReader) throws {
    group = GroupID(try Identifier128(reading: &reader))
    origin = try Origin(reading: &reader)
    createdAt = try reader.signedVarint()
    vector = try VersionVector(reading: &reader)
    chains = try ContentHash(reading: &reader)
    state = try StatedState(reading: &reader)
    var members: [ReplicaID: MemberRecord.Status] = [:]
    for _ in 0..<(try reader.count(limit: SyncFileHeader.memberLimit, "members")) {
      let replica = ReplicaID(try Identifier128(reading: &reader))
      members[replica] = try MemberRecord.Status(reading: &reader)
    }
    self.members = members
    ended = Set(
      try (0..<(try reader.count(limit: VersionVector.originLimit, "ended incarnations"))).map { _ in
        try Origin(reading: &reader)
      })
    signature = Array(try reader.raw(Self.signatureByteCount))
  }
}
