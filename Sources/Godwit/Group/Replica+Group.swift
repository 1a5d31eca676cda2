import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitReplication
import GodwitStorage

extension Replica {
  /// This machine's identity for a replica in the folder: made, with its keyring, when there is none yet. Give its
  /// text to a member, who makes an invitation for it.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - key: Where the keys are.
  ///   - postQuantum: Whether a new identity has hybrid keys, as those of a post-quantum group must.
  /// - Throws: `invalidArgument` when there is an identity of the other kind and a post-quantum one is asked for.
  public static func identity(
    at path: String, key: KeySource = .keyring(), postQuantum: Bool = false
  ) async throws -> PublicIdentity {
    let folder = ReplicaFolder(path, key: key)
    return try await BlockingThread.run {
      let lock = try folder.lock()
      defer { withExtendedLifetime(lock) {} }
      return try folder.keyring(postQuantum: postQuantum).identity.publicIdentity
    }
  }

  /// Joins the group of an invitation made for this machine's ``identity(at:key:postQuantum:)``.
  ///
  /// - Throws: `notARecipient` when the invitation is for another identity, `replicaExists` when the folder's
  ///   replica belongs to a group already, `corruptFile`, `invalidSignature`.
  public static func join(
    at path: String, invitation: SyncSource, key: KeySource = .keyring()
  ) async throws -> Replica {
    let folder = ReplicaFolder(path, key: key)
    try await BlockingThread.run {
      let bytes = try invitation.read { try $0.readToEnd(limit: Invitation.byteLimit) }
      let lock = try folder.lock()
      defer { withExtendedLifetime(lock) {} }
      guard folder.hasKeyring else {
        throw GodwitError(
          .missingKeyring, "there is no identity in \(path) to join with",
          hint: "run: godwit identity, and have a member make an invitation for what it prints")
      }
      try Keyring.update(at: folder.keys) { contents in
        guard contents.group == nil else {
          throw GodwitError(
            .replicaExists, "the replica in \(path) belongs to a group already", hint: "join from an empty folder")
        }
        let invitation = try Invitation(opening: bytes, with: contents.identity)
        contents.members = try invitation.roster(for: contents.identity).sorted
        contents.group = invitation.group
      }
    }
    return try await open(at: path, key: key)
  }

  /// The replicas of the group, those that were removed included.
  public func members() async throws -> [Member] {
    let own = identity.replica
    return try await withKeyring { contents, roster in
      roster.sorted.map { record in
        Member(
          identity: record.identity, name: record.name, isActive: record.status == .active,
          isOwn: record.identity.replica == own)
      }
    }
  }

  /// Makes another machine a member and writes the invitation that lets it join. Other members learn of it with the
  /// next sync file.
  ///
  /// - Throws: `invalidArgument` when the name is taken or cannot be one, or the identity's keys are not of the group's
  ///   kind.
  public func invite(_ invited: PublicIdentity, name: String, to destination: SyncDestination) async throws {
    let location = folder.keys
    let group = group
    let wallClock = wallClock
    try await BlockingThread.run {
      let bytes = try Keyring.update(at: location) { contents in
        var roster = Roster(group: group, trusted: contents.members)
        try Self.requireSameKind(invited, as: contents.identity.publicIdentity)
        guard !roster.active.contains(where: { $0.name == name && $0.identity != invited }) else {
          throw GodwitError(.invalidArgument, "there is a member called \(name) already", hint: "choose another name")
        }
        let record = try MemberRecord.issue(
          group: group, identity: invited, name: name, status: .active, at: wallClock.milliseconds(),
          by: contents.identity)
        guard roster.merge([record]) else {
          throw GodwitError(
            .invalidArgument, "another identity is a member under this replica's ID, or a later record says otherwise",
            hint: "make a new identity on the invited machine")
        }
        contents.members = roster.sorted
        let invitation = Invitation(
          group: group, inviter: contents.identity.publicIdentity, members: roster.sorted)
        return try invitation.seal(to: invited.recipient, signedBy: contents.identity)
      }
      _ = try destination.write { try $0.write(bytes) }
    }
  }

  private static func requireSameKind(_ invited: PublicIdentity, as own: PublicIdentity) throws {
    guard invited.isPostQuantum != own.isPostQuantum else { return }
    throw own.isPostQuantum
      ? GodwitError(
        .invalidArgument, "the group is post-quantum, and this identity is not",
        hint: "on that machine, in an empty folder: godwit identity --post-quantum")
      : GodwitError(
        .invalidArgument, "this identity is post-quantum, and the group is not",
        hint: "on that machine, in an empty folder: godwit identity")
  }

  /// Removes a member: no later file is sealed to it or accepted from it. Other members learn of it with the next
  /// sync file. What it holds already it keeps.
  ///
  /// - Throws: `invalidArgument` when no active member is called so, or it is this replica itself.
  public func removeMember(named name: String) async throws {
    let location = folder.keys
    let group = group
    let wallClock = wallClock
    try await BlockingThread.run {
      try Keyring.update(at: location) { contents in
        var roster = Roster(group: group, trusted: contents.members)
        guard let member = roster.active.first(where: { $0.name == name }),
          member.identity.replica != contents.identity.replica
        else {
          throw GodwitError(
            .invalidArgument, "no other active member is called \(name)", hint: "see: godwit member list")
        }
        let record = try MemberRecord.issue(
          group: group, identity: member.identity, name: name, status: .removed, at: wallClock.milliseconds(),
          by: contents.identity)
        guard roster.merge([record]) else {
          throw GodwitError(
            .invalidArgument, "a later record says that \(name) is a member", hint: "set this machine's clock")
        }
        contents.members = roster.sorted
      }
    }
  }

  func withKeyring<Output: Sendable>(
    _ body: @escaping @Sendable (KeyringContents, Roster) throws -> Output
  ) async throws -> Output {
    let location = folder.keys
    let group = group
    return try await BlockingThread.run {
      let contents = try Keyring.open(at: location)
      return try body(contents, Roster(group: group, trusted: contents.members))
    }
  }
}
