import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// The header of a file without transactions, which others say what they have in common with (Specs/sync-file.md,
/// "Short header").
package struct HeaderBase: Sendable {
  /// Of its bytes.
  package let hash: ContentHash
  package let header: SyncFileHeader

  package init(hash: ContentHash, header: SyncFileHeader) {
    self.hash = hash
    self.header = header
  }

  /// A header that is about to be written.
  package init(_ header: SyncFileHeader) {
    var writer = ByteWriter()
    header.write(to: &writer)
    self.init(hash: writer.bytes.withUnsafeBytes { ContentHash(of: $0) }, header: header)
  }
}

/// What lies beneath an error `unknownBase`.
package struct UnknownBase: Error {
  package let hash: ContentHash
}

extension SyncFileHeader {
  /// Finds the header that another one builds on.
  package typealias FindBase = (ContentHash) throws -> SyncFileHeader?

  /// Each range's context may have all origins of the base, which takes a few bytes to say: so many there are at most.
  private static let contextLimit = 1 << 22

  /// Whether this one can be said by what differs from another.
  package func canBuild(on base: SyncFileHeader) -> Bool {
    stateFile == nil && epoch == nil && base.stateFile == nil && base.ranges.isEmpty
      && ranges.count * base.vector.entries.count <= Self.contextLimit
      && group == base.group && roster == base.roster && tables == base.tables && migrations == base.migrations
  }

  /// What differs from the base, of a header that can build on it.
  package func write(on base: HeaderBase, to writer: inout ByteWriter) {
    let common = base.header
    writer.raw(base.hash.bytes)
    writer.bigEndian(incarnation)
    writer.signedVarint(createdAt)
    vector.write(to: &writer, besides: common.vector)
    writer.varint(schemaVersion)
    let hasSameRecipients = recipients == common.recipients
    writer.byte(hasSameRecipients ? 0 : 1)
    if !hasSameRecipients { writeRecipients(to: &writer) }
    writer.varint(ranges.count)
    for range in ranges { range.write(to: &writer, besides: Self.context(of: range.origin, in: common)) }
    let origins = Self.originsWithoutRange(vector, ranges)
    let differing = origins.indices.filter { (chains[origins[$0]] ?? Chain(.zero)) != common.chain(of: origins[$0]) }
    writer.places(differing)
    for place in differing { (chains[origins[place]] ?? Chain(.zero)).write(to: &writer) }
    floor.write(to: &writer, besides: common.floor)
    let hasSameEnds = ended == common.ended
    writer.byte(hasSameEnds ? 0 : 1)
    if !hasSameEnds { writeEnded(to: &writer) }
    fields.joined(by: ownFields).write(to: &writer)
  }

  /// What a context is compared with.
  private static func context(of origin: Origin, in base: SyncFileHeader) -> VersionVector {
    base.vector.replacing([origin: .none])
  }

  private func chain(of origin: Origin) -> Chain { chains[origin] ?? Chain(.zero) }

  /// Throws `unknownBase` where the base is not here.
  package init(
    readingShort reader: inout ByteReader, from sender: ReplicaID, in group: GroupID, _ findBase: FindBase
  ) throws {
    let hash = try ContentHash(reading: &reader)
    guard let base = try findBase(hash) else { throw GodwitError.unknownBase(hash) }
    guard base.group == group, base.ranges.isEmpty, base.stateFile == nil else {
      throw ByteReader.malformed("a header that builds on one that has transactions")
    }
    let incarnation: UInt32 = try reader.bigEndian()
    let createdAt = try reader.signedVarint()
    let vector = try VersionVector(reading: &reader, besides: base.vector)
    let schemaVersion = try reader.varint()
    let recipients = try reader.flag() ? try Self.readRecipients(&reader) : base.recipients
    let rangeCount = try reader.count(
      limit: min(VersionVector.originLimit, Self.contextLimit / max(1, base.vector.entries.count)), "ranges")
    var ranges: [Range] = []
    for _ in 0..<rangeCount { ranges.append(try Self.readRange(&reader, besides: base)) }
    try Self.requireRising(ranges.map(\.origin), "ranges")
    let chains = try Self.readChains(&reader, Self.originsWithoutRange(vector, ranges), base)
    let floor = try VersionVector(reading: &reader, besides: base.floor)
    let ended = try reader.flag() ? try Self.readEnded(&reader) : base.ended
    var fields = try [SyncFileField](reading: &reader)
    try reader.expectEnd()
    let list = AcknowledgementList(
      group: group, createdAt: createdAt, vector: vector, members: base.roster, ended: ended.keys)
    let acknowledgements = try fields.remove(SyncFileField.acknowledgementsTag).map { try list.decode($0) } ?? []
    let held = try Self.readHeld(fields.remove(SyncFileField.heldTag))
    guard !fields.contains(where: { $0.isOfRoster || $0.tag == SyncFileField.epochTag }) else {
      throw ByteReader.malformed("a short header with members of its own, or with an epoch")
    }
    self.init(
      group: group, sender: sender, incarnation: incarnation, createdAt: createdAt, vector: vector, held: held,
      schemaVersion: schemaVersion, recipients: recipients, roster: base.roster, tables: base.tables,
      migrations: base.migrations, ranges: ranges, chains: chains, floor: floor, ended: ended,
      acknowledgements: acknowledgements, fields: fields)
  }

  /// The origin stands before its context, which is a difference.
  private static func readRange(_ reader: inout ByteReader, besides base: SyncFileHeader) throws -> Range {
    var ahead = reader
    let origin = try Origin(reading: &ahead)
    return try Range(reading: &reader, besides: context(of: origin, in: base))
  }

  private static func readChains(
    _ reader: inout ByteReader, _ origins: [Origin], _ base: SyncFileHeader
  ) throws -> [Origin: Chain] {
    var chains = Dictionary(origins.map { ($0, base.chain(of: $0)) }, uniquingKeysWith: { first, _ in first })
    for place in try reader.places(below: origins.count) {
      let chain = try Chain(reading: &reader)
      guard chain != base.chain(of: origins[place]) else { throw ByteReader.malformed("a chain that is the base's") }
      chains[origins[place]] = chain
    }
    return chains
  }
}

extension GodwitError {
  fileprivate static func unknownBase(_ hash: ContentHash) -> GodwitError {
    GodwitError(
      .unknownBase, "the file builds on a header that is not here",
      hint: "godwit sync with the remote that it comes from, or ask its sender for an export",
      underlying: UnknownBase(hash: hash))
  }
}
