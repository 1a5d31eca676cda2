import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

extension SyncFileHeader {
  static let recipientLimit = 1_024
  static let memberLimit = 1_024
  static let tableLimit = 1_024

  /// All that the preamble does not have.
  package func write(to writer: inout ByteWriter) {
    writer.bigEndian(incarnation)
    writer.signedVarint(createdAt)
    vector.write(to: &writer)
    writer.varint(schemaVersion)
    writeRecipients(to: &writer)
    writer.varint(roster.members.count)
    for member in roster.members { member.encode(to: &writer) }
    writer.varint(tables.count)
    for table in tables { table.write(to: &writer) }
    writer.varint(migrations.count)
    for migration in migrations { writer.lengthPrefixed(migration) }
    writer.varint(ranges.count)
    for range in ranges { range.write(to: &writer) }
    for origin in Self.originsWithoutRange(vector, ranges) {
      (chains[origin] ?? Chain(.zero)).write(to: &writer)
    }
    floor.write(to: &writer)
    writeEnded(to: &writer)
    writer.byte(stateFile == nil ? 0 : 1)
    stateFile?.write(to: &writer)
    fields.joined(by: [SyncFileField](roster) + ownFields).write(to: &writer)
  }

  func writeRecipients(to writer: inout ByteWriter) {
    writer.byte((recipients.first?.kind ?? .x25519).rawValue)
    writer.varint(recipients.count)
    for recipient in recipients { writer.raw(recipient.bytes) }
  }

  func writeEnded(to writer: inout ByteWriter) {
    writer.varint(ended.count)
    for (origin, last) in ended.sorted(by: { $0.key < $1.key }) {
      origin.write(to: &writer)
      writer.varint(last.rawValue)
    }
  }

  /// What stands in fields, but for the roster.
  var ownFields: [SyncFileField] { acknowledgementsField + heldField + epochField }

  private var heldField: [SyncFileField] {
    guard !held.isEmpty else { return [] }
    var writer = ByteWriter()
    held.write(to: &writer)
    return [SyncFileField(tag: SyncFileField.heldTag, bytes: writer.bytes)]
  }

  static func readHeld(_ bytes: [UInt8]?) throws -> VersionVector {
    guard let bytes else { return VersionVector() }
    var reader = ByteReader(bytes)
    let held = try VersionVector(reading: &reader)
    try reader.expectEnd()
    guard !held.isEmpty else { throw ByteReader.malformed("a field of what waits, and nothing does") }
    return held
  }

  private var epochField: [SyncFileField] {
    guard let epoch else { return [] }
    var writer = ByteWriter()
    epoch.encode(to: &writer)
    return [SyncFileField(tag: SyncFileField.epochTag, bytes: writer.bytes)]
  }

  private static func readEpoch(_ bytes: [UInt8]?, for recipients: [AgeRecipient]) throws -> EpochKey? {
    guard var bytes else { return nil }
    defer { bytes.wipe() }
    var reader = ByteReader(bytes)
    let epoch = try EpochKey(reading: &reader)
    try reader.expectEnd()
    guard epoch.recipient.kind == recipients.first?.kind else {
      throw ByteReader.malformed("an epoch of another kind than the file's recipients")
    }
    return epoch
  }

  private var acknowledgementsField: [SyncFileField] {
    let list = AcknowledgementList(
      group: group, createdAt: createdAt, vector: vector, members: roster, ended: ended.keys)
    return list.encode(acknowledgements).map { [SyncFileField(tag: SyncFileField.acknowledgementsTag, bytes: $0)] }
      ?? []
  }

  /// Throws `limitExceeded` for what every reader would refuse.
  func checkLimits() throws {
    let counts = [
      (recipients.count, Self.recipientLimit, "recipients"), (roster.members.count, Self.memberLimit, "members"),
      (tables.count, Self.tableLimit, "synced tables"), (migrations.count, SchemaMigration.versionLimit, "migrations"),
      (ranges.count, VersionVector.originLimit, "ranges"), (vector.entries.count, VersionVector.originLimit, "origins"),
      (ended.count, VersionVector.originLimit, "ended incarnations"),
    ]
    for (count, limit, what) in counts where count > limit {
      throw GodwitError(
        .limitExceeded, "a sync file would have \(count) \(what); \(limit) are allowed", hint: "nothing was written")
    }
  }

