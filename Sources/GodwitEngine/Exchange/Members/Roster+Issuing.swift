import GodwitBase
import GodwitCrypto
import GodwitKeys

/// Records that this replica signs of others.
extension Roster {
  /// Ends a membership. The removal names which of the member's records stay: those that are known here and count.
  /// What it has no room to name and still matters this replica states again, so that it rests on itself.
  package func removal(of member: Entry, by issuer: Identity, at now: Int64) throws -> RosterRecords {
    let replica = member.identity.replica
    let ground = ground(of: issuer.replica)
    let ranked = recordsThatStay(of: replica, for: issuer.replica)
    let rest = ranked.dropFirst(MemberRecord.stayingCountMax).filter { $0.rank < .history }.map(\.hash)
    let removal = try MemberRecord.issue(
      group: group, identity: member.identity, name: member.name, status: .removed,
      at: issueTime(about: replica, now), by: issuer, ground: ground,
      staying: Set(ranked.prefix(MemberRecord.stayingCountMax).map(\.hash)))
    return RosterRecords(
      members: [removal] + (try rest.compactMap { memberRecords[$0] }.map { try $0.restated(by: issuer, on: ground) }),
      names: try rest.compactMap { nameRecords[$0] }.map { try $0.restated(by: issuer, on: ground) })
  }

  package mutating func rename(_ replica: ReplicaID, to name: String, by issuer: Identity, _ now: Int64) throws {
    let record = try NameRecord.issue(
      group: group, subject: replica, name: name, at: issueTime(about: replica, now), by: issuer,
      ground: ground(of: issuer.replica))
    try take(RosterRecords(names: [record]))
  }

  /// Why a record of a removed member should stay, the weightiest reason first.
  private enum Reason: Int, Comparable {
    /// Nobody states of itself that it is a member.
    case isAboutIssuer
    /// What stands on it stays with it alone, whoever states it again.
    case carries
    case removes
    case decides
    /// Another record says what is so now.
    case history

    static func < (left: Reason, right: Reason) -> Bool { left.rawValue < right.rawValue }
  }

  /// The records of a member that count, the weightiest first.
  private func recordsThatStay(of member: ReplicaID, for issuer: ReplicaID) -> [(rank: Reason, hash: ContentHash)] {
    let deciding = Set(deciding.values).union(decidingNames.values)
    let grounds = Set(memberRecords.values.compactMap(\.ground) + nameRecords.values.compactMap(\.ground))
    var ranked: [(rank: Reason, hash: ContentHash)] = []
    for (hash, record) in memberRecords where record.issuer == member && record.subject != member {
      let reason: Reason =
        if record.status == .removed {
          .removes
        } else if record.subject == issuer {
          .isAboutIssuer
        } else if grounds.contains(hash) {
          .carries
        } else {
          deciding.contains(hash) ? .decides : .history
        }
      ranked.append((reason, hash))
    }
    for (hash, record) in nameRecords where record.issuer == member {
      ranked.append((deciding.contains(hash) ? .decides : .history, hash))
    }
    return ranked.filter { evaluation.counting.contains($0.hash) }.sorted { $0.rank < $1.rank }
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
