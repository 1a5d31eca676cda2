import Foundation
import Godwit
import GodwitBase
import GodwitCore
import TestAge

@testable import GodwitCrypto
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

  /// Seals a container, and makes the signatures that ``sign(_:by:)`` has prepared: they are over the age file, too.
  static func seal(_ container: [UInt8], to recipients: [AgeRecipient]) throws -> [UInt8] {
    let sink = MemorySink()
    let sealer = try AgeSealer(recipients: recipients, to: sink)
    var transcript = SyncFileTranscript(sealer.binding)
    var rest = container[...]
    for (place, slot) in slots(of: container) {
      let seed = container[slot].dropFirst(seedMarker.count)
      guard container[slot].starts(with: seedMarker) else { continue }
      let signed = Array(container[rest.startIndex..<slot.lowerBound])
      transcript.add(signed)
      let signer = try Identity(
        replica: ReplicaID(Identifier128(high: 0, low: 0)), signingSeed: SecretBytes(copying: seed),
        agreementKey: SecretBytes(random: 32))
      let signature = try signer.sign(transcript.message(at: place))
      transcript.add(signature)
      try sealer.write(signed + signature)
      rest = container[slot.upperBound...]
    }
    try sealer.write(Array(rest))
    try sealer.finish()
    return sink.bytes
  }

  /// The sealed file with another payload behind the same age header, by the same file key and nonce.
  static func replacePayload(of sealed: [UInt8], by payload: [UInt8], _ reader: Identity) throws -> [UInt8] {
    let source = MemorySource(sealed)
    let envelope = try AgeEnvelope(source)
    let nonce = try envelope.payload.readExactly(AgeSealer.payloadNonceByteCount)
    let key = try envelope.header.fileKey(identities: [reader.ageIdentity], passphrases: [], costMax: 1)
    let cipher = AgeChunkCipher(key: key.payloadKey(nonce: nonce))
    let size = AgeChunkCipher.plainByteCountMax
    let count = max(1, (payload.count + size - 1) / size)
    return try (0..<count).reduce(into: Array(sealed.prefix(envelope.headerByteCount)) + nonce) { file, number in
      let chunk = Array(payload[(number * size)..<min((number + 1) * size, payload.count)])
      file += try chunk.withUnsafeBytes { try cipher.seal($0, number: UInt64(number), isFinal: number == count - 1) }
    }
  }

  /// Stands, with a signing seed behind it, where ``seal(_:to:)`` puts a signature.
  private static let seedMarker = Array("signed by who has this seed now:".utf8)

  /// The container with other signatures, as far as it has a form.
  static func sign(_ container: [UInt8], by identity: Identity) throws -> [UInt8] {
    var signed = container
    var keys = ByteWriter()
    identity.encode(to: &keys)
    let seed = keys.bytes[17..<49]
    for (_, slot) in slots(of: container) { signed.replaceSubrange(slot, with: seedMarker + seed) }
    return signed
  }

  /// Where a container's signatures are, as far as it has a form.
  private static func slots(of container: [UInt8]) -> [(place: SyncFileTranscript.Place, bytes: Range<Int>)] {
    var slots: [(SyncFileTranscript.Place, Range<Int>)] = []
    var reader = ByteReader(container)
    func pass(_ place: SyncFileTranscript.Place) throws {
      let start = reader.position
      _ = try reader.raw(SignedHead.signatureByteCount)
      slots.append((place, start..<reader.position))
    }
    do {
      _ = try reader.raw(SyncFileFormat.magic.count + 1)
      let preamble = try SyncFilePreamble { Array(try reader.raw($0)) }
      try pass(.preamble)
      _ = try reader.raw(preamble.headerByteCount)
      while !reader.isAtEnd {
        guard try reader.byte() != SyncFileFormat.Part.trailer.rawValue else {
          _ = try reader.raw(8)
          try pass(.trailer)
          break
        }
        let size = Int(try reader.bigEndian(UInt32.self))
        _ = try reader.raw(4 + size)
        try pass(.part)
      }
    } catch {
      // What comes after that has no form.
    }
    return slots
  }

  /// The container's header, and where it ends.
  static func header(_ container: [UInt8]) throws -> (header: SyncFileHeader, end: Int) {
    var reader = ByteReader(container)
    _ = try reader.raw(SyncFileFormat.magic.count + 1)
    let preamble = try SyncFilePreamble { Array(try reader.raw($0)) }
    _ = try reader.raw(SignedHead.signatureByteCount)
    var body = ByteReader(try reader.raw(preamble.headerByteCount))
    return (try SyncFileHeader(reading: &body, from: preamble.sender, in: preamble.group), reader.position)
  }

  /// The container with another header, signed anew, also what it says of the signer's own history.
  static func replaceHeader(
    of container: [UInt8], signedBy identity: Identity, _ change: (SyncFileHeader) throws -> SyncFileHeader
  ) throws -> [UInt8] {
    let (header, end) = try header(container)
    let changed = try change(header).proven(by: identity)
    var body = ByteWriter()
    changed.write(to: &body)
    return try replaceHeader(of: container, endingAt: end, signedBy: identity, by: body.bytes, introducing: changed)
  }

  /// - Parameter header: Where the preamble's introduction comes from: that of the container by default.
  static func replaceHeader(
    of container: [UInt8], endingAt end: Int, signedBy identity: Identity, by body: [UInt8],
    introducing header: SyncFileHeader? = nil
  ) throws -> [UInt8] {
    let named = try header ?? Forgery.header(container).header
    let known = Dictionary(named.roster.members.map { ($0.subject, $0) }, uniquingKeysWith: { first, _ in first })
    let invited = known.values.filter { $0.issuer != $0.subject }.sorted { $0.subject < $1.subject }
    let isMany = invited.count > SyncFilePreamble.introductionLimit
    var writer = ByteWriter()
    writer.raw(SyncFileFormat.magic)
    writer.byte(SyncFileFormat.version)
    try SyncFilePreamble(
      group: named.group, sender: named.sender,
      introduction: RosterRecords(
        members: isMany ? invited.filter { $0.subject == named.sender } : invited, histories: named.roster.histories),
      headerByteCount: body.count, headerHash: body.withUnsafeBytes { ContentHash(of: $0) }
    ).write(to: &writer)
    writer.raw([UInt8](repeating: 0, count: SignedHead.signatureByteCount))
    return try sign(writer.bytes + body + container[end...], by: identity)
  }
}

