import GodwitBase
import GodwitKeys
import GodwitSyncFile

/// The members of a group, worked out from signed records (Specs/membership.md).
package struct Roster: Sendable {
  /// A replica that is or was a member.
  package struct Entry: Sendable {
    let record: MemberRecord
    /// The identities it has had.
    package let history: IdentityHistory
    package let name: String
    /// The one that is in force.
    package var identity: PublicIdentity { history.current }
    package var status: MemberRecord.Status { record.status }
    package var isActive: Bool { status == .active }
  }

  package let group: GroupID
  private var memberRecords: [ReplicaID: MemberRecord] = [:]
  private var names: [ReplicaID: NameRecord] = [:]
  private var histories: [ReplicaID: IdentityHistory] = [:]

  /// `trusted` comes from the own keyring, or from an invitation whose inviter a person vouches for.
  package init(group: GroupID, trusted: RosterRecords) {
    self.group = group
    for record in trusted.members where record.group == group && record.isInTime { take(record, trusted.histories) }
    for name in trusted.names where name.group == group && name.isInTime { take(name) }
  }

  /// Whether files of the group are sealed to hybrid keys; nil while nobody is known.
  package var isPostQuantum: Bool? { memberRecords.values.first?.identity.isPostQuantum }

  /// All it follows from, each list in the order of the replica IDs.
  package var records: RosterRecords {
    RosterRecords(
      members: memberRecords.values.sorted { $0.subject < $1.subject },
      names: names.values.sorted { $0.subject < $1.subject },
      histories: histories.values.filter { !$0.successors.isEmpty }.sorted { $0.replica < $1.replica })
  }

  /// All who are or were members, in the order of their replica IDs.
  package var all: [Entry] { memberRecords.keys.sorted().compactMap { self[$0] } }

  package var active: [Entry] { all.filter(\.isActive) }

  package subscript(replica: ReplicaID) -> Entry? {
    guard let record = memberRecords[replica], let history = histories[replica] else { return nil }
    let renamed = names[replica].flatMap { $0.issuedAtMilliseconds > record.issuedAtMilliseconds ? $0.name : nil }
    return Entry(record: record, history: history, name: renamed ?? record.name)
  }

  /// When to issue a record about a replica so that it overrules all that is known of it: clocks may be behind.
  func issueTime(about replica: ReplicaID, _ now: Int64) -> Int64 {
    let known = [memberRecords[replica]?.issuedAtMilliseconds, names[replica]?.issuedAtMilliseconds].compactMap { $0 }
    return min(known.reduce(now) { max($0, $1 + 1) }, MemberRecord.issuedBeforeMilliseconds - 1)
  }
}

extension Roster {
  /// Takes in records as far as they count; returns whether anything was new.
  ///
  /// - Parameters:
  ///   - records: What a file says.
  ///   - isVouchedFor: Whether the file has proven to be an active member's. Then it is enough that each record was
  ///     signed by who issued it, with any key of theirs and also before they were removed.
  @discardableResult
  package mutating func merge(_ records: RosterRecords, isVouchedFor: Bool = false) -> Bool {
    let before = self.records
    for history in records.histories { extend(by: history) }
    // What is known needs no proof again. Only a founder vouches for itself, and founders come with the keyring or the
    // invitation.
    var members = records.members.filter { memberRecords[$0.subject] != $0 && $0.issuer != $0.subject }
    var isProgressing = true
    while isProgressing {
      isProgressing = false
      for record in removeCounting(&members, isVouchedFor) where take(record, records.histories) {
        isProgressing = true
      }
    }
    var renames = records.names.filter { names[$0.subject] != $0 }
    for name in removeCounting(&renames, isVouchedFor) { take(name) }
    return self.records != before
  }

