import GodwitBase
import GodwitKeys
import GodwitEngine
import Synchronization

extension Replica.Members {
  /// Takes new keys in the place of this replica's, of the same kind, announced to the group by the old keys and the
  /// new.
  ///
  /// The others believe it with the next sync file of anybody who knows, and seal to the new key then; nobody compares
  /// fingerprints again. The old keys are kept to open what is still sealed to them. The keyring changes in one step.
  /// Make a new backup afterwards: one from before has an identity that is given up.
  ///
  /// - Returns: The new identity.
  /// - Throws: `limitExceeded` when it has been replaced 32 times; `invalidArgument` when this replica was removed.
  @discardableResult
  public func rotateIdentity() async throws -> PublicIdentity {
    try await replica.changeRoster { roster, contents, now in
      let present = contents.identity
      let next = try Identity.generate(replica: present.replica, kind: present.ageIdentity.recipient.kind)
      try roster.replaceIdentity(of: present, by: next, at: now)
      try contents.replaceIdentity(by: next)
    }
    let identity = try await replica.withKeyring { contents, _ in contents.identity.publicIdentity }
    replica.ownIdentity.withLock { $0 = identity }
    return identity
  }
}

extension Roster {
  fileprivate mutating func replaceIdentity(of present: Identity, by next: Identity, at milliseconds: Int64) throws {
    guard var history = self[present.replica]?.history else {
      throw GodwitError(.damagedKeyring, "the keyring does not know its own replica as a member")
    }
    try history.append(next, after: present, group: group, at: milliseconds)
    guard merge(RosterRecords(histories: [history])) else {
      throw GodwitError(
        .limitExceeded, "the group's members have replaced their identities too often",
        hint: "join the group anew from an empty folder, and have this replica removed")
    }
  }
}
