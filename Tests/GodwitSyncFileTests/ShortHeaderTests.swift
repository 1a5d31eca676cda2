import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitKeys
import Testing

@testable import GodwitSyncFile

/// Specs/sync-file.md, "Short header".
@Suite("A short header")
struct ShortHeaderTests {
  private let sender: Identity
  private let group = GroupID(Identifier128(high: 1, low: 2))
  private let roster: RosterRecords

  init() throws {
    let sender = try Identity.generate(replica: ReplicaID(Identifier128(high: 0, low: 1)))
    let group = group
    self.sender = sender
    roster = RosterRecords(
      members: try (1...3).map { number in
        let identity =
          number == 1 ? sender : try Identity.generate(replica: ReplicaID(Identifier128(high: 0, low: UInt64(number))))
        return try MemberRecord.issue(
          group: group, identity: identity.publicIdentity, name: "m", status: .active, at: 1, by: sender)
      })
  }

  private func origin(_ number: Int) -> Origin {
    Origin(replica: ReplicaID(Identifier128(high: 0, low: UInt64(number % 3 + 1))), incarnation: UInt32(number))
  }

  private func vector(_ generator: inout some RandomNumberGenerator) -> VersionVector {
    var vector = VersionVector()
    for number in 0..<12 where Bool.random(using: &generator) {
      vector[origin(number)] = SequenceNumber(rawValue: .random(in: 0...4, using: &generator))
    }
    return vector
  }

  private func hash(_ generator: inout some RandomNumberGenerator) -> ContentHash {
    ContentHash(bytes: [UInt8](repeating: .random(in: 0...2, using: &generator), count: 32)) ?? .zero
  }

  private func proof(_ generator: inout some RandomNumberGenerator) -> HeadProof {
    HeadProof(signature: [UInt8](repeating: .random(in: 0...1, using: &generator), count: 64))
  }

  /// A header with a few values of each, so that two of them often have the same.
  private func header(
    _ generator: inout some RandomNumberGenerator, isBase: Bool
  ) throws -> SyncFileHeader {
    let held = vector(&generator)
    let ranged = isBase ? [] : held.origins.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
    let ranges = ranged.map { origin in
      SyncFileHeader.Range(
        origin: origin, first: held[origin], last: held[origin],
        chainBefore: held[origin] == SequenceNumber.none.next ? .zero : hash(&generator),
        chainAtEnd: hash(&generator),
        contextAtFirst: held[origin] == SequenceNumber.none.next
          ? VersionVector() : vector(&generator).replacing([origin: .none]),
        proof: proof(&generator))
    }
    var chains: [Origin: SyncFileHeader.Chain] = [:]
    for origin in SyncFileHeader.originsWithoutRange(held, ranges) {
      chains[origin] = SyncFileHeader.Chain(
        hash(&generator), proof: Bool.random(using: &generator) ? proof(&generator) : nil)
    }
    let ended = Dictionary(
      uniqueKeysWithValues: [3, 5].filter { _ in Bool.random(using: &generator) }.map {
        (origin($0), SequenceNumber(rawValue: 2))
      })
    let keys = roster.members.map(\.identity.recipient).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    let acknowledgement = try SignedAcknowledgement.issue(
      group: group, incarnation: 7, at: .random(in: 0...9, using: &generator), vector: held, chains: hash(&generator),
      members: roster.statuses, ended: Set(ended.keys), by: sender)
    return SyncFileHeader(
      group: group, sender: sender.replica, incarnation: 7, createdAt: .random(in: 0...9, using: &generator),
      vector: held, held: isBase ? VersionVector() : held, schemaVersion: .random(in: 0...1, using: &generator),
      recipients: Bool.random(using: &generator) ? keys : [keys[0]], roster: roster, tables: [], ranges: ranges,
      chains: chains, floor: vector(&generator), ended: ended, acknowledgements: [acknowledgement],
      fields: Bool.random(using: &generator) ? [SyncFileField(tag: 99, bytes: [1])] : [])
  }