  /// Takes out the records that count, and those that never will: so each signature is checked once. What is left
  /// waits for its issuer to be known, or active.
  private func removeCounting<Record: SignedRecord>(
    _ records: inout [Record], _ isVouchedFor: Bool
  ) -> [Record] {
    var counting: [Record] = []
    records.removeAll { record in
      guard let issuer = self[record.issuer], issuer.isActive || isVouchedFor else { return false }
      if record.group == group, record.isInTime, Self.isSigned(record, by: issuer, orFormerly: isVouchedFor) {
        counting.append(record)
      }
      return true
    }
    return counting
  }

  private static func isSigned(_ record: some SignedRecord, by issuer: Entry, orFormerly: Bool) -> Bool {
    orFormerly ? issuer.history.all.contains(where: record.isSigned) : record.isSigned(by: issuer.identity)
  }

  private mutating func extend(by told: IdentityHistory) {
    guard var history = histories[told.replica], history.extend(by: told, group: group) else { return }
    let count = successorCount - (histories[told.replica]?.successors.count ?? 0) + history.successors.count
    guard count <= Self.successorCountMax else { return }
    histories[told.replica] = history
  }

  private var successorCount: Int { histories.values.reduce(0) { $0 + $1.successors.count } }
  /// What one member makes must not fill the keyrings and files of all.
  private static let successorCountMax = 4_096

  /// Whether a statement is its maker's, who is an active member, by the key that is in force.
  func isSigned(_ statement: SignedStatement) -> Bool {
    guard let maker = self[statement.subject], maker.isActive, statement.isInTime else { return false }
    return statement.isSigned(by: maker.identity)
  }

  /// Whether every record was signed by one that is or was a member, or founded the group.
  var isSigned: Bool {
    func isSigned(_ record: some SignedRecord) -> Bool {
      self[record.issuer].map { Self.isSigned(record, by: $0, orFormerly: true) } ?? false
    }
    return memberRecords.values.allSatisfy(isSigned) && names.values.allSatisfy(isSigned)
  }

  @discardableResult
  private mutating func take(_ record: MemberRecord, _ told: [IdentityHistory]) -> Bool {
    guard isPostQuantum ?? record.identity.isPostQuantum == record.identity.isPostQuantum else { return false }
    if let known = memberRecords[record.subject] {
      guard histories[record.subject]?.all.contains(record.identity) == true, Self.isLater(record, than: known) else {
        return false
      }
    } else {
      guard hasRoom else { return false }
      histories[record.subject] = history(of: record, told)
    }
    memberRecords[record.subject] = record
    return true
  }

  /// Whether one more can become a member. A roster that no header and no invitation can hold would stop its group.
  var hasRoom: Bool { memberRecords.count < RosterRecords.countMax }

  /// Of a replica that was not known.
  private func history(of record: MemberRecord, _ told: [IdentityHistory]) -> IdentityHistory {
    let room = Self.successorCountMax - successorCount
    return told.first {
      $0.all.contains(record.identity) && $0.successors.count <= room && $0.isSound(in: group)
    } ?? IdentityHistory(record.identity)
  }

  @discardableResult
  private mutating func take(_ name: NameRecord) -> Bool {
    guard memberRecords[name.subject] != nil else { return false }
    if let known = names[name.subject], !Self.isLater(name, than: known) { return false }
    names[name.subject] = name
    return true
  }

  /// At equal times a removal beats an addition.
  private static func isLater(_ new: MemberRecord, than old: MemberRecord) -> Bool {
    guard new.issuedAtMilliseconds == old.issuedAtMilliseconds, new.status != old.status else {
      return isLater(new as any SignedRecord, than: old)
    }
    return new.status == .removed
  }

  private static func isLater(_ new: any SignedRecord, than old: any SignedRecord) -> Bool {
    guard new.issuedAtMilliseconds == old.issuedAtMilliseconds else {
      return new.issuedAtMilliseconds > old.issuedAtMilliseconds
    }
    return old.signature.lexicographicallyPrecedes(new.signature)
  }
}
