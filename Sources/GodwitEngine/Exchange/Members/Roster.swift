import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitSyncFile

/// The members of a group, worked out from signed records (Specs/membership.md).
package struct Roster: Sendable {
  /// A replica that is or was a member.
  package struct Entry: Sendable {
    /// The one that decides.
    let record: MemberRecord
    /// The identities it has had.
    package let history: IdentityHistory
    package let name: String
    package let isActive: Bool
    /// The one that is in force.
    package var identity: PublicIdentity { history.current }
  }

  package let group: GroupID
  package private(set) var evaluation = RosterEvaluation(members: [:], names: [:], founder: nil)
  /// All records whose grounds lead to the founder's, by their hashes.
  package private(set) var memberRecords: [ContentHash: MemberRecord] = [:]
  package private(set) var nameRecords: [ContentHash: NameRecord] = [:]
  private var histories: [ReplicaID: IdentityHistory] = [:]
  /// The record by which the group was founded.
  private var founder: ContentHash?
  /// Of each replica the hash of the member record that decides, and of the name.
  private(set) var deciding: [ReplicaID: ContentHash] = [:]
  package private(set) var decidingNames: [ReplicaID: ContentHash] = [:]
  /// All it follows from.
  package private(set) var records = RosterRecords()
  /// All who are or were members, in the order of their replica IDs.
  package private(set) var all: [Entry] = []

  /// `trusted` comes from the own keyring, or from an invitation whose inviter a person vouches for.
  package init(group: GroupID, trusted: RosterRecords) {
    self.group = group
    let members = trusted.allMembers.filter { $0.group == group && $0.isInTime }
    let roots = members.filter { $0.issuer == $0.subject && $0.status == .active }.map { ($0, $0.hash) }
    let root = roots.min { isEarlier($0.0, $0.1, $1.0, $1.1) }
    guard let root else { return }
    founder = root.1
    memberRecords[root.1] = root.0
    histories[root.0.subject] = history(of: root.0, trusted.histories)
    for record in members { take(record, record.hash, trusted.histories) }
    for name in trusted.allNames where name.group == group && name.isInTime { nameRecords[name.hash] = name }
    evaluate()
  }

  /// Whether files of the group are sealed to hybrid keys; nil while nobody is known.
  package var isPostQuantum: Bool? { founder.flatMap { memberRecords[$0] }?.identity.isPostQuantum }

  package var active: [Entry] { all.filter(\.isActive) }

  package subscript(replica: ReplicaID) -> Entry? {
    guard let hash = deciding[replica], let record = memberRecords[hash], let history = histories[replica] else {
      return nil
    }
    let name = decidingNames[replica].flatMap { nameRecords[$0] }
    let renamed = name.flatMap { $0.issuedAtMilliseconds > record.issuedAtMilliseconds ? $0.name : nil }
    return Entry(
      record: record, history: history, name: renamed ?? record.name,
      isActive: record.status == .active && evaluation.counting.contains(hash))
  }

  /// When to issue a record about a replica so that it overrules all that is known of it: clocks may be behind.
  package func issueTime(about replica: ReplicaID, _ now: Int64) -> Int64 {
    let known = [
      deciding[replica].flatMap { memberRecords[$0] }?.issuedAtMilliseconds,
      decidingNames[replica].flatMap { nameRecords[$0] }?.issuedAtMilliseconds,
    ].compactMap { $0 }
    return min(known.reduce(now) { max($0, $1 + 1) }, MemberRecord.issuedBeforeMilliseconds - 1)
  }

  /// What a record that a member issues now stands on: of the additions that count since it was removed last the
  /// earliest. So whoever states once more that it is a member does not get what it states into its hands.
  package func ground(of issuer: ReplicaID) -> ContentHash? {
    let counting = memberRecords.filter { $0.value.subject == issuer && evaluation.counting.contains($0.key) }
    let removed = counting.values.filter { $0.status == .removed }.map(\.issuedAtMilliseconds).max() ?? .min
    let additions = counting.filter { $0.value.status == .active && $0.value.issuedAtMilliseconds > removed }
      .map { (time: earliestTime(of: $0.value), hash: $0.key) }
    let ground =
      additions.min { left, right in
        left.time == right.time
          ? left.hash.bytes.lexicographicallyPrecedes(right.hash.bytes) : left.time < right.time
      }?.hash ?? deciding[issuer]
    return ground == founder ? nil : ground
  }

  /// When a record can have been issued at the earliest: not ahead of what it stands on, whatever its date.
  private func earliestTime(of record: MemberRecord) -> Int64 {
    var (time, next) = (record.issuedAtMilliseconds, record.ground ?? founder)
    while let hash = next, let ground = memberRecords[hash] {
      time = max(time, ground.issuedAtMilliseconds)
      next = hash == founder ? nil : ground.ground ?? founder
    }
    return time
  }
}

