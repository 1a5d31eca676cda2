import GodwitBase
import GodwitCrypto
import GodwitKeys

/// Which records of a roster decide, and which others it continues to hold: those that show what counts
/// (Specs/membership.md, "What is kept").
struct RosterPruning {
  private(set) var members: [ContentHash: MemberRecord] = [:]
  private(set) var names: [ContentHash: NameRecord] = [:]
  /// Of each replica the record that decides.
  private(set) var deciding: [ReplicaID: ContentHash] = [:]
  private(set) var decidingNames: [ReplicaID: ContentHash] = [:]

  /// Whether something went that would have been kept had there been room: what is left is to be weighed anew.
  private(set) var lacksRoom = false

  private let evaluation: RosterEvaluation

  /// Of what one issuer said of one replica, in one capacity, the latest is kept.
  private struct Place: Hashable {
    let subject: ReplicaID
    let issuer: ReplicaID
    let ground: ContentHash?
    let status: MemberRecord.Status?
  }

  /// Of records of which each stands on the founder's.
  init(
    _ held: [ContentHash: MemberRecord], _ heldNames: [ContentHash: NameRecord], _ evaluation: RosterEvaluation
  ) {
    self.evaluation = evaluation
    deciding = decide(held)
    decidingNames = decide(heldNames).filter { deciding[$0.key] != nil && evaluation.counting.contains($0.value) }
    var staying: Set<ContentHash> = []
    for record in held.values {
      staying.formUnion(record.staying.lazy.filter { held[$0] != nil || heldNames[$0] != nil })
    }
    keepNames(heldNames, staying)
    keepMembers(held, staying)
  }

  private mutating func keepMembers(_ held: [ContentHash: MemberRecord], _ staying: Set<ContentHash>) {
    var kept = Set(latest(held) { $0.status }).union(staying.filter { held[$0] != nil })
    kept.formUnion(deciding.values)
    // What they stand on is part of them.
    var waiting = kept.compactMap { held[$0]?.ground } + names.values.compactMap(\.ground)
    waiting += held.filter { $0.value.issuer == $0.value.subject }.keys
    while let ground = waiting.popLast() {
      guard let record = held[ground], kept.insert(ground).inserted, let next = record.ground else { continue }
      waiting.append(next)
    }
    members = held.filter { kept.contains($0.key) }
    boundFurther(kept.subtracting(deciding.values))
  }

  /// Those that decide are bounded by the members there may be, and each removal by what it may name; the others by
  /// their number, and by what they name together.
  private mutating func boundFurther(_ further: Set<ContentHash>) {
    if further.count > RosterRecords.furtherCountMax {
      lacksRoom = true
      let needed = mostNeeded(further, members, Set(members.values.compactMap(\.ground)))
      for hash in needed.dropFirst(RosterRecords.furtherCountMax) { members[hash] = nil }
    }
    let removals = further.compactMap { hash in members[hash].map { (hash: hash, count: $0.staying.count) } }
    var count = removals.reduce(0) { $0 + $1.count }
    guard count > RosterRecords.furtherNamedMax else { return }
    lacksRoom = true
    // Those that name little are nobody's means to fill a keyring.
    func goesFirst(_ left: (hash: ContentHash, count: Int), _ right: (hash: ContentHash, count: Int)) -> Bool {
      let counts = (evaluation.counting.contains(left.hash), evaluation.counting.contains(right.hash))
      guard counts.0 == counts.1 else { return counts.1 }
      return left.count == right.count
        ? left.hash.bytes.lexicographicallyPrecedes(right.hash.bytes) : left.count > right.count
    }
    for removal in removals.sorted(by: goesFirst) where count > RosterRecords.furtherNamedMax && removal.count > 0 {
      members[removal.hash] = nil
      count -= removal.count
    }
  }

  private mutating func keepNames(_ held: [ContentHash: NameRecord], _ staying: Set<ContentHash>) {
    let kept = Set(latest(held) { _ in nil }).union(staying.filter { held[$0] != nil }).union(decidingNames.values)
    let further = mostNeeded(kept.subtracting(decidingNames.values), held, [])
    if further.count > RosterRecords.furtherCountMax { lacksRoom = true }
    let most = Set(further.prefix(RosterRecords.furtherCountMax)).union(decidingNames.values)
    names = held.filter { most.contains($0.key) }
  }

  /// First those that others stand on, then those that count, the latest first.
  private func mostNeeded<Record: SignedRecord>(
    _ hashes: Set<ContentHash>, _ records: [ContentHash: Record], _ grounds: Set<ContentHash>
  ) -> [ContentHash] {
    func rank(_ hash: ContentHash) -> Int {
      (evaluation.counting.contains(hash) ? 2 : 0) + (grounds.contains(hash) ? 1 : 0)
    }
    return hashes.map { (hash: $0, rank: rank($0)) }.sorted { left, right in
      guard left.rank == right.rank, let first = records[left.hash], let second = records[right.hash] else {
        return left.rank > right.rank
      }
      return isEarlier(second, right.hash, first, left.hash)
    }.map(\.hash)
  }

  private func latest<Record: GroundedRecord>(
    _ held: [ContentHash: Record], _ status: (Record) -> MemberRecord.Status?
  ) -> [ContentHash] {
    var latest: [Place: (hash: ContentHash, record: Record)] = [:]
    for (hash, record) in held {
      let place = Place(
        subject: record.subject, issuer: record.issuer, ground: record.ground, status: status(record))
      if let other = latest[place], !Self.isLater(record, than: other.record) { continue }
      latest[place] = (hash, record)
    }
    return latest.values.map(\.hash)
  }

  /// The latest that counts; where none does the latest.
  private func decide<Record: GroundedRecord>(_ held: [ContentHash: Record]) -> [ReplicaID: ContentHash] {
    var deciding: [ReplicaID: (hash: ContentHash, record: Record)] = [:]
    for (hash, record) in held {
      guard let other = deciding[record.subject] else {
        deciding[record.subject] = (hash, record)
        continue
      }
      let (counts, othersCounts) = (evaluation.counting.contains(hash), evaluation.counting.contains(other.hash))
      guard counts == othersCounts ? Self.isLater(record, than: other.record) : counts else { continue }
      deciding[record.subject] = (hash, record)
    }
    return deciding.mapValues(\.hash)
  }

  /// At equal times a removal beats an addition, then the greater signature.
  private static func isLater(_ new: some SignedRecord, than old: some SignedRecord) -> Bool {
    guard new.issuedAtMilliseconds == old.issuedAtMilliseconds else {
      return new.issuedAtMilliseconds > old.issuedAtMilliseconds
    }
    if let new = new as? MemberRecord, let old = old as? MemberRecord, new.status != old.status {
      return new.status == .removed
    }
    return old.signature.lexicographicallyPrecedes(new.signature)
  }
}
