import Godwit
import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// What is said of others.
extension HostileForge {
  private var honestRanges: [SyncFileHeader.Range] {
    draft.source.ranges.filter { !HostileMember.replicas.contains($0.origin.replica) }
  }

  private func written(_ range: SyncFileHeader.Range) -> [TransactionRecord] {
    draft.sourceRecords.filter { $0.dot.origin == range.origin }
  }

  /// What it has been sent, as it was; or a part of it, of which nothing is proven then.
  mutating func relay() {
    for range in honestRanges where generator.chance(oneIn: 2) { draft.append(range, written(range)) }
    order()
  }

  /// A further transaction of somebody else's, or one of an incarnation that there is not, under a proof of its own
  /// making.
  mutating func invent() throws {
    let changes = random(at: Int(draft.source.schemaVersion), nil)
    var origin =
      draft.source.vector.origins.filter { !HostileMember.replicas.contains($0.replica) }
      .randomElement(using: &generator) ?? Origin(replica: draft.source.sender, incarnation: 5)
    if generator.chance(oneIn: 3) { origin = Origin(replica: origin.replica, incarnation: 7) }
    if generator.chance(oneIn: 6) { origin = Origin(replica: HostileMember.replica(66), incarnation: 1) }
    let before = draft.source.vector[origin]
    let chain = draft.chains[origin]?.chain ?? .zero
    let known = draft.sourceRecords.last { $0.dot.origin == origin }
    let record = TransactionRecord(
      dot: Dot(origin, before.next), hlc: HLC(milliseconds: now), schemaVersion: draft.source.schemaVersion,
      context: draft.source.vector.replacing([origin: .none]), changes: changes)
    let end = chain.followed(by: record.digest())
    let head = try SignedHead.issue(group: member.group, origin, before.next, end, by: face.identity)
    draft.append(
      SyncFileHeader.Range(
        origin: origin, first: before.next, last: before.next, chainBefore: before == .none ? .zero : chain,
        chainAtEnd: end, contextAtFirst: before == .none ? VersionVector() : known?.context ?? VersionVector(),
        proof: HeadProof(signature: head.signature)), [record])
  }

  /// The last transaction of a range is another, or its context is; the chain is made anew or left, the proof is the
  /// true one.
  mutating func alter() {
    guard let range = honestRanges.randomElement(using: &generator), let last = written(range).last else {
      return relay()
    }
    let other = random(at: Int(draft.source.schemaVersion), nil)
    let isContext = generator.chance(oneIn: 3)
    let record = TransactionRecord(
      dot: last.dot, hlc: last.hlc, schemaVersion: last.schemaVersion,
      context: isContext ? VersionVector() : last.context,
      changes: isContext ? last.changes : other)
    let records = written(range).dropLast() + [record]
    let chain = records.reduce(range.chainBefore) { $0.followed(by: $1.digest()) }
    let isMadeAnew = generator.chance(oneIn: 2)
    draft.append(
      SyncFileHeader.Range(
        origin: range.origin, first: range.first, last: range.last, chainBefore: range.chainBefore,
        chainAtEnd: isMadeAnew ? chain : range.chainAtEnd, contextAtFirst: range.contextAtFirst, proof: range.proof),
      records)
    for further in honestRanges where further.origin != range.origin && generator.chance(oneIn: 2) {
      draft.append(further, written(further))
    }
    order()
  }

  /// Causes first, as an honest file has them: the source's order.
  private mutating func order() {
    var rest = draft.records
    draft.records =
      draft.sourceRecords.compactMap { record in
        rest.firstIndex { $0.dot == record.dot }.map { rest.remove(at: $0) }
      } + rest
  }

  /// A history that parts from its own at the last transaction, signed as the other was.
  mutating func contradict() throws {
    let own = Origin(replica: face.replica, incarnation: draft.incarnation)
    guard let history = member.histories[own], let last = history.last else { return }
    let record = TransactionRecord(
      dot: last.record.dot, hlc: last.record.hlc, schemaVersion: last.record.schemaVersion,
      context: last.record.context,
      changes: random(at: Int(last.record.schemaVersion), nil))
    let before = history.dropLast().last?.chain ?? .zero
    let chain = before.followed(by: record.digest())
    let head = try SignedHead.issue(group: member.group, own, record.dot.sequence, chain, by: face.identity)
    for written in history { draft.vector = draft.vector.union(written.context) }
    draft.append(
      SyncFileHeader.Range(
        origin: own, first: SequenceNumber(rawValue: 1), last: record.dot.sequence, chainBefore: .zero,
        chainAtEnd: chain,
        contextAtFirst: VersionVector(), proof: HeadProof(signature: head.signature)),
      history.dropLast().map(\.record) + [record])
    for origin in draft.vector.origins where draft.chains[origin] == nil {
      draft.chains[origin] = SyncFileHeader.Chain(randomHash())
    }
  }

