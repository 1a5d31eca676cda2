import GodwitBase
import GodwitKeys
import GodwitEngine
import GodwitStorage

extension Replica {
  /// The replicas of the group, those that were removed included.
  public func members() async throws -> [Member] {
    let own = identity.replica
    return try await withKeyring { _, roster in roster.all.map { Member($0, own: own) } }
  }

  /// The member that a person means: by its replica ID, by what it is called, or by the first four digits or more of
  /// the ID. One that was removed is meant where no other is called so.
  ///
  /// - Throws: `invalidArgument` when that is no member, or several, which the message lists.
  public func member(named name: String) async throws -> Member {
    let own = identity.replica
    return try await withKeyring { _, roster in Member(try roster.member(name), own: own) }
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
  ///   - destination: Where the invitation goes.
  /// - Throws: `unverifiedIdentity` when the identity's fingerprint is another one; `invalidArgument` when the name is
  ///   taken, looks like a taken one or cannot be one, when the identity is this replica's own or an active member's of
  ///   another name, or its keys are not of the group's kind; `limitExceeded` when the group has had 1,024 members;
  ///   what writing the invitation throws. Nobody becomes a member then.
  public func invite(
    _ invited: PublicIdentity, name: String, verification: Member.Verification, to destination: SyncDestination
  ) async throws {
    guard invited.replica != identity.replica else {
      throw GodwitError(
        .invalidArgument, "this is the identity of this very replica",
        hint: "give what godwit identity says on the machine that is to join")
    }
    let folder = folder
    try await BlockingThread.run { try verification.check(invited, of: "the identity") }
    try await changeRoster { roster, contents, now in
      try Self.requireSameKind(invited, as: contents.identity.publicIdentity)
      try Self.add(invited, name: name, to: &roster, by: contents.identity, now)
      let invitation = Invitation(
        group: roster.group, inviter: contents.identity.publicIdentity, records: roster.records)
      let bytes = try invitation.seal(to: invited.recipient, signedBy: contents.identity)
      // Before the keyring says so: nobody becomes a member when the caller gets an error.
      _ = try destination.write(outside: folder) { try $0.write(bytes) }
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
  public func removeMember(named name: String) async throws {
    let replica = try await member(named: name).identity.replica
    let (location, group, wallClock) = (folder.keys, group, wallClock)
    try await withWriter { writer in
      try writer.inTransaction {
        // What is held of it stays; what waits might be what it was removed for.
        try StagedTransactions(connection: writer.connection).remove(of: replica)
        var migrations = try MigrationHistory(writer.connection)
        try migrations.forgetUnused(broughtBy: { $0 == replica }, on: writer.connection)
        // Here, so that no import of what it wrote ends afterwards.
        try Self.changeRoster(at: location, of: group, wallClock) { roster, contents, now in
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
  public func renameMember(named name: String, to newName: String) async throws {
    guard !newName.isEmpty else {
      throw GodwitError(.invalidArgument, "a member cannot be called by nothing", hint: "choose a short name")
    }
    try await changeRoster { roster, contents, now in
      let replica = try roster.activeMember(name).identity.replica
      try roster.requireFree(newName, for: replica)
      try roster.rename(replica, to: newName, by: contents.identity, now)
    }
  }
}

extension Replica {
  /// Changes the roster in the keyring in one step. Throws `invalidArgument` when this replica is no active member
  /// itself: nobody would believe what it states.
  func changeRoster(
    _ change: @escaping @Sendable (inout Roster, inout KeyringContents, _ now: Int64) throws -> Void
  ) async throws {
    let location = folder.keys
    let group = group
    let wallClock = wallClock
    try requireOpen()
    try await BlockingThread.run { try Self.changeRoster(at: location, of: group, wallClock, change) }
  }

  private static func changeRoster(
    at location: KeyringLocation, of group: GroupID, _ wallClock: WallClock,
    _ change: (inout Roster, inout KeyringContents, _ now: Int64) throws -> Void
  ) throws {
    try Keyring.update(at: location) { contents in
      var roster = Roster(group: group, trusted: try contents.roster)
      guard roster[contents.identity.replica]?.isActive == true else {
        throw GodwitError(
          .invalidArgument, "this replica was removed from the group, so the others would not believe it",
          hint: "have a member add it again")
      }
      try change(&roster, &contents, wallClock.milliseconds())
      contents.setRoster(roster.records)
    }
  }

  func withKeyring<Output: Sendable>(
    _ body: @escaping @Sendable (KeyringContents, Roster) throws -> Output
  ) async throws -> Output {
    let location = folder.keys
    let group = group
    try requireOpen()
    return try await BlockingThread.run {
      let contents = try Keyring.open(at: location)
      return try body(contents, Roster(group: group, trusted: try contents.roster))
    }
  }
}
