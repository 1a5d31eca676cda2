import GodwitBase
import GodwitCrypto
import GodwitKeys

/// Records that this replica signs of others.
extension Roster {
  /// Ends a membership. The removal names which of the member's records stay: those that are known here and count.
  /// What it has no room to name and would change something this replica states again.
  ///
  /// Throws `invalidArgument` when this replica itself would be a member no more.
  package func removal(of member: Entry, by issuer: Identity, at now: Int64) throws -> RosterRecords {
    let replica = member.identity.replica
    let ground = ground(of: issuer.replica)
    let staying = recordsThatStay(of: replica, for: issuer.replica)
    let removal = try MemberRecord.issue(
      group: group, identity: member.identity, name: member.name, status: .removed,
      at: issueTime(about: replica, now), by: issuer, ground: ground, staying: staying)
    let removals = memberRecords.filter { hash, record in
      record.issuer == replica && record.status == .removed && record.subject != issuer.replica
        && evaluation.counting.contains(hash) && !staying.contains(hash)
    }.values
    var records = RosterRecords(
      members: [removal] + (try removals.map { try restated($0, $0.issuedAtMilliseconds, by: issuer, on: ground) }))
    var after = self
    after.merge(records)
    guard after[issuer.replica]?.isActive == true else {
      throw GodwitError(
        .invalidArgument, "the removal would remove this replica, too", hint: "have another member remove it")
    }
    let others = all.filter { $0.identity.replica != replica && counts($0) }
    records.members += try others.filter { after.statusThatCounts(of: $0.identity.replica) != $0.record.status }
      .map { try restated($0.record, after.timeToOverrule($0.record), by: issuer, on: ground) }
    after.merge(records)
    records.names = try others.filter { after[$0.identity.replica]?.name != $0.name }.map { other in
      try NameRecord.issue(
        group: group, subject: other.identity.replica, name: other.name,
        at: after.issueTime(about: other.identity.replica, 0), by: issuer, ground: ground)
    }
    return records
  }

  /// What nobody has seen yet does not stay because the removed member's own removals named it.
  private func restated(
    _ record: MemberRecord, _ time: Int64, by issuer: Identity, on ground: ContentHash?
  ) throws -> MemberRecord {
    try MemberRecord.issue(
      group: group, identity: record.identity, name: record.name, status: record.status, at: time, by: issuer,
      ground: ground, staying: Set(record.staying.filter(evaluation.counting.contains)))
  }

  /// As old as the record is, but for what counts here and would overrule it: whoever has stated otherwise elsewhere
  /// is later.
  private func timeToOverrule(_ record: MemberRecord) -> Int64 {
    guard let known = self[record.subject], counts(known) else { return record.issuedAtMilliseconds }
    return max(record.issuedAtMilliseconds, known.record.issuedAtMilliseconds + 1)
  }

  private func statusThatCounts(of replica: ReplicaID) -> MemberRecord.Status? {
    self[replica].flatMap { counts($0) ? $0.record.status : nil }
  }

  package mutating func rename(_ replica: ReplicaID, to name: String, by issuer: Identity, _ now: Int64) throws {
    let record = try NameRecord.issue(
      group: group, subject: replica, name: name, at: issueTime(about: replica, now), by: issuer,
      ground: ground(of: issuer.replica))
    try take(RosterRecords(names: [record]))
  }

  /// The records of a member that count, as many as a removal can name: first what nobody can state again for the
  /// issuer, then removals, then what decides. A removal that names what nobody here has seen is none of them.
  private func recordsThatStay(of member: ReplicaID, for issuer: ReplicaID) -> Set<ContentHash> {
    let deciding = Set(deciding.values).union(decidingNames.values)
    var ranked: [(rank: Int, time: Int64, hash: ContentHash)] = []
    for (hash, record) in memberRecords where record.issuer == member && record.subject != member {
      let isSeen = record.staying.allSatisfy { memberRecords[$0] != nil || nameRecords[$0] != nil }
      guard isSeen || record.subject == issuer else { continue }
      let rank = record.subject == issuer ? 0 : record.status == .removed ? 1 : deciding.contains(hash) ? 2 : 4
      ranked.append((rank, record.issuedAtMilliseconds, hash))
    }
    for (hash, record) in nameRecords where record.issuer == member {
      ranked.append((deciding.contains(hash) ? 3 : 4, record.issuedAtMilliseconds, hash))
    }
    // The same on every replica, for only what all removals of a member name stays.
    let weightiest = ranked.filter { evaluation.counting.contains($0.hash) }.sorted { left, right in
      (left.rank, left.time) == (right.rank, right.time)
        ? left.hash.bytes.lexicographicallyPrecedes(right.hash.bytes)
        : (left.rank, left.time) < (right.rank, right.time)
    }
    return Set(weightiest.prefix(MemberRecord.stayingCountMax).map(\.hash))
  }

  private func counts(_ entry: Entry) -> Bool { evaluation.counting.contains(entry.record.hash) }

  /// Takes what this replica states itself. Throws `invalidArgument` when something known cannot be overruled.
  package mutating func take(_ records: RosterRecords) throws {
    guard merge(records) else {
      throw GodwitError(
        .invalidArgument, "what is known of this member is dated at the end of time and cannot be overruled",
        hint: "make a new identity on its machine, in an empty folder, and have that one added")
    }
  }
}