  package init(
    reading reader: inout ByteReader, from sender: ReplicaID, in group: GroupID, isBase: Bool = false
  ) throws {
    let incarnation: UInt32 = try reader.bigEndian()
    let createdAt = try reader.signedVarint()
    let vector = try VersionVector(reading: &reader)
    let schemaVersion = try reader.varint()
    let recipients = try Self.readRecipients(&reader)
    let memberCount = try reader.count(limit: Self.memberLimit, "members")
    let members = try (0..<memberCount).map { _ in try MemberRecord(reading: &reader) }
    try Self.requireRising(members.map(\.identity.replica), "members")
    let tableCount = try reader.count(limit: Self.tableLimit, "tables")
    let tables = try (0..<tableCount).map { _ in try TableDefinition(reading: &reader) }
    let migrationCount = try reader.count(limit: SchemaMigration.versionLimit, "migrations")
    let migrations = try (0..<migrationCount).map { _ in
      Array(try reader.lengthPrefixed(limit: SchemaMigration.byteLimit))
    }
    let rangeCount = try reader.count(limit: VersionVector.originLimit, "ranges")
    let ranges = try (0..<rangeCount).map { _ in try Range(reading: &reader) }
    try Self.requireRising(ranges.map(\.origin), "ranges")
    var chains: [Origin: Chain] = [:]
    for origin in Self.originsWithoutRange(vector, ranges) { chains[origin] = try Chain(reading: &reader) }
    let floor = try VersionVector(reading: &reader)
    let ended = try Self.readEnded(&reader)
    let stateFile = try reader.flag() ? try StateHead(reading: &reader) : nil
    var fields = try [SyncFileField](reading: &reader)
    try reader.expectEnd()
    var roster = RosterRecords(
      members: members,
      names: try fields.remove(SyncFileField.namesTag).map { try RosterRecords.names($0) } ?? [],
      histories: try fields.remove(SyncFileField.historiesTag).map { try RosterRecords.histories($0) } ?? [])
    if let further = fields.remove(SyncFileField.furtherTag) { try roster.readFurther(further) }
    let stated = fields.remove(SyncFileField.acknowledgementsTag)
    let acknowledgements =
      try isBase
      ? []
      : stated.map {
        try AcknowledgementList(
          group: group, createdAt: createdAt, vector: vector, members: roster, ended: ended.keys
        ).decode($0)
      } ?? []
    let held = try Self.readHeld(fields.remove(SyncFileField.heldTag))
    let epoch = try Self.readEpoch(fields.remove(SyncFileField.epochTag), for: recipients)
    guard stateFile == nil || ranges.isEmpty else { throw ByteReader.malformed("a state file with ranges") }
    self.init(
      group: group, sender: sender, incarnation: incarnation, createdAt: createdAt, vector: vector, held: held,
      schemaVersion: schemaVersion, recipients: recipients, roster: roster, tables: tables, migrations: migrations,
      ranges: ranges, chains: chains, floor: floor, ended: ended, stateFile: stateFile,
      acknowledgements: acknowledgements, epoch: epoch, fields: fields)
  }

  /// One kind for all, so that a list of mixed kinds cannot be written down.
  static func readRecipients(_ reader: inout ByteReader) throws -> [AgeRecipient] {
    guard let kind = AgeKeyKind(rawValue: try reader.byte()) else {
      throw GodwitError(
        .unsupportedVersion, "the sync file is for keys of a kind that this program does not know",
        hint: "update this program")
    }
    let count = try reader.count(limit: recipientLimit, "recipients")
    guard count > 0 else { throw ByteReader.malformed("a file for nobody") }
    let recipients = try (0..<count).map { _ in
      try AgeRecipient(kind, bytes: reader.raw(kind.publicKeyByteCount))
    }
    for (left, right) in zip(recipients, recipients.dropFirst()) {
      guard left.bytes.lexicographicallyPrecedes(right.bytes) else {
        throw ByteReader.malformed("recipients out of order")
      }
    }
    return recipients
  }

