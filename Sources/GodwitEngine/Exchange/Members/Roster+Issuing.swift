import GodwitBase
import GodwitCrypto
import GodwitKeys

/// Records that this replica signs of others.
extension Roster {
  /// Ends a membership, and names which of the member's records stay: those that are known here and count.
  package func removal(of member: Entry, by issuer: Identity, at now: Int64) throws -> MemberRecord {
    let replica = member.identity.replica
    return try MemberRecord.issue(
      group: group, identity: member.identity, name: member.name, status: .removed,
      at: issueTime(about: replica, now), by: issuer, ground: ground(of: issuer.replica),
      staying: recordsThatStay(of: replica))
  }

  package mutating func rename(_ replica: ReplicaID, to name: String, by issuer: Identity, _ now: Int64) throws {
    let record = try NameRecord.issue(
      group: group, subject: replica, name: name, at: issueTime(about: replica, now), by: issuer,
      ground: ground(of: issuer.replica))
    try take(RosterRecords(names: [record]))
  }

  /// The records of a member that count, as many as a removal can name: first those that remove, then those that
  /// decide; the same on every replica, for only what all removals of a member name stays.
  private func recordsThatStay(of issuer: ReplicaID) -> Set<ContentHash> {
    let (deciding, names) = (Set(deciding.values), Set(decidingNames.values))
    var ranked: [(rank: Int, time: Int64, hash: ContentHash)] = []
    for (hash, record) in memberRecords where record.issuer == issuer && record.subject != issuer {
      let rank = record.status == .removed ? 0 : deciding.contains(hash) ? 1 : 3
      ranked.append((rank, record.issuedAtMilliseconds, hash))
    }
    for (hash, record) in nameRecords where record.issuer == issuer {
      ranked.append((names.contains(hash) ? 2 : 4, record.issuedAtMilliseconds, hash))
    }
    let weightiest = ranked.filter { evaluation.counting.contains($0.hash) }.sorted { left, right in
      (left.rank, left.time) == (right.rank, right.time)
        ? left.hash.bytes.lexicographicallyPrecedes(right.hash.bytes)
        : (left.rank, left.time) < (right.rank, right.time)
    }
    return Set(weightiest.prefix(MemberRecord.stayingCountMax).map(\.hash))
  }

  /// Takes what this replica states itself. Throws `invalidArgument` when something known cannot be overruled.
  package mutating func take(_ records: RosterRecords) throws {
    guard merge(records) else {
      throw GodwitError(
        .invalidArgument, "what is known of this member is dated at the end of time and cannot be overruled",
        hint: "make a new identity on its machine, in an empty folder, and have that one added")
    }
  }
}
