import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitEngine
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
    at path: String, key: Replica.KeySource = .keyring(), postQuantum: Bool = false
  ) async throws -> PublicIdentity {
    let folder = ReplicaFolder(path, key: key)
    return try await BlockingThread.run {
      try Keyring.prepare(at: folder.keys)
      let lock = try folder.lock()
      defer { withExtendedLifetime(lock) {} }
      return try folder.keyring(postQuantum: postQuantum).identity.publicIdentity
    }
  }

  /// Joins the group of an invitation made for this machine's ``identity(at:key:postQuantum:)``.
  ///
  /// An invitation says itself who made it, so somebody may have exchanged it on its way: the fingerprint that the
  /// inviter gives in another way proves it.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - invitation: What the inviter wrote. It says who invites, and proves nothing of that.
  ///   - inviter: How it is made sure who invites.
  ///   - key: Where the keys are.
  /// - Throws: `unverifiedIdentity` when the inviter's fingerprint is another one, `notARecipient` when the invitation
  ///   is for another identity, `replicaExists` when the folder's replica belongs to a group already, `corruptFile`,
  ///   `invalidSignature`. Nothing is stored then. When the disk is full, or the database cannot be made for another
  ///   reason, joining again with an invitation of the same group continues it.
  public static func join(
    at path: String, invitation: SyncSource, inviter: Member.Verification, key: Replica.KeySource = .keyring()
  ) async throws -> Replica {
    let folder = ReplicaFolder(path, key: key)
    try await BlockingThread.run {
      try join(folder, invitation.read { try $0.readToEnd(limit: Invitation.byteLimit) }, inviter)
    }
    return try await open(at: path, configuration: .init(key: KeySource(of: folder)))
  }

  private static func join(_ folder: ReplicaFolder, _ bytes: [UInt8], _ inviter: Member.Verification) throws {
    guard folder.hasKeyring else {
      throw GodwitError(
        .missingKeyring, "there is no identity in \(folder.path) to join with",
        hint: "run: godwit identity, and have a member make an invitation for what it prints")
    }
    // A person may be asked, which is no time to hold locks.
    let contents = try Keyring.open(at: folder.keys)
    guard contents.group == nil || !folder.wasEverOpen else { throw belongsToGroup(folder) }
    let (invitation, roster) = try read(bytes, with: contents.identity)
    try inviter.check(invitation.inviter, of: "the inviter")
    let lock = try folder.lock()
    defer { withExtendedLifetime(lock) {} }
    try Keyring.update(at: folder.keys) { contents in
      guard contents.group == nil || contents.group == invitation.group && !folder.wasEverOpen else {
        throw belongsToGroup(folder)
      }
      contents.setRoster(roster.records)
      contents.group = invitation.group
    }
  }

  private static func read(_ bytes: [UInt8], with identity: Identity) throws -> (Invitation, Roster) {
    do {
      let invitation = try Invitation(opening: bytes, with: identity)
      return (invitation, try invitation.roster(for: identity))
    } catch let error as GodwitError
      where error.hint == nil || [.notARecipient, .corruptFile, .truncatedFile].contains(error.code)
    {
      throw GodwitError(
        error.code, error.message, hint: "nothing was stored; ask the inviter for another invitation",
        underlying: error.underlying)
    }
  }

  private static func belongsToGroup(_ folder: ReplicaFolder) -> GodwitError {
    GodwitError(
      .replicaExists, "the replica in \(folder.path) belongs to a group already",
      hint: "one that is a member again needs a state of another member's: godwit export --state FILE there, and here "
        + "godwit import --rejoin FILE; for another group, join from an empty folder")
  }
}
