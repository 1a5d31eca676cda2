import GodwitBase
import GodwitKeys
import GodwitEngine
import GodwitStorage

extension Replica {
  /// The group's members: who belongs to it, how they came, and their incarnations.
  public struct Members: Sendable {
    let replica: Replica
  }

  /// The group's members.
  public var members: Members { Members(replica: self) }
}

extension Replica.Members {
  /// The replicas of the group, those that were removed included.
  public func list() async throws -> [Member] {
    let own = replica.identity.replica
    return try await replica.withKeyring { _, roster in roster.all.map { Member($0, own: own) } }
  }

  /// The member that a person means: by its replica ID, by what it is called, or by the first four digits or more of
  /// the ID. One that was removed is meant where no other is called so.
  ///
  /// - Throws: `invalidArgument` when that is no member, or several, which the message lists.
  public func member(named name: String) async throws -> Member {
    let own = replica.identity.replica
    return try await replica.withKeyring { _, roster in Member(try roster.member(name), own: own) }
  }

  /// Makes another machine a member and writes the invitation that lets it join. Other members learn of it with the
  /// next sync file. For an active member that has the name only an invitation is written.
  ///
  /// An identity says itself whose it is, so somebody may have exchanged it on its way: the fingerprint that its owner
  /// gives in another way proves it.
  ///
  /// - Parameters:
  ///   - invited: What that machine's `Replica.identity(at:)` gave.
  ///   - name: What the members are to call it.
  ///   - verification: How it is made sure whose the identity is.
  ///   - destination: Where the invitation goes; it is one file, of whatever size.
  /// - Throws: `unverifiedIdentity` when the identity's fingerprint is another one; `invalidArgument` when the name is
  ///   taken, looks like a taken one or cannot be one, when the identity is this replica's own or an active member's of
  ///   another name, or its keys are not of the group's kind; `limitExceeded` when the group has had 1,024 members;
  ///   what writing the invitation throws. Nobody becomes a member then.
  public func invite(
    _ invited: PublicIdentity, name: String, verification: Member.Verification, to destination: SyncDestination
  ) async throws {
    let folder = replica.folder
    try await invite(invited, name: name, verification: verification) { bytes in
      try destination.write(bytes, outside: folder)
    }
  }

  /// The same; the invitation goes where the closure writes it.
  func invite(
    _ invited: PublicIdentity, name: String, verification: Member.Verification,
    writing: @escaping @Sendable ([UInt8]) throws -> Void
  ) async throws {
    guard invited.replica != replica.identity.replica else {
      throw GodwitError(
        .invalidArgument, "this is the identity of this very replica",
        hint: "give what godwit identity says on the machine that is to join")
    }
    try await BlockingThread.run { try verification.check(invited, of: "the identity") }
    try await replica.changeRoster { roster, contents, now in
      try Self.requireSameKind(invited, as: contents.identity.publicIdentity)
      try Self.add(invited, name: name, to: &roster, by: contents.identity, now)
      let invitation = Invitation(
        group: roster.group, inviter: contents.identity.publicIdentity, records: roster.records)
      let bytes = try invitation.seal(to: invited.recipient, signedBy: contents.identity)
      // Before the keyring says so: nobody becomes a member when the caller gets an error.
      try writing(bytes)
    }
  }

  /// Nothing to do for an active member of that name.
  private static func add(
    _ invited: PublicIdentity, name: String, to roster: inout Roster, by issuer: Identity, _ now: Int64
  ) throws {
    let known = roster[invited.replica]
    if let known, known.isActive, known.identity == invited {
      guard known.name != name else { return }
      throw GodwitError(
        .invalidArgument, "this machine is a member already, called \(known.name)",
        hint: "add it by that name for another invitation; to call it otherwise: godwit member rename")
    }
    try roster.requireFree(name, for: invited.replica)
    guard roster.hasRoom || known != nil else {
      throw GodwitError(
        .limitExceeded, "the group has had \(RosterRecords.countMax) members, the removed ones counted",
        hint: "found a new group")
    }
    let record = try MemberRecord.issue(
      group: roster.group, identity: invited, name: name, status: .active,
      at: roster.issueTime(about: invited.replica, now), by: issuer, ground: roster.ground(of: issuer.replica))
    guard known?.history.all.contains(invited) ?? true else {
      throw GodwitError(
        .invalidArgument, "another identity is a member under this replica's ID",
        hint: "make a new identity on the invited machine, in an empty folder")
    }
    try roster.take(RosterRecords(members: [record]))
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
  /// sync file. What it holds already it keeps, and what it wrote before stays.
  ///
  /// - Parameter name: What it is called, its replica ID, or the first digits of that.
  /// - Throws: `invalidArgument` when that is no active member, or several, or it is this replica itself.
  public func remove(_ name: String) async throws {
    let removed = try await member(named: name).identity.replica
    let (location, group, wallClock) = (replica.folder.keys, replica.group, replica.wallClock)
    try await replica.withWriter { writer in
      try writer.inTransaction {
        // What is held of it stays; what waits might be what it was removed for.
        try StagedTransactions(connection: writer.connection).remove(of: removed)
        var migrations = try MigrationHistory(writer.connection)
        try migrations.forgetUnused(broughtBy: { $0 == removed }, on: writer.connection)
        // Here, so that no import of what it wrote ends afterwards.
        try Replica.changeRoster(at: location, of: group, wallClock) { roster, contents, now in
          let member = try roster.activeMember(name)
          guard member.identity.replica != contents.identity.replica else {
            throw GodwitError(.invalidArgument, "a replica cannot remove itself", hint: "have another member remove it")
          }
          let record = try roster.removal(of: member, by: contents.identity, at: now)
          try roster.take(RosterRecords(members: [record]))
        }
      }
    }
  }

  /// Gives a member another name, this replica too. Other members learn of it with the next sync file; of two names
  /// given at the same time the later stays.
  ///
  /// - Parameters:
  ///   - name: What it is called, its replica ID, or the first digits of that.
  ///   - newName: What it is to be called; at most 64 bytes.
  /// - Throws: `invalidArgument` when that is no active member, or several, or the new name is taken or cannot
  ///   be one.
  public func rename(_ name: String, to newName: String) async throws {
    guard !newName.isEmpty else {
      throw GodwitError(.invalidArgument, "a member cannot be called by nothing", hint: "choose a short name")
    }
    try await replica.changeRoster { roster, contents, now in
      let renamed = try roster.activeMember(name).identity.replica
      try roster.requireFree(newName, for: renamed)
      try roster.rename(renamed, to: newName, by: contents.identity, now)
    }
  }

  /// What has happened to the group's members, as far as it counts: who founded it, was added, removed and renamed,
  /// took new keys or lapsed, when and by whom, in the order of the times that the records state.
  ///
  /// - Throws: What reading the keyring throws.
  public func log() async throws -> [Member.Change] {
    try await replica.withKeyring { _, roster in roster.changes }
  }
}
