import Foundation
import Godwit
import GodwitBase
import GodwitKeys
import GodwitReplication
import Logging
import Synchronization

/// Folders of empty replicas that are members of one group, made once in a process and copied for every world: what a
/// seed is about begins after that. IDs are fixed; keys are random, which nothing in a world can see.
package final class FolderTemplate: Sendable {
  private let root: String
  private let made = Mutex<Set<Int>>([])

  package init(root: String) { self.root = root }

  /// A folder for each of so many members, in a folder that the caller owns.
  func make(_ count: Int, in folder: String) async throws -> [String] {
    try await prepare(count)
    return try (0..<count).map { index in
      let path = "\(folder)/replica-\(index)"
      try FileManager.default.copyItem(atPath: template(count, index), toPath: path)
      return path
    }
  }

  /// Not for two callers at a time.
  func prepare(_ count: Int) async throws {
    guard !made.withLock({ $0.contains(count) }) else { return }
    try await build(count)
    _ = made.withLock { $0.insert(count) }
  }

  private func template(_ count: Int, _ index: Int) -> String { "\(root)/template-\(count)-\(index)" }

  private func build(_ count: Int) async throws {
    let group = GroupID(Identifier128(high: 0x676F_6477_6974, low: UInt64(count)))
    let identities = try (0..<count).map { index in
      try Identity.generate(replica: ReplicaID(Identifier128(high: 0x7265_706C_6963_61, low: UInt64(index + 1))))
    }
    let members = try identities.enumerated().map { index, identity in
      try MemberRecord.issue(
        group: group, identity: identity.publicIdentity, name: "replica-\(index)", status: .active, at: 1,
        by: identities[0])
    }
    for (index, identity) in identities.enumerated() {
      let path = template(count, index)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      chmod(path, 0o700)
      let location = KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key")
      try Keyring.create(at: location, contents: KeyringContents(identity: identity, group: group, members: members))
      let replica = try await Replica.open(
        at: path, models: SimulatedModels.models(at: 0), name: nil, key: .keyring(),
        logger: .silent, wallClock: .system)
      await replica.close()
    }
  }
}
