import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import Testing

@testable import GodwitSyncFile

@Suite("Acknowledgements in a header")
struct AcknowledgementListTests {
  private let group = GroupID(Identifier128(high: 1, low: 2))
  private let identities: [Identity]
  private let records: [MemberRecord]

  init() throws {
    identities = try (1...3).map { try Identity.generate(replica: ReplicaID(Identifier128(high: 0, low: $0))) }
    records = try Self.records(identities, group, removed: [2])
  }

  private static func records(
    _ identities: [Identity], _ group: GroupID, removed: Set<Int> = []
  ) throws -> [MemberRecord] {
    try identities.indices.map {
      try MemberRecord.issue(
        group: group, identity: identities[$0].publicIdentity, name: "m",
        status: removed.contains($0) ? .removed : .active,
        at: 1, by: identities[0])
    }
  }

  private func origin(_ number: UInt64, _ incarnation: UInt32 = 1) -> Origin {
    Origin(replica: ReplicaID(Identifier128(high: 0, low: number)), incarnation: incarnation)
  }

  private func vector(_ sequences: UInt64...) -> VersionVector {
    VersionVector(
      Dictionary(
        uniqueKeysWithValues: sequences.enumerated().map { (origin(UInt64($0) + 1), SequenceNumber(rawValue: $1)) }))
  }

  /// As a header with these members has them, that holds 5 of the first origin, and 7 of the second.
  private var list: AcknowledgementList {
    AcknowledgementList(
      group: group, createdAt: 1_000, vector: vector(5, 7), members: RosterRecords(members: records),
      ended: [origin(1, 9), origin(2, 8)])
  }

  private func acknowledgement(
    _ maker: Int = 0, incarnation: UInt32 = 1, at milliseconds: Int64 = 1_000, _ vector: VersionVector,
    members: [MemberRecord]? = nil, ended: Set<Origin> = []
  ) throws -> SignedAcknowledgement {
    try SignedAcknowledgement.issue(
      group: group, incarnation: incarnation, at: milliseconds, vector: vector,
      chains: [1, 2, 3].withUnsafeBytes { ContentHash(of: $0) },
      members: RosterRecords(members: members ?? records).statuses, ended: ended,
      by: identities[maker])
  }

  private func refusal(_ bytes: [UInt8]) -> GodwitError.Code? {
    do { _ = try list.decode(bytes) } catch { return (error as? GodwitError)?.code }
    return nil
  }

  @Test("come back as they were signed, whatever they differ in from the header")
  func roundTrip() throws {
    let acknowledgements = [
      try acknowledgement(0, vector(5, 7), ended: [origin(1, 9), origin(2, 8)]),
      try acknowledgement(1, at: -9_000, vector(5, 7)),
      try acknowledgement(1, incarnation: 2, at: .max, vector(9)),
      try acknowledgement(1, incarnation: 3, at: .min, VersionVector()),
      try acknowledgement(
        2, vector(1, 7, 3), members: Array(Self.records(identities, group).prefix(2)), ended: [origin(2, 8)]),
      try acknowledgement(
        2, incarnation: 5, VersionVector([origin(7): SequenceNumber(rawValue: 1 << 39)]), members: []),
    ]
    let bytes = try #require(list.encode(acknowledgements.reversed()))
    let found = try list.decode(bytes)
    #expect(found == acknowledgements)
    for (acknowledgement, number) in zip(found, [0, 1, 1, 1, 2, 2]) {
      #expect(acknowledgement.isSigned(by: identities[number].publicIdentity))
      #expect(!acknowledgement.isSigned(by: identities[(number + 1) % 3].publicIdentity))
      var writer = ByteWriter()
      acknowledgement.encode(to: &writer)
      var reader = ByteReader(writer.bytes)
      #expect(try SignedAcknowledgement(reading: &reader) == acknowledgement && reader.isAtEnd)
    }
    #expect(list.encode(found) == bytes)
    // Little is left of what the header says, too: 64 of signature, 32 of hash, and a byte for each list.
    #expect(try #require(list.encode([acknowledgements[0]])).count <= 64 + 32 + 24 + 14)
  }

  @Test("that name what the header does not know are left out")
  func unsayable() throws {
    let stranger = try Identity.generate(replica: ReplicaID(Identifier128(high: 3, low: 3)))
    let others = try Self.records([stranger], group)
    let ofStranger = try SignedAcknowledgement.issue(
      group: group, incarnation: 1, at: 5, vector: vector(1), chains: .zero,
      members: RosterRecords(members: records).statuses, ended: [], by: stranger)
    #expect(list.encode([ofStranger]) == nil)
    #expect(list.encode([try acknowledgement(0, vector(1), members: records + others)]) == nil)
    #expect(list.encode([try acknowledgement(0, vector(1), ended: [origin(3, 3)])]) == nil)
    #expect(list.encode([]) == nil)
    let sound = try acknowledgement(1, vector(2))
    #expect(try list.decode(#require(list.encode([ofStranger, sound]))) == [sound])
  }

  @Test("have one form, and stay within what their header names")
  func forms() throws {
    let sound = try #require(list.encode([try acknowledgement(0, vector(4, 7)), try acknowledgement(1, vector(5, 7))]))
    #expect(refusal(sound) == nil)
    for count in 0..<sound.count { #expect(refusal(Array(sound.prefix(count))) != nil, "cut at \(count)") }
    #expect(refusal(sound + [0]) == .corruptFile)
    #expect(refusal([0, 0]) == .corruptFile)
    // No further origins; one acknowledgement, by a member that is not there.
    #expect(refusal([0, 1, 3, 0, 0, 0, 1]) == .limitExceeded)
    // Further origins: twice the same, one that the header has, one that no acknowledgement names.
    func further(_ origins: [Origin]) -> [UInt8] {
      var writer = ByteWriter()
      writer.varint(origins.count)
      for origin in origins { origin.write(to: &writer) }
      return writer.bytes + sound.dropFirst()
    }
    #expect(refusal(further([origin(8), origin(8)])) == .corruptFile)
    #expect(refusal(further([origin(1)])) == .corruptFile)
    #expect(refusal(further([origin(8)])) == .corruptFile)
    // A difference of nothing, one below nothing, one beyond all sequences: after the list's two counts, maker,
    // incarnation, time, one place.
    for (difference, isSound) in [(Int64(1), true), (0, false), (6, false), (-(1 << 40), false), (.min, false)] {
      var head = ByteWriter()
      head.raw(sound[..<10])
      head.signedVarint(difference)
      #expect((refusal(head.bytes + sound[11...]) == nil) == isSound, "difference \(difference)")
    }
  }

  @Test("take no more room than a few bytes may claim")
  func limits() throws {
    // Of 70,000 entries each, 14 acknowledgements are within the limit.
    let held = VersionVector(
      Dictionary(uniqueKeysWithValues: (1...UInt64(65_000)).map { (origin($0), SequenceNumber(rawValue: 1)) }))
    let list = AcknowledgementList(
      group: group, createdAt: 1_000, vector: held, members: RosterRecords(members: records), ended: [Origin]())
    let acknowledgements = try (UInt32(1)...20).map { try acknowledgement(1, incarnation: $0, held) }
    let bytes = try #require(list.encode(acknowledgements))
    #expect(try list.decode(bytes) == Array(acknowledgements.prefix((1 << 20) / 65_003)))
    var more = bytes
    more[1] += 1
    #expect(throws: GodwitError.self) { try list.decode(more) }
  }
}
