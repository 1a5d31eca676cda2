import Foundation
import Godwit
import GodwitBase
import GodwitEngine
import GodwitKeys
import GodwitCore
import Logging
import Synchronization

/// Folders of empty replicas that are members of one group, made once in a process and copied for every world: what a
/// seed is about begins after that. IDs are fixed; keys are random, which nothing in a world can see.
package final class FolderTemplate: Sendable {
  private let root: String
  private let made = Mutex<Set<Kind>>([])
  /// By the number of the others.
  private let hostile = Mutex<[Int: (face: HostileFace, group: GroupID)]>([:])

  private struct Kind: Hashable {
    let count: Int
    let isHostile: Bool
  }

  package init(root: String) { self.root = root }

  /// A folder for each of so many members, in a folder that the caller owns.
  func make(_ count: Int, isHostile: Bool, in folder: String) async throws -> [String] {
    try await prepare(count, isHostile: isHostile)
    return try (0..<count).map { index in
      let path = "\(folder)/replica-\(index)"
      try FileManager.default.copyItem(atPath: template(Kind(count: count, isHostile: isHostile), index), toPath: path)
      return path
    }
  }

  /// Not for two callers at a time.
  func prepare(_ count: Int, isHostile: Bool) async throws {
    let kind = Kind(count: count, isHostile: isHostile)
    guard !made.withLock({ $0.contains(kind) }) else { return }
    try await build(kind)
    _ = made.withLock { $0.insert(kind) }
  }

  /// The member beside so many others that means harm: it has keys, and no replica.
  func hostileMember(_ count: Int) async throws -> HostileMember? {
    try await prepare(count, isHostile: true)
    return hostile.withLock { $0[count] }.map { HostileMember($0.face, in: $0.group) }
  }

  private func template(_ kind: Kind, _ index: Int) -> String {
    "\(root)/template-\(kind.count)-\(kind.isHostile ? "hostile-" : "")\(index)"
  }

  private func build(_ kind: Kind) async throws {
    let count = kind.count
    let group = GroupID(Identifier128(high: 0x676F_6477_6974, low: UInt64(count)))
    let identities = try (0..<count).map { index in
      try Identity.generate(replica: ReplicaID(Identifier128(high: 0x7265_706C_6963_61, low: UInt64(index + 1))))
    }
    var members = try identities.enumerated().map { index, identity in
      try MemberRecord.issue(
        group: group, identity: identity.publicIdentity, name: "replica-\(index)", status: .active, at: 1,
        by: identities[0])
    }
    if kind.isHostile {
      let face = try Self.hostileFace(group, by: identities[0])
      members.append(face.record)
      hostile.withLock { $0[count] = (face, group) }
    }
    for (index, identity) in identities.enumerated() {
      let path = template(kind, index)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      chmod(path, 0o700)
      let location = KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key")
      try Keyring.create(at: location, contents: KeyringContents(identity: identity, group: group, members: members))
      let replica = try await Replica.open(
        at: path, models: SimulatedModels.models(at: 0), configuration: .init(key: .keyring(), logger: .silent),
        wallClock: .system, incarnations: .seeded(.max - UInt64(index)))
      await replica.close()
    }
  }

  private static func hostileFace(_ group: GroupID, by founder: Identity) throws -> HostileFace {
    let identity = try Identity.generate(replica: HostileMember.replica(0))
    let record = try MemberRecord.issue(
      group: group, identity: identity.publicIdentity, name: HostileMember.name, status: .active, at: 1, by: founder)
    return HostileFace(identity: identity, record: record)
  }
}
