import Foundation
import GodwitBase
import GodwitKeys

extension Member {
  /// Somebody who came into the group, went, or is called otherwise, and by whom (Specs/membership.md, "What counts").
  public struct Change: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable {
      /// The group was founded by the member.
      case founded
      /// Became a member, for the first time or again.
      case added
      /// Was removed.
      case removed
      /// Is no member any more, or never was, because who let it in was removed, and the removal does not name it.
      case lapsed
      /// Is called by another name.
      case renamed
      /// Took new keys.
      case rotated
    }

    /// What happened.
    public let kind: Kind
    /// To whom.
    public let replica: ReplicaID
    /// What it is called by that.
    public let name: String
    /// What it was called before it was renamed, where that is known; nil for anything else.
    public let formerName: String?
    /// The member that stated it; of one that lapsed the member that stated the removal.
    public let issuer: ReplicaID
    /// In milliseconds since 1970 UTC.
    package let milliseconds: Int64
    /// When, by the issuer's clock.
    public var time: Date { Date(milliseconds: milliseconds) }
  }
}

extension Roster {
  /// What is different from an earlier state, in the order of replica IDs.
  func changes(since earlier: Roster) -> [Member.Change] {
    all.flatMap { entry -> [Member.Change] in
      let before = earlier[entry.identity.replica]
      var changes: [Member.Change] = []
      if entry.isActive != (before?.isActive ?? false) || before == nil { changes.append(standing(entry)) }
      if entry.isActive, let before, before.isActive, before.name != entry.name {
        changes.append(naming(entry, formerly: before.name))
      }
      if let before, before.identity != entry.identity { changes += rotations(entry, after: before.history) }
      return changes
    }
  }

  /// Every record that counts, in the order of the times that they state, and who has lapsed.
  package var changes: [Member.Change] {
    let counting = memberRecords.filter { evaluation.counting.contains($0.key) }.values
    var changes = counting.map(Member.Change.init)
    changes += nameRecords.filter { evaluation.counting.contains($0.key) }.values.map { Member.Change($0) }
    for entry in all {
      if !evaluation.counting.contains(deciding[entry.identity.replica] ?? .zero) { changes.append(standing(entry)) }
      changes += rotations(entry, after: IdentityHistory(entry.history.first))
    }
    return changes.sorted { left, right in
      (left.milliseconds, left.replica, left.kind.rawValue) < (right.milliseconds, right.replica, right.kind.rawValue)
    }
  }

  /// By what somebody is a member or not.
  private func standing(_ entry: Entry) -> Member.Change {
    guard let hash = deciding[entry.identity.replica], !evaluation.counting.contains(hash),
      let removal = evaluation.voider[hash].flatMap({ memberRecords[$0] })
    else { return Member.Change(entry.record, name: entry.name) }
    return Member.Change(
      kind: .lapsed, replica: entry.identity.replica, name: entry.name, formerName: nil, issuer: removal.issuer,
      milliseconds: removal.issuedAtMilliseconds)
  }

  private func naming(_ entry: Entry, formerly: String) -> Member.Change {
    let renaming = decidingNames[entry.identity.replica].flatMap { nameRecords[$0] }
    guard let renaming, renaming.name == entry.name else {
      return Member.Change(
        kind: .renamed, replica: entry.identity.replica, name: entry.name, formerName: formerly,
        issuer: entry.record.issuer,
        milliseconds: entry.record.issuedAtMilliseconds)
    }
    return Member.Change(renaming, formerly: formerly)
  }

  private func rotations(_ entry: Entry, after known: IdentityHistory) -> [Member.Change] {
    entry.history.successors.dropFirst(known.successors.count).map { successor in
      Member.Change(
        kind: .rotated, replica: entry.identity.replica, name: entry.name, formerName: nil,
        issuer: entry.identity.replica,
        milliseconds: successor.issuedAtMilliseconds)
    }
  }
}

extension Member.Change {
  fileprivate init(_ record: MemberRecord) { self.init(record, name: record.name) }

  fileprivate init(_ record: MemberRecord, name: String) {
    let kind: Kind =
      switch record.status {
      case .removed: .removed
      case .active: record.issuer == record.subject ? .founded : .added
      }
    self.init(
      kind: kind, replica: record.subject, name: name, formerName: nil, issuer: record.issuer,
      milliseconds: record.issuedAtMilliseconds)
  }

  fileprivate init(_ record: NameRecord, formerly: String? = nil) {
    self.init(
      kind: .renamed, replica: record.subject, name: record.name, formerName: formerly, issuer: record.issuer,
      milliseconds: record.issuedAtMilliseconds)
  }
}