  // MARK: Claims

  /// A vector, chains, a floor and an acknowledgement of which nothing need be true.
  mutating func claim() throws {
    var vector = draft.vector
    for origin in vector.origins where generator.chance(oneIn: 2) {
      let sequence = vector[origin].rawValue
      vector[origin] = SequenceNumber(
        rawValue: [0, 1, sequence, sequence + 1, sequence + 9].randomElement(using: &generator) ?? 0)
      if generator.chance(oneIn: 3) { draft.chains[origin] = SyncFileHeader.Chain(randomHash()) }
    }
    if generator.chance(oneIn: 4) {
      vector[Origin(replica: draft.source.sender, incarnation: 8)] = SequenceNumber(rawValue: 3)
    }
    draft.vector = vector
    if generator.chance(oneIn: 3) { draft.floor = vector }
    draft.createdAt += [0, 0, -400, 400, 4_000_000].randomElement(using: &generator).map { $0 * 86_400_000 } ?? 0
    guard generator.chance(oneIn: 2) else { return }
    draft.acknowledgements = [
      try SignedAcknowledgement.issue(
        group: member.group, incarnation: UInt32.random(in: 1...3, using: &generator), at: draft.createdAt,
        vector: vector,
        chains: generator.chance(oneIn: 2)
          ? SignedAcknowledgement.hash(vector) { draft.chains[$0.origin]?.chain ?? .zero } ?? .zero : randomHash(),
        members: draft.roster.statuses, ended: Set(draft.ended.keys), by: face.identity)
    ]
    if generator.chance(oneIn: 2) {
      draft.acknowledgements += draft.source.acknowledgements.filter { $0.origin.replica != face.replica }
    }
    draft.acknowledgements.sort { $0.origin < $1.origin }
  }

  /// Incarnations of others, and of its own, are said to have ended, anywhere.
  mutating func end() {
    let origins =
      draft.source.vector.origins + [
        Origin(replica: face.replica, incarnation: 1), Origin(replica: draft.source.sender, incarnation: 6),
      ]
    for origin in origins where generator.chance(oneIn: 3) {
      let sequence = draft.source.vector[origin].rawValue
      draft.ended[origin] = SequenceNumber(
        rawValue: [0, sequence, sequence + 1, sequence / 2].randomElement(using: &generator) ?? 0)
    }
  }

  /// A member that it adds, under a name of its choice, or another name for one of its own.
  mutating func changeRoster() throws {
    guard let maker = member.faces.first else { return }
    if generator.chance(oneIn: 2) || member.faces.count == 1 {
      try member.addPuppet(at: now)
      for face in member.faces { draft.introduce(face.record) }
    }
    guard generator.chance(oneIn: 2), let renamed = member.faces.randomElement(using: &generator) else { return }
    let name = ["replica-0", "replica-\u{0430}", "m", "somebody else"].randomElement(using: &generator) ?? "m"
    let record = try NameRecord.issue(
      group: member.group, subject: renamed.replica, name: name, at: now + 1, by: maker.identity,
      ground: maker.record.hash)
    draft.roster.names.removeAll { $0.subject == record.subject }
    draft.roster.names = (draft.roster.names + [record]).sorted { $0.subject < $1.subject }
  }

  /// A state with rows that nobody wrote, of which its own transactions are said to be the ground.
  mutating func addStateFile() throws {
    // One of its own, so that it contradicts nothing that it has signed.
    let origin = Origin(replica: face.replica, incarnation: UInt32.random(in: 1_000...UInt32.max, using: &generator))
    let last = SequenceNumber(rawValue: UInt64.random(in: 1...3, using: &generator))
    let chain = randomHash()
    let head = try SignedHead.issue(group: member.group, origin, last, chain, by: face.identity)
    let floor = generator.chance(oneIn: 2) ? last : SequenceNumber.none
    draft.stateFile = StateHead(
      origins: [
        StateHead.Origin(
          origin: origin, sequence: last, chain: chain, folded: last, floor: floor,
          floorChain: floor == .none ? .zero : chain, floorContext: VersionVector(),
          proof: HeadProof(signature: head.signature))
      ], clock: HLC(milliseconds: now))
    draft.vector = VersionVector([origin: last])
    draft.floor = VersionVector([origin: floor])
    draft.chains = [origin: SyncFileHeader.Chain(chain)]
    guard let tally = draft.tables.firstIndex(where: { $0.name == "tally" }) else { return }
    var row = ByteWriter()
    for (number, column) in draft.tables[tally].columns.enumerated() {
      row.value(number == 0 ? .text("t0") : column.defaultValue ?? .null)
    }
    draft.items = [.row(table: tally, values: row.bytes[...])]
  }
}
