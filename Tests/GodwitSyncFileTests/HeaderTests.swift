import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import Testing

@testable import GodwitSyncFile

@Suite("The header of a sync file")
struct HeaderTests {
  private let sender: Identity
  private let other: Identity
  private let group = GroupID(Identifier128(high: 1, low: 2))

  init() throws {
    sender = try Identity.generate(replica: ReplicaID(Identifier128(high: 0, low: 1)))
    other = try Identity.generate(replica: ReplicaID(Identifier128(high: 0, low: 2)))
  }

  private func recipients(_ identities: [Identity]) -> [AgeRecipient] {
    identities.map(\.ageIdentity.recipient).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  private func header(
    recipients: [AgeRecipient]? = nil, members: [Identity]? = nil, ranges: [SyncFileHeader.Range] = [],
    names: [NameRecord] = [], histories: [IdentityHistory] = [], epoch: EpochKey? = nil,
    fields: [SyncFileField] = []
  ) throws -> SyncFileHeader {
    SyncFileHeader(
      group: group, sender: sender.replica, incarnation: 7, createdAt: -5, vector: VersionVector(), schemaVersion: 3,
      recipients: recipients ?? self.recipients([sender, other]),
      roster: RosterRecords(
        members: try (members ?? [sender, other]).map {
          try MemberRecord.issue(
            group: group, identity: $0.publicIdentity, name: "m", status: .active, at: 1, by: sender)
        }, names: names, histories: histories), tables: [], ranges: ranges, chains: [:], epoch: epoch, fields: fields)
  }

  private func bytes(_ header: SyncFileHeader) -> [UInt8] {
    var writer = ByteWriter()
    header.write(to: &writer)
    return writer.bytes
  }

  private func read(_ bytes: [UInt8]) throws -> SyncFileHeader {
    var reader = ByteReader(bytes)
    return try SyncFileHeader(reading: &reader, from: sender.replica, in: group)
  }

  private func refusal(_ header: SyncFileHeader) -> GodwitError.Code? { refusal(bytes(header)) }

  private func refusal(_ bytes: [UInt8]) -> GodwitError.Code? {
    do { _ = try read(bytes) } catch { return (error as? GodwitError)?.code }
    return nil
  }

  private func range(_ low: UInt64) -> SyncFileHeader.Range {
    SyncFileHeader.Range(
      origin: Origin(replica: ReplicaID(Identifier128(high: 9, low: low)), incarnation: 1), first: .none.next,
      last: .none.next, chainBefore: .zero, chainAtEnd: .zero, contextAtFirst: VersionVector(),
      proof: HeadProof(signature: [UInt8](repeating: 0, count: 64)))
  }

  @Test("reads back as written, and is written the same again")
  func roundTrip() throws {
    let fields = [SyncFileField(tag: 1, bytes: []), SyncFileField(tag: .max, bytes: [1, 2])]
    let written = bytes(try header(ranges: [range(1), range(2)], fields: fields))
    let found = try read(written)
    #expect(found.createdAt == -5 && found.incarnation == 7 && found.schemaVersion == 3)
    #expect(found.fields == fields && found.recipients.count == 2)
    #expect(bytes(found) == written)
    let hybrid = try Identity.generate(replica: sender.replica, kind: .hybrid)
    let postQuantum = bytes(try header(recipients: recipients([hybrid]), members: [hybrid]))
    #expect(bytes(try read(postQuantum)) == postQuantum)
    #expect(try read(postQuantum).recipients.first?.kind == .hybrid)
  }

  @Test("names and histories are fields of their own, among others in the order of tags")
  func membership() throws {
    var history = IdentityHistory(sender.publicIdentity)
    try history.append(Identity.generate(replica: sender.replica), after: sender, group: group, at: 9)
    let name = try NameRecord.issue(group: group, subject: other.replica, name: "attic", at: 5, by: sender)
    let fields = [SyncFileField(tag: 1, bytes: []), SyncFileField(tag: 77, bytes: [1])]
    let written = bytes(try header(names: [name], histories: [history], fields: fields))
    let found = try read(written)
    #expect(found.roster.names == [name] && found.roster.histories == [history] && found.fields == fields)
    #expect(bytes(found) == written)
    for tag in [UInt32(18), 19] {
      for content in [[], [0], [1], [1, 2, 3]] as [[UInt8]] {
        #expect(refusal(try header(fields: [SyncFileField(tag: tag, bytes: content)])) != nil)
      }
    }
  }

  @Test("an epoch is a field of its own, in one form, and of the recipients' kind")
  func epoch() throws {
    let epoch = try EpochKey.generate(.x25519, at: -7)
    let written = bytes(try header(epoch: epoch))
    let again = try read(written)
    #expect(again.epoch?.recipient == epoch.recipient && again.epoch?.createdAt == -7 && again.fields.isEmpty)
    #expect(bytes(again) == written)
    #expect(refusal(try header(epoch: EpochKey.generate(.hybrid, at: 1))) == .corruptFile)
    var writer = ByteWriter()
    epoch.encode(to: &writer)
    for (content, code) in [
      ([], .truncatedFile), (writer.bytes.dropLast(), .truncatedFile), (writer.bytes + [0], .corruptFile),
      ([3] + writer.bytes.dropFirst(), .corruptFile), ([2] + writer.bytes.dropFirst(), .corruptFile),
    ] as [([UInt8], GodwitError.Code)] {
      #expect(refusal(try header(fields: [SyncFileField(tag: 22, bytes: content)])) == code)
    }
  }

  @Test("a field with an odd tag is passed over, one with an even tag is not")
  func fields() throws {
    #expect(refusal(try header(fields: [SyncFileField(tag: 77, bytes: [1])])) == nil)
    for tag in [UInt32(0), 2, 4_294_967_294] {
      #expect(refusal(try header(fields: [SyncFileField(tag: tag, bytes: [])])) == .unsupportedVersion)
    }
  }

  @Test("fields have one form: rising by tag, each once, and within their limits")
  func fieldForms() throws {
    func field(_ tag: UInt32, _ count: Int = 0) -> SyncFileField {
      SyncFileField(tag: tag, bytes: [UInt8](repeating: 0, count: count))
    }
    #expect(refusal(try header(fields: [field(3), field(1)])) == .corruptFile)
    #expect(refusal(try header(fields: [field(3), field(3)])) == .corruptFile)
    #expect(refusal(try header(fields: [field(3, 1 << 20)])) == nil)
    #expect(refusal(try header(fields: [field(3, 1 << 20 + 1)])) == .limitExceeded)
    #expect(refusal(try header(fields: (0..<256).map { field($0 * 2 + 23) })) == nil)
    #expect(refusal(try header(fields: (0..<257).map { field($0 * 2 + 23) })) == .limitExceeded)
    var beyond = ByteWriter()
    beyond.varint(1)
    beyond.varint(UInt64(UInt32.max) + 2)
    beyond.varint(0)
    #expect(refusal(bytes(try header()).dropLast() + beyond.bytes) == .limitExceeded)
  }

  @Test("recipients, members and ranges in another order, or twice, are refused")
  func order() throws {
    let two = recipients([sender, other])
    #expect(refusal(try header(recipients: two.reversed())) == .corruptFile)
    #expect(refusal(try header(recipients: [two[0], two[0]])) == .corruptFile)
    #expect(refusal(try header(members: [other, sender])) == .corruptFile)
    #expect(refusal(try header(members: [sender, sender])) == .corruptFile)
    #expect(refusal(try header(ranges: [range(2), range(1)])) == .corruptFile)
    #expect(refusal(try header(ranges: [range(1), range(1)])) == .corruptFile)
  }

  @Test("recipients of a kind that is not known are refused as of a later version")
  func recipientKind() throws {
    var written = bytes(try header())
    // Incarnation, time, empty vector, schema version.
    let place = 4 + 1 + 1 + 1
    #expect(written[place] == 1 && written[place + 1] == 2)
    written[place] = 3
    #expect(refusal(written) == .unsupportedVersion)
    written[place] = 0
    #expect(refusal(written) == .unsupportedVersion)
  }

  @Test("a header that is cut anywhere, or extended, is refused")
  func cut() throws {
    let written = bytes(try header(ranges: [range(1)], fields: [SyncFileField(tag: 5, bytes: [1, 2, 3])]))
    for count in 0..<written.count { #expect(refusal(Array(written.prefix(count))) != nil) }
    #expect(refusal(written + [0]) == .corruptFile)
  }

  @Test("a header that every reader would refuse is not written")
  func writable() throws {
    func refusal(_ header: SyncFileHeader) -> GodwitError.Code? {
      do { _ = try SyncFileWriter(header, signedBy: sender, to: MemorySink()) } catch {
        return (error as? GodwitError)?.code
      }
      return nil
    }
    func header(tables: Int = 0, ended: Int = 0, migrations: Int = 0, byteCount: Int = 0) throws -> SyncFileHeader {
      let header = try self.header()
      let column = ColumnDefinition(name: "id", type: .blob, isNullable: false)
      return SyncFileHeader(
        group: group, sender: sender.replica, incarnation: 1, createdAt: 0, vector: header.vector, schemaVersion: 0,
        recipients: header.recipients, roster: header.roster,
        tables: try (0..<tables).map { try TableDefinition(name: "t\($0)", keyCount: 1, columns: [column]) },
        migrations: Array(repeating: [UInt8](repeating: 0, count: byteCount), count: migrations), ranges: [],
        chains: [:],
        ended: Dictionary(
          uniqueKeysWithValues: (0..<ended).map { (Origin(replica: sender.replica, incarnation: UInt32($0)), .none) }))
    }
    #expect(refusal(try header(tables: 1_024, ended: 65_536, migrations: 1_024)) == nil)
    #expect(refusal(try header(tables: 1_025)) == .limitExceeded)
    #expect(refusal(try header(ended: 65_537)) == .limitExceeded)
    #expect(refusal(try header(migrations: 1_025)) == .limitExceeded)
    #expect(refusal(try header(migrations: 65, byteCount: 1 << 20)) == .limitExceeded)
  }
}
