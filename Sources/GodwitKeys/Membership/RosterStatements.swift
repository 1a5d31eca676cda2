import GodwitBase

/// The statements that a roster follows from (Specs/membership.md).
package struct RosterStatements: Equatable, Sendable {
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

// Specs/membership.md, "Where statements are": lists that are nowhere written when they are empty.
extension RosterStatements {
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

  private static func encode<Statement>(
    _ statements: [Statement], _ replica: KeyPath<Statement, ReplicaID>,
    _ encode: (Statement, inout ByteWriter) -> Void
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.varint(statements.count)
    for statement in statements.sorted(by: { $0[keyPath: replica] < $1[keyPath: replica] }) {
      encode(statement, &writer)
    }
    return writer.bytes
  }

  /// One form of them: none twice, rising, up to the end.
  private static func read<Statement>(
    _ reader: inout ByteReader, _ replica: KeyPath<Statement, ReplicaID>,
    _ read: (inout ByteReader) throws -> Statement
  ) throws -> [Statement] {
    var statements: [Statement] = []
    for _ in 0..<(try reader.count(limit: countMax, "a roster's statements")) {
      let statement = try read(&reader)
      if let last = statements.last, last[keyPath: replica] >= statement[keyPath: replica] {
        throw ByteReader.malformed("a roster's statements out of order")
      }
      statements.append(statement)
    }
    guard !statements.isEmpty else { throw ByteReader.malformed("an empty list of a roster's statements") }
    try reader.expectEnd()
    return statements
  }
}