extension Roster {
  /// Takes in records; returns whether anything was new.
  ///
  /// - Parameters:
  ///   - records: What a file says.
  ///   - isVouchedFor: Whether the file has proven to be an active member's. Then a record may be signed with any key
  ///     that its issuer ever had; otherwise with the present one.
  @discardableResult
  package mutating func merge(_ records: RosterRecords, isVouchedFor: Bool = false) -> Bool {
    // Most files say what is known. Without a founder there is nobody to be believed.
    guard records != self.records, founder != nil else { return false }
    let before = self.records
    let hasLonger = records.histories.reduce(false) { extend(by: $1) || $0 }
    var members = unknown(records.allMembers, memberRecords).filter { $0.1.issuer != $0.1.subject }
      .sorted { isEarlier($0.1, $0.0, $1.1, $1.0) }
    guard hasLonger || !members.isEmpty || !unknown(records.allNames, nameRecords).isEmpty else { return false }
    while true {
      let signed = removeSigned(&members, orFormerly: isVouchedFor) { roster, record in
        record.status == .active || roster.histories[record.subject] != nil
      }
      guard !signed.isEmpty else { break }
      for (hash, record) in signed { take(record, hash, records.histories) }
    }
    // Who lost its place lost its name, too.
    var names = unknown(records.allNames, nameRecords)
    let signed = removeSigned(&names, orFormerly: isVouchedFor) { $0.histories[$1.subject] != nil }
    for (hash, name) in signed { nameRecords[hash] = name }
    evaluate()
    return self.records != before
  }

  private func unknown<Record: SignedRecord>(
    _ records: [Record], _ known: [ContentHash: Record]
  ) -> [(ContentHash, Record)] {
    records.filter { $0.group == group && $0.isInTime }.map { ($0.hash, $0) }.filter { known[$0.0] == nil }
  }

  /// Takes out the records that are their issuers', and those that never will be: so each signature is checked once.
  /// What is left waits for its issuer to be known, or whom it is about.
  private func removeSigned<Record: SignedRecord>(
    _ records: inout [(ContentHash, Record)], orFormerly: Bool, where isReady: (Roster, Record) -> Bool
  ) -> [(ContentHash, Record)] {
    var signed: [(ContentHash, Record)] = []
    records.removeAll { hash, record in
      guard let issuer = histories[record.issuer], isReady(self, record) else { return false }
      if Self.isSigned(record, by: issuer, orFormerly: orFormerly) { signed.append((hash, record)) }
      return true
    }
    return signed
  }

  private static func isSigned(_ record: some SignedRecord, by issuer: IdentityHistory, orFormerly: Bool) -> Bool {
    orFormerly ? issuer.all.contains(where: record.isSigned) : record.isSigned(by: issuer.current)
  }

  /// Returns whether that made a history longer.
  private mutating func extend(by stated: IdentityHistory) -> Bool {
    guard var history = histories[stated.replica], history.extend(by: stated, group: group) else { return false }
    let count = successorCount - (histories[stated.replica]?.successors.count ?? 0) + history.successors.count
    guard count <= Self.successorCountMax else { return false }
    histories[stated.replica] = history
    return true
  }

  private var successorCount: Int { histories.values.reduce(0) { $0 + $1.successors.count } }
  /// What one member makes must not fill the keyrings and files of all.
  private static let successorCountMax = 4_096

  /// Whether an acknowledgement is its maker's, who is an active member, by the key that is in force.
  package func isSigned(_ acknowledgement: SignedAcknowledgement) -> Bool {
    guard let maker = self[acknowledgement.subject], maker.isActive, acknowledgement.isInTime else { return false }
    return acknowledgement.isSigned(by: maker.identity)
  }

  /// Whether an acknowledgement is its maker's and names nobody but members: one that names others would keep history
  /// for ever.
  func isTrusted(_ acknowledgement: SignedAcknowledgement) -> Bool {
    isSigned(acknowledgement) && acknowledgement.members.keys.allSatisfy { self[$0] != nil }
  }

  /// Whether every record was signed by one that is or was a member, or founded the group.
  var isSigned: Bool {
    func isSigned(_ record: some SignedRecord) -> Bool {
      histories[record.issuer].map { Self.isSigned(record, by: $0, orFormerly: true) } ?? false
    }
    return memberRecords.values.allSatisfy(isSigned) && nameRecords.values.allSatisfy(isSigned)
  }