extension SyncFileHeader {
  /// With proofs of the identity's own history, whatever it is said to be.
  fileprivate func proven(by identity: Identity) throws -> SyncFileHeader {
    func proof(_ origin: Origin, _ last: SequenceNumber, _ chain: ContentHash, _ old: HeadProof) throws -> HeadProof {
      guard origin.replica == identity.replica else { return old }
      return HeadProof(signature: try SignedHead.issue(group: group, origin, last, chain, by: identity).signature)
    }
    return changing(
      ranges: try ranges.map {
        try $0.changing(proof: proof($0.origin, $0.last, $0.chainAtEnd, $0.proof))
      },
      stateFile: try stateFile.map { head in
        StateHead(
          origins: try head.origins.map {
            try $0.changing(proof: proof($0.origin, $0.sequence, $0.chain, $0.proof))
          }, clock: head.clock)
      })
  }
}

extension Forgery {
  /// A text as long as the one that is to take its place in the bytes.
  static func stand(for text: String, _ mark: Character) -> String { String(repeating: mark, count: text.utf8.count) }

  /// Writes the sealed file with another header, in whose bytes texts are then exchanged for others of their length:
  /// for what no definition can be made of.
  static func write(
    _ container: [UInt8], signedBy identity: Identity, to path: String, replacing texts: [(String, String)],
    _ change: (SyncFileHeader) throws -> SyncFileHeader
  ) throws {
    let (header, end) = try header(container)
    var writer = ByteWriter()
    try change(header).write(to: &writer)
    var bytes = writer.bytes
    for (old, new) in texts {
      let (old, new) = (Array(old.utf8), Array(new.utf8))
      for place in bytes.indices where bytes[place...].starts(with: old) {
        bytes.replaceSubrange(place..<place + old.count, with: new)
      }
    }
    let forged = try replaceHeader(of: container, endingAt: end, signedBy: identity, by: bytes)
    try Data(seal(forged, to: header.recipients)).write(to: URL(fileURLWithPath: path))
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

  /// Transactions as they stand in a frame before it is packed, of a sender that has all that is present.
  static func raw(
    _ records: [TransactionRecord], of origins: [Origin]? = nil, present: VersionVector
  ) throws -> [UInt8] {
    var encoder = FrameEncoder(origins: origins ?? Set(records.map(\.dot.origin)).sorted(), present: present)
    for record in records { try encoder.append(record) }
    return try encoder.finish()
  }

  /// A frame, or another part, with its head and room for its signature.
  static func frame(_ raw: [UInt8], part: SyncFileFormat.Part = .frame) throws -> [UInt8] {
    let packed = try Zstd(level: 3).compress(raw)
    var writer = ByteWriter()
    writer.byte(part.rawValue)
    writer.bigEndian(UInt32(packed.count))
    writer.bigEndian(UInt32(raw.count))
    return writer.bytes + packed + [UInt8](repeating: 0, count: SignedHead.signatureByteCount)
  }
}

extension HeadProof {
  /// One that nobody made.
  static let none = HeadProof(signature: [UInt8](repeating: 0, count: SignedHead.signatureByteCount))
}

extension SyncFileHeader.Range {
  func changing(
    last: SequenceNumber? = nil, chainBefore: ContentHash? = nil, chainAtEnd: ContentHash? = nil,
    contextAtFirst: VersionVector? = nil, proof: HeadProof? = nil
  ) -> Self {
    Self(
      origin: origin, first: first, last: last ?? self.last, chainBefore: chainBefore ?? self.chainBefore,
      chainAtEnd: chainAtEnd ?? self.chainAtEnd, contextAtFirst: contextAtFirst ?? self.contextAtFirst,
      proof: proof ?? self.proof)
  }
}

extension StateHead.Origin {
  func changing(
    sequence: SequenceNumber? = nil, chain: ContentHash? = nil, folded: SequenceNumber? = nil,
    floor: SequenceNumber? = nil, floorChain: ContentHash? = nil, floorContext: VersionVector? = nil,
    proof: HeadProof? = nil
  ) -> Self {
    Self(
      origin: origin, sequence: sequence ?? self.sequence, chain: chain ?? self.chain, folded: folded ?? self.folded,
      floor: floor ?? self.floor, floorChain: floorChain ?? self.floorChain,
      floorContext: floorContext ?? self.floorContext, proof: proof ?? self.proof)
  }
}

extension SyncFileHeader {
  /// The same with some fields changed.
  func changing(
    sender: ReplicaID? = nil, recipients: [AgeRecipient]? = nil, ranges: [Range]? = nil,
    tables: [TableDefinition]? = nil, fields: [SyncFileField]? = nil, roster: RosterRecords? = nil,
    acknowledgements: [SignedAcknowledgement]? = nil, createdAt: Int64? = nil, ended: [Origin: SequenceNumber]? = nil,
    vector: VersionVector? = nil, held: VersionVector? = nil, chains: [Origin: Chain]? = nil,
    floor: VersionVector? = nil,
    stateFile: StateHead? = nil, migrations: [[UInt8]]? = nil, schemaVersion: UInt64? = nil,
    incarnation: UInt32? = nil
  ) -> SyncFileHeader {
    SyncFileHeader(
      group: group, sender: sender ?? self.sender, incarnation: incarnation ?? self.incarnation,
      createdAt: createdAt ?? self.createdAt, vector: vector ?? self.vector, held: held ?? self.held,
      schemaVersion: schemaVersion ?? self.schemaVersion, recipients: recipients ?? self.recipients,
      roster: roster ?? self.roster,
      tables: tables ?? self.tables, migrations: migrations ?? self.migrations, ranges: ranges ?? self.ranges,
      chains: chains ?? self.chains, floor: floor ?? self.floor, ended: ended ?? self.ended,
      stateFile: stateFile ?? self.stateFile,
      acknowledgements: acknowledgements ?? self.acknowledgements, fields: fields ?? self.fields)
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
