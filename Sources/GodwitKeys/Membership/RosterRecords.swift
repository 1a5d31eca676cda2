import GodwitBase

/// The records that a roster follows from (Specs/membership.md).
package struct RosterRecords: Equatable, Sendable {
  /// Of each replica the latest.
  package var members: [MemberRecord]
  /// Of each replica that was renamed the latest.
  package var names: [NameRecord]
  /// Of each replica that replaced its identity.
  package var histories: [IdentityHistory]

  package init(members: [MemberRecord] = [], names: [NameRecord] = [], histories: [IdentityHistory] = []) {
    self.members = members
    self.names = names
    self.histories = histories
  }
}

// Specs/membership.md, "Where records are": lists that are nowhere written when they are empty.
extension RosterRecords {
  package static let countMax = 1_024

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