  /// Holds a record about a replica that is known by this identity, or is not known yet.
  private mutating func take(_ record: MemberRecord, _ hash: ContentHash, _ stated: [IdentityHistory]) {
    guard isPostQuantum == record.identity.isPostQuantum else { return }
    if let history = histories[record.subject] {
      guard history.all.contains(record.identity) || takePlace(record, stated) else { return }
    } else {
      guard histories.count < RosterRecords.countMax || dropLapsed() else { return }
      histories[record.subject] = history(of: record, stated)
    }
    memberRecords[hash] = record
  }

  /// One of which no record counts keeps nobody else from its replica ID.
  private mutating func takePlace(_ record: MemberRecord, _ stated: [IdentityHistory]) -> Bool {
    let ground = record.ground ?? founder ?? .zero
    guard let hash = deciding[record.subject], !evaluation.counting.contains(hash),
      evaluation.counting.contains(ground), self[record.issuer]?.isActive == true
    else { return false }
    drop(record.subject)
    histories[record.subject] = history(of: record, stated)
    return true
  }

  /// Makes room for a member by forgetting one of which no record counts; returns whether there was one.
  private mutating func dropLapsed() -> Bool {
    guard let lapsed = deciding.filter({ !evaluation.counting.contains($0.value) }).keys.min() else { return false }
    drop(lapsed)
    return true
  }

  private mutating func drop(_ replica: ReplicaID) {
    histories[replica] = nil
    memberRecords = memberRecords.filter { $0.value.subject != replica && $0.value.issuer != replica }
    nameRecords = nameRecords.filter { $0.value.subject != replica && $0.value.issuer != replica }
    deciding[replica] = nil
    decidingNames[replica] = nil
  }

  /// Whether one more can become a member. A roster that no header and no invitation can hold would stop its group.
  package var hasRoom: Bool {
    deciding.count < RosterRecords.countMax || deciding.values.contains { !evaluation.counting.contains($0) }
  }

  /// Of a replica that was not known.
  private func history(of record: MemberRecord, _ stated: [IdentityHistory]) -> IdentityHistory {
    let room = Self.successorCountMax - successorCount
    return stated.first {
      $0.all.contains(record.identity) && $0.successors.count <= room && $0.isSound(in: group)
    } ?? IdentityHistory(record.identity)
  }

  /// Works out what counts, and drops what decides nothing.
  private mutating func evaluate() {
    var lacksRoom = true
    while lacksRoom {
      evaluation = RosterEvaluation(members: memberRecords, names: nameRecords, founder: founder)
      memberRecords = memberRecords.filter { evaluation.grounded.contains($0.key) }
      nameRecords = nameRecords.filter { evaluation.grounded.contains($0.key) && histories[$0.value.subject] != nil }
      let pruning = RosterPruning(memberRecords, nameRecords, evaluation)
      (memberRecords, nameRecords) = (pruning.members, pruning.names)
      (deciding, decidingNames) = (pruning.deciding, pruning.decidingNames)
      let known = Set(memberRecords.values.map(\.subject))
      histories = histories.filter { known.contains($0.key) }
      lacksRoom = pruning.lacksRoom
    }
    all = deciding.keys.sorted().compactMap { self[$0] }
    records = decidingRecords()
  }

  private func decidingRecords() -> RosterRecords {
    let (members, names) = (Set(deciding.values), Set(decidingNames.values))
    return RosterRecords(
      members: members.compactMap { memberRecords[$0] }.sorted { $0.subject < $1.subject },
      names: names.compactMap { nameRecords[$0] }.sorted { $0.subject < $1.subject },
      histories: histories.values.filter { !$0.successors.isEmpty }.sorted { $0.replica < $1.replica },
      furtherMembers: Self.further(memberRecords, members), furtherNames: Self.further(nameRecords, names),
      lapsed: all.filter { !evaluation.counting.contains(deciding[$0.identity.replica] ?? .zero) }
        .map(\.identity.replica))
  }

  private static func further<Record: SignedRecord>(
    _ records: [ContentHash: Record], _ deciding: Set<ContentHash>
  ) -> [Record] {
    records.filter { !deciding.contains($0.key) }
      .sorted { RosterRecords.precedes(($0.value.subject, $0.key), ($1.value.subject, $1.key)) }.map(\.value)
  }
}

/// The order in which records are weighed where it must be the same everywhere.
func isEarlier(
  _ left: some SignedRecord, _ leftHash: ContentHash, _ right: some SignedRecord, _ rightHash: ContentHash
) -> Bool {
  left.issuedAtMilliseconds == right.issuedAtMilliseconds
    ? leftHash.bytes.lexicographicallyPrecedes(rightHash.bytes)
    : left.issuedAtMilliseconds < right.issuedAtMilliseconds
}