  /// Rising, none twice, so that there is one form of them.
  static func requireRising(_ keys: [some Comparable], _ what: String) throws {
    for (left, right) in zip(keys, keys.dropFirst()) where left >= right {
      throw ByteReader.malformed("\(what) out of order")
    }
  }

  /// Rising by origin, so that there is one form of it.
  static func readEnded(_ reader: inout ByteReader) throws -> [Origin: SequenceNumber] {
    var ended: [Origin: SequenceNumber] = [:]
    var before: Origin?
    for _ in 0..<(try reader.count(limit: VersionVector.originLimit, "ended incarnations")) {
      let origin = try Origin(reading: &reader)
      if let before, before >= origin { throw ByteReader.malformed("ended incarnations out of order") }
      let last = SequenceNumber(rawValue: try reader.varint())
      guard last < .limit else { throw ByteReader.malformed("the end of an incarnation") }
      ended[origin] = last
      before = origin
    }
    return ended
  }
}

extension SyncFileHeader.Range {
  /// What it takes in a header beside the digests of its proof, at most, wherever it ends.
  package var byteCountWithoutDigests: Int {
    var context = ByteWriter()
    contextAtFirst.write(to: &context)
    // Sequence numbers are below 2⁴⁰, and there are no more than 16,384 digests.
    let numbers = 2 * 6 + 3
    return 20 + numbers + 2 * ContentHash.byteCount + context.count + SignedHead.signatureByteCount
  }

  /// - Parameter base: What the context is written as a difference from; nil where it is written whole.
  func write(to writer: inout ByteWriter, besides base: VersionVector? = nil) {
    origin.write(to: &writer)
    writer.varint(first.rawValue)
    writer.varint(last.rawValue)
    writer.raw(chainBefore.bytes)
    writer.raw(chainAtEnd.bytes)
    if let base {
      contextAtFirst.write(to: &writer, besides: Self.isInherited(by: first) ? base : VersionVector())
    } else {
      contextAtFirst.write(to: &writer)
    }
    proof.write(to: &writer)
  }

  init(reading reader: inout ByteReader, besides base: VersionVector? = nil) throws {
    let origin = try Origin(reading: &reader)
    let first = try SequenceNumber(reading: &reader)
    let last = try SequenceNumber(reading: &reader)
    guard first <= last else { throw ByteReader.malformed("a range ends before it begins") }
    self.init(
      origin: origin, first: first, last: last, chainBefore: try ContentHash(reading: &reader),
      chainAtEnd: try ContentHash(reading: &reader),
      contextAtFirst: try base.map {
        try VersionVector(reading: &reader, besides: Self.isInherited(by: first) ? $0 : VersionVector())
      } ?? VersionVector(reading: &reader),
      proof: try HeadProof(reading: &reader))
    guard Self.isInherited(by: first) || chainBefore == .zero && contextAtFirst.isEmpty else {
      throw ByteReader.malformed("something comes before an origin's first transaction")
    }
    try contextAtFirst.expectOthers(than: origin)
  }

  /// Whether anything comes before it.
  private static func isInherited(by first: SequenceNumber) -> Bool { first > SequenceNumber.none.next }
}

extension SyncFileHeader.Chain {
  /// What it takes in a header.
  package var byteCount: Int {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.count
  }

  func write(to writer: inout ByteWriter) {
    writer.raw(chain.bytes)
    writer.byte(proof == nil ? 0 : 1)
    proof?.write(to: &writer)
  }

  init(reading reader: inout ByteReader) throws {
    self.init(try ContentHash(reading: &reader), proof: try reader.flag() ? try HeadProof(reading: &reader) : nil)
  }
}

extension ContentHash {
  package init(reading reader: inout ByteReader) throws {
    guard let hash = ContentHash(bytes: try reader.raw(32)) else { throw ByteReader.malformed("a hash") }
    self = hash
  }
}
