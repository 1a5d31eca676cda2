import Godwit
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// Makes one file of a kind. All choices come from the attack's seed, and from what an honest file says.
struct HostileForge {
  let member: HostileMember
  let face: HostileFace
  let kind: Attack.Kind
  /// The time by the clock of who is to read it.
  let now: Int64
  /// Whether the world comes to a version that makes other values of what there is. A row with the last timestamp there
  /// is can be written to by nobody, a migration's step that must included.
  let isMigrating: Bool
  /// Whether members forget: of an incarnation that is said to have ended with what it never wrote all wait for the
  /// rest.
  let isForgetting: Bool
  /// Whether somebody may have to rejoin, who cannot make anew what would go beyond what a counter can be.
  let mayRejoin: Bool
  let hasTrees: Bool
  /// The latest timestamp of all. Where members forget, who has seen a delete and writes to the row with a lesser
  /// timestamp, or updates it, finds another row on those who have forgotten it than on those who have not.
  let latest: HLC
  var draft: HostileDraft
  var generator: SeededGenerator

  private var own: Origin { Origin(replica: face.replica, incarnation: draft.incarnation) }

  /// The sealed file.
  mutating func make() throws -> [UInt8] {
    for face in member.faces { draft.introduce(face.record) }
    draft.incarnation = generator.chance(oneIn: 6) ? 2 : 1
    try addKind()
    if kind == .equivocation {
      try contradict()
    } else if kind != .stateFile {
      try addOwnHistory()
    }
    switch kind {
    case .mangled: return try mangled()
    case .noise: return try noise()
    default: return try draft.seal(by: face, introduction: member.introduction)
    }
  }

  private mutating func addKind() throws {
    switch kind {
    case .writes, .gap, .noise: addWrites(nil)
    case .mangled: if member.histories[own] == nil || generator.chance(oneIn: 2) { addWrites(nil) }
    case .causes: addWrites(nil, beyond: true)
    case .extremes: addWrites(.extremeValues)
    case .strangeTables: addWrites(.strangeTables)
    case .strangeColumns: addWrites(.strangeColumns)
    case .strangeValues: addWrites(isMigrating ? nil : .strangeValues)
    case .malformed, .equivocation: break
    case .relay: relay()
    case .invention: try invent()
    case .alteration: alter()
    case .claims: try claim()
    case .endings: end()
    case .roster: try changeRoster()
    case .stateFile: try addStateFile()
    }
  }

  mutating func random(at version: Int, _ oddity: HostileChanges.Oddity?) -> [UInt8] {
    HostileChanges.random(at: version, oddity, updating: updatable, hasTrees: hasTrees, &generator)
  }

  /// The rows that it may update; nil for any.
  private var updatable: Set<RowName>? {
    guard isMigrating || isForgetting else { return nil }
    let known = draft.sourceRecords
    let inserted = Set(known.flatMap { $0.rows(.insert) })
    guard isForgetting else { return inserted }
    let own = member.histories.values.joined().map(\.record)
    return inserted.subtracting((known + own).flatMap { $0.rows(.delete) })
  }

  // MARK: Own transactions

