import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// Signed acknowledgements as a header has them: only what differs from what the header says itself
/// (Specs/sync-file.md, "Acknowledgements").
struct AcknowledgementList {
  private let group: GroupID
  private let createdAt: Int64
  private let vector: VersionVector
  private let members: [ReplicaID]
  private let statuses: [MemberRecord.Status]
  /// The same by member.
  private let statusOfMember: [ReplicaID: MemberRecord.Status]
  private let ended: [Origin]
  /// Bounds what a reader makes of few bytes.
  private static let entryLimit = 1 << 20

  init(
    group: GroupID, createdAt: Int64, vector: VersionVector, members: RosterRecords, ended: some Collection<Origin>
  ) {
    self.group = group
    self.createdAt = createdAt
    self.vector = vector
    self.members = members.members.map(\.subject)
    let statusOfMember = members.statuses
    statuses = self.members.map { statusOfMember[$0] ?? .removed }
    self.statusOfMember = statusOfMember
    self.ended = ended.sorted()
  }

  /// How many acknowledgements there may be.
  private func limit(_ origins: [Origin]) -> Int {
    Self.entryLimit / max(1, origins.count + members.count + ended.count)
  }

  /// As many of the acknowledgements as there may be and fit into a field, the first ones first; nil for none.
  func encode(_ acknowledgements: [SignedAcknowledgement]) -> [UInt8]? {
    let chosen = choose(acknowledgements).sorted { $0.origin < $1.origin }
    guard !chosen.isEmpty else { return nil }
    let further = Set(chosen.flatMap(furtherOrigins)).sorted()
    let origins = vector.origins + further
    var writer = ByteWriter(capacity: chosen.count * 192 + further.count * 20)
    writer.varint(further.count)
    for origin in further { origin.write(to: &writer) }
    writer.varint(chosen.count)
    for acknowledgement in chosen { write(acknowledgement, origins, to: &writer) }
    return writer.bytes
  }

  /// What has no room is left out, and others may have room still.
  private func choose(_ acknowledgements: [SignedAcknowledgement]) -> [SignedAcknowledgement] {
    let known = Set(members)
    var chosen: [SignedAcknowledgement] = []
    var further: Set<Origin> = []
    var bytes = 16
    for acknowledgement in acknowledgements where canSay(acknowledgement, known) {
      let all = further.union(furtherOrigins(acknowledgement))
      let width = vector.entries.count + all.count + members.count + ended.count
      let size = 20 * (all.count - further.count) + greatestSize(of: acknowledgement)
      guard bytes + size <= SyncFileField.byteLimit, (chosen.count + 1) * width <= Self.entryLimit else { continue }
      chosen.append(acknowledgement)
      further = all
      bytes += size
    }
    return chosen
  }

  private func furtherOrigins(_ acknowledgement: SignedAcknowledgement) -> [Origin] {
    acknowledgement.vector.without(vector).origins
  }

  /// How many bytes it takes at most: a place three, a sequence six.
  private func greatestSize(of acknowledgement: SignedAcknowledgement) -> Int {
    let differing =
      acknowledgement.vector.unseen(by: vector).entries.count + vector.unseen(by: acknowledgement.vector).entries.count
    let members = acknowledgement.members == statusOfMember ? 0 : 2 * members.count
    return 192 + 9 * differing + 3 * (members + ended.count - acknowledgement.ended.count)
  }

  /// Whether the header knows all that it names.
  private func canSay(_ acknowledgement: SignedAcknowledgement, _ known: Set<ReplicaID>) -> Bool {
    acknowledgement.group == group && known.contains(acknowledgement.subject)
      && known.isSuperset(of: acknowledgement.members.keys)
      && acknowledgement.ended.isSubset(of: ended)
  }

