import GodwitBase
import GodwitCrypto

/// The records that a roster follows from (Specs/membership.md).
package struct RosterRecords: Equatable, Sendable {
  /// Of each replica the one that decides, rising by replica.
  package var members: [MemberRecord]
  /// Of each replica that was renamed the one that decides, rising by replica.
  package var names: [NameRecord]
  /// Of each replica that replaced its identity.
  package var histories: [IdentityHistory]
  /// Member records that decide nothing now, but show what counts.
  package var furtherMembers: [MemberRecord]
  /// The same of names.
  package var furtherNames: [NameRecord]
  /// The replicas of which no record counts any more, rising. They are members no more.
  package var lapsed: [ReplicaID]

  package init(
    members: [MemberRecord] = [], names: [NameRecord] = [], histories: [IdentityHistory] = [],
    furtherMembers: [MemberRecord] = [], furtherNames: [NameRecord] = [], lapsed: [ReplicaID] = []
  ) {
    self.members = members
    self.names = names
    self.histories = histories
    self.furtherMembers = furtherMembers
    self.furtherNames = furtherNames
    self.lapsed = lapsed
  }

  package var allMembers: [MemberRecord] { members + furtherMembers }
  package var allNames: [NameRecord] { names + furtherNames }

  /// Whether each replica is a member.
  package var statuses: [ReplicaID: MemberRecord.Status] {
    let lapsed = Set(lapsed)
    return Dictionary(
      members.map { ($0.subject, lapsed.contains($0.subject) ? .removed : $0.status) }, uniquingKeysWith: { $1 })
  }
}

// Specs/membership.md, "Where records are": lists that are nowhere written when they are empty.
extension RosterRecords {
  package static let countMax = 1_024
  /// Of member records, and of names, that decide nothing now.
  package static let furtherCountMax = 2_048
  /// What the removals among them name together: 4 MiB.
  package static let furtherNamedMax = 131_072

  /// Whether there is anything beside what decides.
  package var hasFurther: Bool { !furtherMembers.isEmpty || !furtherNames.isEmpty || !lapsed.isEmpty }

  /// What is beside the records that decide; empty when nothing is.
  package func encodeFurther() -> [UInt8] {
    guard hasFurther else { return [] }
    var writer = ByteWriter()
    writer.varint(lapsed.count)
    for replica in lapsed { replica.value.write(to: &writer) }
    writer.varint(furtherMembers.count)
    for record in furtherMembers { record.encode(to: &writer) }
    writer.varint(furtherNames.count)
    for record in furtherNames { record.encode(to: &writer) }
    return writer.bytes
  }

  /// Reads it. Throws `unsupportedVersion`, `truncatedFile`, `corruptFile`, `limitExceeded`, or `invalidKey`.
  package mutating func readFurther(_ bytes: some Collection<UInt8>) throws {
    var reader = ByteReader(Array(bytes))
    lapsed = try (0..<(try reader.count(limit: Self.countMax, "members that lapsed"))).map { _ in
      ReplicaID(try Identifier128(reading: &reader))
    }
    furtherMembers = try (0..<(try reader.count(limit: Self.furtherCountMax, "further member records"))).map { _ in
      try MemberRecord(reading: &reader)
    }
    furtherNames = try (0..<(try reader.count(limit: Self.furtherCountMax, "further name records"))).map { _ in
      try NameRecord(reading: &reader)
    }
    try reader.expectEnd()
    try Self.requireRising(lapsed, "members that lapsed", by: <)
    let members = Set(members.map(\.subject))
    guard hasFurther, lapsed.allSatisfy(members.contains) else { throw ByteReader.malformed("members that lapsed") }
    try Self.requireRising(furtherMembers.map { ($0.subject, $0.hash) }, "further member records", by: Self.precedes)
    try Self.requireRising(furtherNames.map { ($0.subject, $0.hash) }, "further name records", by: Self.precedes)
  }

  /// The order of further records: by replica, then by hash.
  package static func precedes(_ left: (ReplicaID, ContentHash), _ right: (ReplicaID, ContentHash)) -> Bool {
    left.0 == right.0 ? left.1.bytes.lexicographicallyPrecedes(right.1.bytes) : left.0 < right.0
  }

  private static func requireRising<Key>(_ keys: [Key], _ what: String, by precedes: (Key, Key) -> Bool) throws {
    for (left, right) in zip(keys, keys.dropFirst()) where !precedes(left, right) {
      throw ByteReader.malformed("\(what) out of order")
    }
  }

  package static func encode(_ names: [NameRecord]) -> [UInt8] {
    encode(names, \.subject) { $0.encode(to: &$1) }
  }

  package static func encode(_ histories: [IdentityHistory]) -> [UInt8] {
    encode(histories, \.replica) { $0.encode(to: &$1) }
  }

  package static func names(_ bytes: some Collection<UInt8>) throws -> [NameRecord] {
    var reader = ByteReader(Array(bytes))
    return try read(&reader, \.subject) { try NameRecord(reading: &$0) }
  }

  package static func histories(_ bytes: some Collection<UInt8>) throws -> [IdentityHistory] {
    var reader = ByteReader(Array(bytes))
    return try read(&reader, \.replica) { try IdentityHistory(reading: &$0) }
  }

  private static func encode<Record>(
    _ records: [Record], _ replica: KeyPath<Record, ReplicaID>,
    _ encode: (Record, inout ByteWriter) -> Void
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.varint(records.count)
    for record in records.sorted(by: { $0[keyPath: replica] < $1[keyPath: replica] }) {
      encode(record, &writer)
    }
    return writer.bytes
  }

  /// One form of them: none twice, rising, up to the end.
  private static func read<Record>(
    _ reader: inout ByteReader, _ replica: KeyPath<Record, ReplicaID>,
    _ read: (inout ByteReader) throws -> Record
  ) throws -> [Record] {
    var records: [Record] = []
    for _ in 0..<(try reader.count(limit: countMax, "a roster's records")) {
      let record = try read(&reader)
      if let last = records.last, last[keyPath: replica] >= record[keyPath: replica] {
        throw ByteReader.malformed("a roster's records out of order")
      }
      records.append(record)
    }
    guard !records.isEmpty else { throw ByteReader.malformed("an empty list of a roster's records") }
    try reader.expectEnd()
    return records
  }
}