  private mutating func addWrites(_ oddity: HostileChanges.Oddity?, beyond: Bool = false) {
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let version = version
      let changes = random(at: version, oddity)
      let (hlc, stated) = (hlc(), beyond ? contextBeyond() : context())
      member.write(own, hlc: hlc, schemaVersion: UInt64(version), context: stated, changes: changes)
    }
  }

  private var allSeen: VersionVector { draft.source.vector.replacing([own: .none]) }

  /// Mostly that of whose file it has seen.
  private var version: Int {
    mutating get {
      let latest = Int(draft.source.schemaVersion)
      return generator.chance(oneIn: 3) ? Int.random(in: 0...latest, using: &generator) : latest
    }
  }

  private mutating func hlc() -> HLC {
    let chosen = anyHLC()
    return isForgetting
      ? min(max(chosen, HLC(rawValue: latest.rawValue + 1)), HLC(rawValue: HLC.limit.rawValue - 1)) : chosen
  }

  private mutating func anyHLC() -> HLC {
    if kind == .extremes {
      let last = HLC.limit.rawValue - (isMigrating || mayRejoin ? 1 << 40 : 1)
      return HLC(rawValue: [0, last].randomElement(using: &generator) ?? 0)
    }
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: return HLC(rawValue: UInt64.random(in: 0...2, using: &generator))
    case 1: return HLC(milliseconds: now + Int64.random(in: 0...400, using: &generator) * 86_400_000)
    case 2, 3: return draft.sourceRecords.randomElement(using: &generator)?.hlc ?? HLC(milliseconds: now)
    default: return HLC(milliseconds: now + Int64.random(in: -5_000...5_000, using: &generator))
    }
  }

  /// What one of its transactions is said to have seen: all there is, nothing, or a part.
  private mutating func context() -> VersionVector? {
    var context = allSeen
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return nil
    case 1: return VersionVector()
    case 2:
      for origin in context.origins {
        context[origin] = SequenceNumber(rawValue: UInt64.random(in: 0...context[origin].rawValue, using: &generator))
      }
      return context
    default: return context
    }
  }

  /// What nobody holds, or knows of. The file's vector must say the same.
  private mutating func contextBeyond() -> VersionVector {
    var context = allSeen
    let stranger = Origin(
      replica: generator.chance(oneIn: 2) ? HostileMember.replica(77) : draft.source.sender,
      incarnation: UInt32.random(in: 1...9, using: &generator))
    let origin = generator.chance(oneIn: 2) ? stranger : context.origins.randomElement(using: &generator) ?? stranger
    guard origin != own else { return context }
    context[origin] = SequenceNumber(rawValue: context[origin].rawValue + UInt64.random(in: 1...3, using: &generator))
    return context
  }

  /// All that its origins have written, or only the latest.
  private mutating func addOwnHistory() throws {
    for origin in member.histories.keys.sorted() {
      guard let history = member.histories[origin],
        let author = member.faces.first(where: { $0.replica == origin.replica })
      else { continue }
      // What a puppet has written its maker may pass on, or not.
      guard origin == own || generator.chance(oneIn: 3) else { continue }
      let isPart = generator.chance(oneIn: 4)
      let first = kind == .gap ? history.count : isPart ? Int.random(in: 1...history.count, using: &generator) : 1
      guard let range = try member.range(origin, from: first, by: author.identity) else { continue }
      for written in history { draft.vector = draft.vector.union(written.context) }
      draft.append(range, history[(first - 1)...].map(\.record))
    }
    if kind == .malformed { try addMalformed() }
    for origin in draft.vector.origins where draft.chains[origin] == nil {
      draft.chains[origin] = SyncFileHeader.Chain(randomHash())
    }
  }

  /// It goes into the file alone: nobody takes it in.
  private mutating func addMalformed() throws {
    let oddities: [HostileChanges.Oddity] = [.repeatedRow, .nullKey, .brokenSet, .strangeValues]
    let origin = Origin(replica: face.replica, incarnation: 9)
    let changes = random(at: version, oddities.randomElement(using: &generator))
    let record = TransactionRecord(
      dot: Dot(origin, SequenceNumber(rawValue: 1)), hlc: hlc(), schemaVersion: 0, context: context(), changes: changes)
    // Beside it one that cannot be read at all.
    let broken = TransactionRecord(
      dot: Dot(origin, SequenceNumber(rawValue: 2)), hlc: HLC.limit, schemaVersion: 0, context: nil, changes: changes)
    let chain = ContentHash.zero.followed(by: record.digest()).followed(by: broken.digest())
    let head = try SignedHead.issue(group: member.group, origin, broken.dot.sequence, chain, by: face.identity)
    draft.append(
      SyncFileHeader.Range(
        origin: origin, first: record.dot.sequence, last: broken.dot.sequence, chainBefore: .zero, chainAtEnd: chain,
        contextAtFirst: VersionVector(), proof: HeadProof(signature: head.signature)), [record, broken])
  }

  func randomBytes(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  mutating func randomHash() -> ContentHash {
    ContentHash(bytes: randomBytes(ContentHash.byteCount, &generator)) ?? .zero
  }

  // MARK: Files with other parts

  /// A part that is cut, longer or has other bits, behind true signatures.
  private mutating func mangled() throws -> [UInt8] {
    var container = try HostileContainer(draft)
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: container.header = damaged(container.header)
    case 1: container.frames = container.frames.map { damaged($0) }
    case 2:
      let bytes = randomBytes(Int.random(in: 0...90, using: &generator), &generator)
      container.packed = [(bytes, Int.random(in: 0...(1 << 20), using: &generator))]
    case 3: container.count += 1
    default: container.frames += container.frames
    }
    return try container.seal(draft, by: face, introduction: member.introduction)
  }

  private mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    guard !bytes.isEmpty else { return bytes }
    var bytes = bytes
    let place = Int.random(in: 0..<bytes.count, using: &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: bytes.removeSubrange(place...)
    case 1: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: place)
    case 2: bytes.remove(at: place)
    default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    }
    return bytes
  }

  private mutating func noise() throws -> [UInt8] {
    var container = try HostileContainer(draft)
    if generator.chance(oneIn: 2) {
      container.header = randomBytes(Int.random(in: 0...400, using: &generator), &generator)
    }
    container.frames = [randomBytes(Int.random(in: 0...400, using: &generator), &generator)]
    return try container.seal(draft, by: face, introduction: member.introduction)
  }
}