  private func write(_ acknowledgement: SignedAcknowledgement, _ origins: [Origin], to writer: inout ByteWriter) {
    writer.varint(members.firstIndex(of: acknowledgement.subject) ?? 0)
    writer.bigEndian(acknowledgement.origin.incarnation)
    writer.signedVarint(createdAt &- acknowledgement.createdAt)
    let differing = origins.indices.filter { vector[origins[$0]] != acknowledgement.vector[origins[$0]] }
    writer.places(differing)
    for place in differing {
      writer.signedVarint(
        Int64(vector[origins[place]].rawValue) - Int64(acknowledgement.vector[origins[place]].rawValue))
    }
    writer.raw(acknowledgement.chains.bytes)
    acknowledgement.state.write(to: &writer)
    let listed = members.map { acknowledgement.members[$0] }
    writer.places(members.indices.filter { listed[$0] == nil })
    writer.places(members.indices.filter { listed[$0] != nil && listed[$0] != statuses[$0] })
    writer.places(ended.indices.filter { !acknowledgement.ended.contains(ended[$0]) })
    writer.raw(acknowledgement.signature)
  }

  /// Throws `corruptFile`, `truncatedFile` or `limitExceeded`. Signatures are not looked at.
  func decode(_ bytes: [UInt8]) throws -> [SignedAcknowledgement] {
    var reader = ByteReader(bytes)
    var origins = vector.origins
    var last: Origin?
    for _ in 0..<(try reader.count(limit: VersionVector.originLimit, "origins of acknowledgements")) {
      let origin = try Origin(reading: &reader)
      guard vector[origin] == .none, last.map({ $0 < origin }) ?? true else {
        throw ByteReader.malformed("the origins of acknowledgements")
      }
      last = origin
      origins.append(origin)
    }
    let count = try reader.count(limit: limit(origins), "acknowledgements")
    guard count > 0 else { throw ByteReader.malformed("an empty list of acknowledgements") }
    var acknowledgements: [SignedAcknowledgement] = []
    for _ in 0..<count {
      let acknowledgement = try read(&reader, origins)
      if let before = acknowledgements.last, before.origin >= acknowledgement.origin {
        throw ByteReader.malformed("acknowledgements out of order")
      }
      acknowledgements.append(acknowledgement)
    }
    try reader.expectEnd()
    guard Set(acknowledgements.flatMap(\.vector.origins)).isSuperset(of: origins.dropFirst(vector.origins.count)) else {
      throw ByteReader.malformed("origins that no acknowledgement names")
    }
    return acknowledgements
  }

  private func read(_ reader: inout ByteReader, _ origins: [Origin]) throws -> SignedAcknowledgement {
    let maker = try reader.count(limit: members.count - 1, "the place of a member")
    let origin = Origin(replica: members[maker], incarnation: try reader.bigEndian())
    let time = createdAt &- (try reader.signedVarint())
    var sequences: [Origin: SequenceNumber] = [:]
    for place in try reader.places(below: origins.count) {
      let difference = try reader.signedVarint()
      let (value, hasOverflown) = Int64(vector[origins[place]].rawValue).subtractingReportingOverflow(difference)
      guard difference != 0, !hasOverflown, value >= 0, UInt64(value) < SequenceNumber.limit.rawValue else {
        throw ByteReader.malformed("a sequence in an acknowledgement")
      }
      sequences[origins[place]] = SequenceNumber(rawValue: UInt64(value))
    }
    let held = vector.replacing(sequences)
    guard held.entries.count <= VersionVector.originLimit else {
      throw ByteReader.malformed("an acknowledgement of too much")
    }
    let chains = try ContentHash(reading: &reader)
    let state = try StatedState(reading: &reader)
    var listed = statusOfMember
    for place in try reader.places(below: members.count) { listed[members[place]] = nil }
    for place in try reader.places(below: members.count) {
      guard let status = listed[members[place]] else { throw ByteReader.malformed("a member in an acknowledgement") }
      listed[members[place]] = status == .active ? .removed : .active
    }
    var known = Set(ended)
    for place in try reader.places(below: ended.count) { known.remove(ended[place]) }
    return SignedAcknowledgement(
      group: group, origin: origin, createdAt: time, vector: held, chains: chains, state: state, members: listed,
      ended: known,
      signature: Array(try reader.raw(SignedAcknowledgement.signatureByteCount)))
  }
}
