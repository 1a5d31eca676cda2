import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// The same keys in every run, so that an input means the same tomorrow.
enum FuzzKeys {
  static func identity(_ number: UInt8, _ kind: AgeKeyKind = .x25519, replaced times: UInt8 = 0) throws -> Identity {
    let seed = number + 16 * times
    return try Identity(
      replica: ReplicaID(Identifier128(high: 7, low: UInt64(number))),
      signingSeed: SecretBytes(copying: [UInt8](repeating: seed, count: 32)), kind: kind,
      agreementKey: SecretBytes(copying: [UInt8](repeating: seed | 64, count: 32)))
  }

  static let passphrase = SecretBytes(copying: Array("fuzz".utf8))
  /// 16 KiB: an input may not make a run slow.
  static let costMax = 4
  static let group = GroupID(Identifier128(high: 9, low: 1))
  static let origins = (1...3).map {
    Origin(replica: ReplicaID(Identifier128(high: 7, low: UInt64($0))), incarnation: UInt32($0))
  }

  static func record(_ number: UInt8, _ kind: AgeKeyKind = .x25519) throws -> MemberRecord {
    try MemberRecord.issue(
      group: group, identity: identity(number, kind).publicIdentity, name: "member \(number)", status: .active,
      at: 1_700_000_000_000, by: identity(1, kind))
  }
}

extension FuzzKeys {
  /// Two members, of whom the first has renamed the second and replaced its own identity.
  static func roster(_ kind: AgeKeyKind = .x25519) throws -> RosterRecords {
    let founder = try identity(1, kind)
    var history = IdentityHistory(founder.publicIdentity)
    let next = try identity(1, kind, replaced: 1)
    try history.append(next, after: founder, group: group, at: 1_700_000_000_001)
    let name = try NameRecord.issue(
      group: group, subject: identity(2, kind).replica, name: "renamed", at: 1_700_000_000_002, by: founder)
    return RosterRecords(members: try (1...2).map { try record($0, kind) }, names: [name], histories: [history])
  }
}

/// Everything a source gives, in reads of odd sizes.
func drain(_ source: any ByteSource) throws -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 70_001)
  while true {
    let count = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
    if count == 0 { return bytes }
    bytes += buffer[..<count]
  }
}

/// What the work gives, or nil when it is refused.
func unlessRefused<Output>(_ work: () throws -> Output) throws -> Output? {
  do {
    return try work()
  } catch is GodwitError {
    return nil
  }
}
