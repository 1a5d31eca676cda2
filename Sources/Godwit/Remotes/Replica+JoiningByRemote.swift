import Foundation
import GodwitBase
import GodwitEngine
import GodwitFiles
import GodwitKeys
import GodwitRemotes
import GodwitStorage

extension Replica {
  /// A machine that asks at a remote to be made a member. All of it is its own word: the fingerprint, which its owner
  /// gives in another way, proves whose identity it is.
  public struct JoinRequest: Sendable, Hashable, Identifiable {
    /// The identity that would be a member.
    public let identity: PublicIdentity
    /// What it would be called.
    public let name: String

    /// The replica's ID.
    public var id: ReplicaID { identity.replica }
  }

  /// How far joining by way of a remote is.
  public enum Joining: Sendable {
    /// A request of this identity lies there, and no member has answered it yet.
    case requested(PublicIdentity)
    /// The replica is a member, and knows the remote.
    case joined(Replica)
  }

  /// Asks at a remote to join its group, or joins when a member has answered there with an invitation
  /// (``Remotes/invite(_:name:verification:at:)``). Then the replica knows the remote, and
  /// ``sync(with:isRejoining:isCollecting:maximumBytesPerSecond:progress:)`` brings the rest.
  ///
  /// Makes the folder's identity and keyring when there are none, as ``identity(at:key:postQuantum:)`` does. Calling it
  /// again is always safe: a request is replaced by the same.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - url: The remote's place, as ``Remotes/add(_:at:)`` takes it; a folder or a bucket.
  ///   - remote: What the replica is to call the remote.
  ///   - name: What it would like to be called by the members, who decide: 1 to 64 bytes.
  ///   - inviter: How it is made sure who invites.
  ///   - key: Where the keys are.
  ///   - postQuantum: Whether a new identity has hybrid keys, as those of a post-quantum group must.
  /// - Throws: As ``Remotes/add(_:at:)`` and ``join(at:invitation:inviter:key:)``; `invalidArgument` for a host, which
  ///   keeps no files, and for a name that cannot be one; `unreachable` for a folder, and `refused` for a
  ///   bucket, where no group has its remote.
  public static func join(
    at path: String, remote url: String, calling remote: String = "home", name: String,
    inviter: Member.Verification, key: KeySource = .keyring(), postQuantum: Bool = false
  ) async throws -> Joining {
    try RemoteName.check(local: remote)
    try MemberName.check(name)
    let folder = ReplicaFolder(path, key: key)
    let key = KeySource(of: folder)
    let desk = JoinDesk(try await carrier(at: url), RemotesFolder(path: "\(folder.path)/remotes"))
    let place = try RemoteURL(url).text
    try await BlockingThread.run { try desk.requireMarker(at: place) }
    let identity = try await identity(at: path, key: key, postQuantum: postQuantum)
    try await BlockingThread.run { try requireNoMember(in: folder) }
    let request = JoinRequest(identity: identity, name: name)
    let replica: Replica
    do {
      guard let invitation = try await BlockingThread.run({ try desk.invitation(for: request.id) }) else {
        try await BlockingThread.run { try desk.put(request) }
        return .requested(identity)
      }
      defer { unlink(invitation) }
      replica = try await join(at: path, invitation: .file(invitation), inviter: inviter, key: key)
    } catch let error as GodwitError where error.isOfInvitation {
      try await BlockingThread.run { try desk.put(request) }
      throw GodwitError(
        error.code, error.message, hint: "nothing was stored; the request lies there anew, for a member to answer",
        underlying: error)
    }
    do {
      try await replica.remotes.add(remote, at: url)
    } catch {
      await replica.close()
      throw error
    }
    // They are of no use any more, and harm nobody where they stay.
    try? await BlockingThread.run { try desk.remove(identity.replica) }
    return .joined(replica)
  }

  private static func carrier(at url: String) async throws -> any Carrier {
    let place = try RemoteURL(url)
    guard let carrier = try await BlockingThread.run({ try place.carrier() }) else {
      throw GodwitError(
        .invalidArgument, "a host keeps no requests and invitations, a replica there talks",
        hint: "hand them over as files: godwit identity, godwit member add FILE")
    }
    return carrier
  }

  /// A request of who is a member already would be answered for nothing.
  private static func requireNoMember(in folder: ReplicaFolder) throws {
    guard try Keyring.open(at: folder.keys).group != nil, folder.wasEverOpen else { return }
    throw GodwitError(
      .replicaExists, "the replica in \(folder.path) belongs to a group already",
      hint: "to sync it with the remote: godwit remote add NAME URL")
  }
}

extension Replica.Remotes {
  /// Who asks at a remote to be made a member, at most 1,000, by their IDs. Files there that are no requests are passed
  /// over: anybody who can write there may have put them.
  ///
  /// - Throws: `invalidArgument` for a name that no remote has, and for a host; otherwise as ``add(_:at:)``.
  public func requests(at name: String) async throws -> [Replica.JoinRequest] {
    let desk = try await desk(of: name)
    return try await replica.carrying { try desk.requests(meter: $0) }
  }

  /// Makes a machine that asks at a remote a member, and puts its invitation there. A sync with the remote brings it
  /// what the members have.
  ///
  /// - Parameters:
  ///   - request: One of ``requests(at:)``.
  ///   - name: What the members are to call it; by default what it asks for.
  ///   - verification: How it is made sure whose the identity is.
  ///   - remote: The remote's name.
  /// - Throws: As ``Replica/Members/invite(_:name:verification:to:)`` and ``add(_:at:)``. When the invitation cannot be
  ///   put there the machine may be a member already; inviting it again puts another one.
  public func invite(
    _ request: Replica.JoinRequest, name: String? = nil, verification: Member.Verification, at remote: String
  ) async throws {
    let desk = try await desk(of: remote)
    let file = desk.file(for: request.id)
    try await replica.members.invite(request.identity, name: name ?? request.name, verification: verification) {
      bytes in
      let pending = try PendingFile(replacing: file)
      try pending.write(bytes)
      try pending.commit()
    }
    try await BlockingThread.run { try desk.putInvitation(for: request.identity.replica) }
  }

  private func desk(of name: String) async throws -> JoinDesk {
    let remote = try await remote(named: name)
    let folder = try await replica.remotesFolder()
    return JoinDesk(try await Replica.carrier(at: remote.url), folder)
  }
}

extension GodwitError {
  /// What is wrong with what lies there as the invitation.
  fileprivate var isOfInvitation: Bool {
    [.notARecipient, .corruptFile, .truncatedFile, .invalidSignature, .unsupportedVersion, .limitExceeded]
      .contains(code)
  }
}
