import Foundation
import Godwit
import GodwitBase
import GodwitReplication

@testable import GodwitKeys
@testable import GodwitSyncFile

/// What a member, who can open a file and has keys of its own, can make of it.
enum Forgery {
  /// What the keyring of a replica in a folder holds.
  static func keys(of replica: Replica) throws -> KeyringContents {
    try Keyring.open(
      at: KeyringLocation(keyring: "\(replica.path)/keyring", machineKey: "\(replica.path)/machine.key"))
  }

  static func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

  /// The container inside a sealed file.
  static func container(_ sealed: [UInt8], _ identity: Identity) throws -> [UInt8] {
    try AgeOpener(MemorySource(sealed), identities: [identity.ageIdentity]).readToEnd(limit: 1 << 30)
  }

  static func seal(_ container: [UInt8], to recipients: [AgeRecipient]) throws -> [UInt8] {
    let sink = MemorySink()
    let sealer = try AgeSealer(recipients: recipients, to: sink)
    try sealer.write(container)
    try sealer.finish()
    return sink.bytes
  }

  /// The container with another signature over all before it.
  static func sign(_ container: [UInt8], by identity: Identity) throws -> [UInt8] {
    let signed = Array(container.dropLast(64))
    let hash = signed.withUnsafeBytes { ContentHash(of: $0) }
    return signed + (try identity.sign(SyncFileFormat.signatureContext + hash.bytes))
  }

  /// The container's header, and where it ends.
  static func header(_ container: [UInt8]) throws -> (header: SyncFileHeader, end: Int) {
    var reader = ByteReader(container[(SyncFileFormat.magic.count + 1)...])
    let size = Int(try reader.bigEndian(UInt32.self))
    let end = reader.position + size
    var body = ByteReader(container[reader.position..<end])
    return (try SyncFileHeader(reading: &body), end)
  }

  /// The container with another header, signed anew.
  static func replaceHeader(
    of container: [UInt8], signedBy identity: Identity, _ change: (SyncFileHeader) throws -> SyncFileHeader
  ) throws -> [UInt8] {
    let (header, end) = try header(container)
    var body = ByteWriter()
    try change(header).write(to: &body)
    return try replaceHeader(of: container, endingAt: end, signedBy: identity, by: body.bytes)
  }

  static func replaceHeader(
    of container: [UInt8], endingAt end: Int, signedBy identity: Identity, by body: [UInt8]
  ) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(SyncFileFormat.magic)
    writer.byte(SyncFileFormat.version)
    writer.bigEndian(UInt32(body.count))
    return try sign(writer.bytes + body + container[end...], by: identity)
  }
}

extension Forgery {
  /// The transactions of a sealed file.
  static func transactions(_ sealed: [UInt8], _ identity: Identity) throws -> [TransactionRecord] {
    let file = try SyncFileReader(AgeEnvelope(MemorySource(sealed)), identities: [identity.ageIdentity]) { _ in
      .reported(nil)
    }
    var records: [TransactionRecord] = []
    while let record = try file.next() { records.append(record) }
    return records
  }

  /// Transactions as they stand in a frame before it is packed.
  static func raw(_ records: [TransactionRecord], of origins: [Origin]? = nil) throws -> [UInt8] {
    var encoder = FrameEncoder(origins: origins ?? Set(records.map(\.dot.origin)).sorted())
    for record in records { try encoder.append(record) }
    return try encoder.finish()
  }

  /// A frame, or another part, with its head.
  static func frame(_ raw: [UInt8], part: SyncFileFormat.Part = .frame) throws -> [UInt8] {
    let packed = try Zstd(level: 3).compress(raw)
    var writer = ByteWriter()
    writer.byte(part.rawValue)
    writer.bigEndian(UInt32(packed.count))
    writer.bigEndian(UInt32(raw.count))
    return writer.bytes + packed
  }
}

extension SyncFileHeader.Range {
  func changing(
    last: SequenceNumber? = nil, chainBefore: ContentHash? = nil, chainAtEnd: ContentHash? = nil,
    contextBefore: VersionVector? = nil
  ) -> Self {
    Self(
      origin: origin, first: first, last: last ?? self.last, chainBefore: chainBefore ?? self.chainBefore,
      chainAtEnd: chainAtEnd ?? self.chainAtEnd, contextBefore: contextBefore ?? self.contextBefore)
  }
}

extension SnapshotHead.Origin {
  func changing(
    sequence: SequenceNumber? = nil, chain: ContentHash? = nil, folded: SequenceNumber? = nil,
    floor: SequenceNumber? = nil, floorChain: ContentHash? = nil
  ) -> Self {
    Self(
      origin: origin, sequence: sequence ?? self.sequence, chain: chain ?? self.chain, folded: folded ?? self.folded,
      floor: floor ?? self.floor, floorChain: floorChain ?? self.floorChain, floorContext: floorContext)
  }
}

extension SyncFileHeader {
  /// The same with some fields changed.
  func changing(
    sender: ReplicaID? = nil, recipients: [AgeRecipient]? = nil, ranges: [Range]? = nil,
    tables: [TableDefinition]? = nil, fields: [SyncFileField]? = nil, roster: RosterRecords? = nil,
    statements: [SignedStatement]? = nil, createdAt: Int64? = nil, ended: [Origin: SequenceNumber]? = nil,
    vector: VersionVector? = nil, chains: [Origin: ContentHash]? = nil, floor: VersionVector? = nil,
    snapshot: SnapshotHead? = nil
  ) -> SyncFileHeader {
    SyncFileHeader(
      group: group, sender: sender ?? self.sender, incarnation: incarnation,
      createdAt: createdAt ?? self.createdAt, vector: vector ?? self.vector,
      schemaVersion: schemaVersion, recipients: recipients ?? self.recipients, roster: roster ?? self.roster,
      tables: tables ?? self.tables, migrations: migrations, ranges: ranges ?? self.ranges,
      chains: chains ?? self.chains, floor: floor ?? self.floor, ended: ended ?? self.ended, snapshot: snapshot ?? self.snapshot,
      statements: statements ?? self.statements, fields: fields ?? self.fields)
  }
}

extension Forgery {
  /// The bytes with one bit changed, so many bytes before the end.
  static func flip(_ bytes: [UInt8], fromEnd place: Int) -> [UInt8] {
    var bytes = bytes
    bytes[bytes.count - place] ^= 1
    return bytes
  }

  static func armor(_ bytes: [UInt8]) throws -> [UInt8] {
    let sink = MemorySink()
    let writer = AgeArmorWriter(to: sink)
    try writer.write(bytes)
    try writer.finish()
    return sink.bytes
  }

  /// Seals to keys of both kinds, which a sealer refuses.
  static func sealMixed(_ content: [UInt8], to recipients: [AgeRecipient]) throws -> [UInt8] {
    let fileKey = AgeFileKey.random()
    let stanzas = try recipients.map { recipient in
      switch recipient.kind {
      case .x25519: try X25519Stanza.wrap(fileKey, to: recipient)
      case .hybrid: try HybridStanza.wrap(fileKey, to: recipient)
      }
    }
    let sink = MemorySink()
    let sealer = try AgeSealer(fileKey, stanzas, to: sink)
    try sealer.write(content)
    try sealer.finish()
    return sink.bytes
  }
}