  private func whole(_ header: SyncFileHeader) -> [UInt8] {
    var writer = ByteWriter()
    header.write(to: &writer)
    return writer.bytes
  }

  private func short(_ header: SyncFileHeader, on base: SyncFileHeader) -> [UInt8] {
    var writer = ByteWriter()
    header.write(on: HeaderBase(base), to: &writer)
    return writer.bytes
  }

  private func expand(_ bytes: [UInt8], on base: SyncFileHeader?) throws -> SyncFileHeader {
    var reader = ByteReader(bytes)
    return try SyncFileHeader(readingShort: &reader, from: sender.replica, in: group) { hash in
      base.flatMap { HeaderBase($0).hash == hash ? $0 : nil }
    }
  }

  private func refusal(_ bytes: [UInt8], on base: SyncFileHeader?) -> GodwitError.Code? {
    do { _ = try expand(bytes, on: base) } catch { return (error as? GodwitError)?.code }
    return nil
  }

  @Test("expands to the whole one, byte for byte")
  func expands() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let base = try header(&generator, isBase: true)
      let header = try header(&generator, isBase: false)
      #expect(header.canBuild(on: base))
      let expanded = try expand(short(header, on: base), on: base)
      #expect(whole(expanded) == whole(header))
    }
  }

  @Test("has one form: what is read is written alike")
  func form() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let base = try header(&generator, isBase: true)
      var bytes = short(try header(&generator, isBase: false), on: base)
      // Any byte behind the base's hash may be another one: then it is refused, or is what would be written for it.
      let place = Int.random(in: 32..<bytes.count, using: &generator)
      bytes[place] = .random(in: 0...255, using: &generator)
      guard let read = try? expand(bytes, on: base) else { continue }
      #expect(short(read, on: base) == bytes)
    }
  }

  @Test("is as long as its differences")
  func size() throws {
    var generator = SystemRandomNumberGenerator()
    let base = try header(&generator, isBase: true)
    #expect(short(base, on: base).count < 300)
  }

  @Test("is refused without its base, on one with transactions, and when it ends early")
  func refused() throws {
    var generator = SystemRandomNumberGenerator()
    let base = try header(&generator, isBase: true)
    let bytes = short(try header(&generator, isBase: false), on: base)
    #expect(refusal(bytes, on: nil) == .unknownBase)
    for count in 0..<bytes.count { #expect(refusal(Array(bytes.prefix(count)), on: base) != nil) }
    #expect(refusal(bytes + [0], on: base) == .corruptFile)
    var withRange = try header(&generator, isBase: false)
    while withRange.ranges.isEmpty { withRange = try header(&generator, isBase: false) }
    #expect(!withRange.canBuild(on: withRange))
    #expect(refusal(short(withRange, on: withRange), on: withRange) == .corruptFile)
  }

  @Test("a file with one is read where its base is at hand, and names it where not")
  func file() throws {
    var generator = SystemRandomNumberGenerator()
    var base = try header(&generator, isBase: true)
    while !base.recipients.contains(sender.ageIdentity.recipient) { base = try header(&generator, isBase: true) }
    let sink = MemorySink()
    let writer = try SyncFileWriter(base, on: HeaderBase(base), signedBy: sender, to: sink)
    try writer.finish()
    let history = IdentityHistory(sender.publicIdentity)
    let reader = try SyncFileReader(
      MemorySource(sink.bytes), identities: [sender.ageIdentity], findBase: { _ in base }, sender: { _ in history })
    while try reader.next() != nil {}
    #expect(whole(reader.header) == whole(base) && reader.base == HeaderBase(base).hash)
    #expect(reader.headerBytes.count < 300)
    do {
      _ = try SyncFileReader(MemorySource(sink.bytes), identities: [sender.ageIdentity]) { _ in history }
      Issue.record("a file without its base was read")
    } catch let error as GodwitError {
      #expect(error.code == .unknownBase && (error.underlying as? UnknownBase)?.hash == HeaderBase(base).hash)
    }
  }
}
