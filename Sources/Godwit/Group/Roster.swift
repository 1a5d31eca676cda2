import GodwitBase
import GodwitKeys

/// The members of a group, worked out from signed records (Specs/keyring.md, "Members").
///
/// A record counts when a member signed it. Of several about one replica the latest counts, and a removal beats an
/// addition of the same time. A replica's keys never change: a record with other keys for a known replica is ignored,
/// and so is one with keys of another kind than the group's, which would weaken every later file.
package struct Roster: Sendable {
  package private(set) var records: [ReplicaID: MemberRecord] = [:]
  package let group: GroupID

  /// `trusted` comes from the own keyring or from an invitation that a person handed over.
  package init(group: GroupID, trusted: [MemberRecord]) {
    self.group = group
    for record in trusted where record.group == group { take(record) }
  }

  /// Takes in records from a file, as far as members signed them; returns whether anything was new.
  @discardableResult
  package mutating func merge(_ candidates: [MemberRecord]) -> Bool {
    var isChanged = false
    // What is known needs no proof again.
    var rest = candidates.filter { $0.group == group && records[$0.identity.replica] != $0 }
    while true {
      let accepted = rest.filter { record in
        // Only a founder vouches for itself, and founders come with the invitation.
        guard record.issuer != record.identity.replica, let issuer = records[record.issuer] else { return false }
        // What a member signed before it was removed stays good, or its removal would cut off those it invited.
        guard issuer.status == .active || record.issuedAtMilliseconds < issuer.issuedAtMilliseconds else { return false }
        return record.isSigned(by: issuer.identity)
      }
      guard !accepted.isEmpty else { return isChanged }
      for record in accepted where take(record) { isChanged = true }
      rest.removeAll { accepted.contains($0) }
    }
  }

  /// Whether files of the group are sealed to hybrid keys; nil while nobody is known.
  package var isPostQuantum: Bool? { records.values.first?.identity.isPostQuantum }

  @discardableResult
  private mutating func take(_ record: MemberRecord) -> Bool {
    guard isPostQuantum ?? record.identity.isPostQuantum == record.identity.isPostQuantum else { return false }
    if let known = records[record.identity.replica] {
      guard known.identity == record.identity, Self.isLater(record, than: known) else { return false }
    }
    records[record.identity.replica] = record
    return true
  }

  private static func isLater(_ new: MemberRecord, than old: MemberRecord) -> Bool {
    if new.issuedAtMilliseconds != old.issuedAtMilliseconds {
      return new.issuedAtMilliseconds > old.issuedAtMilliseconds
    }
    if new.status != old.status { return new.status == .removed }
    return old.signature.lexicographicallyPrecedes(new.signature)
  }

  /// All records, in the order of their replica IDs.
  package var sorted: [MemberRecord] { records.values.sorted { $0.identity.replica < $1.identity.replica } }

  package var active: [MemberRecord] { sorted.filter { $0.status == .active } }

  /// The member's identity, or an `unknownSender` error.
  package func identity(of sender: ReplicaID) throws -> PublicIdentity {
    if let record = records[sender], record.status == .removed {
      throw GodwitError(
        .unknownSender, "the file was made by \(record.name), which was removed from this group",
        hint: "to let it back in: godwit member add; it then imports a snapshot with --rejoin, which keeps its changes")
    }
    guard let record = records[sender] else {
      throw GodwitError(
        .unknownSender, "the file was made by \(sender), which is no member of this group",
        hint: "a member adds it with: godwit member add IDENTITY")
    }
    return record.identity
  }
}
