import GodwitBase

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

/// The records of a group, made by hand.
struct RosterScene {
  let group = GroupID(Identifier128(high: 7, low: 7))
  let identities: [Identity]
  /// By which the identities are members, all added by the first.
  let additions: [MemberRecord]

  init(_ count: Int, _ kind: AgeKeyKind = .x25519) throws {
    let identities = try (0..<count).map { try Self.identity($0, kind) }
    let group = group
    self.identities = identities
    additions = try identities.map {
      try MemberRecord.issue(
        group: group, identity: $0.publicIdentity, name: "member \($0.replica)", status: .active, at: 1,
        by: identities[0])
    }
  }

  static func identity(_ number: Int, _ kind: AgeKeyKind = .x25519) throws -> Identity {
    try Identity.generate(replica: ReplicaID(Identifier128(high: 1, low: UInt64(number + 1))), kind: kind)
  }

  /// What a member of the first hour stands on.
  func ground(_ issuer: Identity) -> ContentHash? {
    additions.dropFirst().first { $0.subject == issuer.replica }?.hash
  }

  func record(
    _ subject: PublicIdentity, _ status: MemberRecord.Status = .active, at time: Int64, by issuer: Identity,
    ground: MemberRecord? = nil, staying: [any SignedRecord] = []
  ) throws -> MemberRecord {
    try MemberRecord.issue(
      group: group, identity: subject, name: "member \(subject.replica)", status: status, at: time, by: issuer,
      ground: ground?.hash ?? self.ground(issuer), staying: Set(staying.map(\.hash)))
  }

  func name(
    _ subject: Identity, _ name: String, at time: Int64, by issuer: Identity, ground: MemberRecord? = nil
  ) throws -> NameRecord {
    try NameRecord.issue(
      group: group, subject: subject.replica, name: name, at: time, by: issuer,
      ground: ground?.hash ?? self.ground(issuer))
  }

  /// All as members.
  func roster() -> Roster { Roster(group: group, trusted: RosterRecords(members: additions)) }
}

extension Roster {
  /// Whether a replica is an active member.
  func has(_ identity: Identity) -> Bool { self[identity.replica]?.isActive == true }
}
