import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// Reads a sync file as it streams in. Nothing of it is looked at, but for the preamble, before a signature over it has
/// been checked: each part is signed where it ends (Specs/sync-file.md, "Signatures"). Its transactions count only once
/// ``next()`` has returned nil: by then the trailer, the final age chunk and the end of the file have been seen.
package final class SyncFileReader {
  package let preamble: SyncFilePreamble
  package let header: SyncFileHeader
  /// The header's bytes as they stand in the file.
  package let headerBytes: [UInt8]
  /// The hash of the header that a short one builds on.
  package let base: ContentHash?
  private let opener: AgeOpener
  private var transcript: SyncFileTranscript
  private let zstd: Zstd
  private var frame: FrameDecoder?
  private var position: FramePosition
  private var expansion = SyncFileExpansion()
  /// Transactions, or the blocks of a state file.
  private var count = 0
  private var block: [UInt8]?
  private var isFinished = false
  private let signer: SyncFileSigner
  /// What is known of all signatures so far; of a file that was read to its end, of all.
  package private(set) var signature: SyncFileSignature
  package private(set) var sizes = SyncFileSizes()
  package static var formatVersion: Int { Int(SyncFileFormat.version) }

  /// Reads preamble and header. `sender` says whose identities the file must be signed by, or throws for a stranger's
  /// file; `findBase` finds what a short header builds on.
  package convenience init(
    _ source: any ByteSource, identities: [AgeIdentity], findBase: SyncFileHeader.FindBase = { _ in nil },
    sender: (SyncFilePreamble) throws -> IdentityHistory
  ) throws {
    try self.init(AgeEnvelope(source), identities: identities, findBase: findBase) { .required(try sender($0)) }
  }

  /// Reads preamble and header of a file whose envelope has been looked at. The first of the identities that opens it
  /// must be among those it is for.
  package init(
    _ envelope: AgeEnvelope, identities: [AgeIdentity], findBase: SyncFileHeader.FindBase = { _ in nil },
    signer: (SyncFilePreamble) throws -> SyncFileSigner
  ) throws {
    let (opener, identity) = try Self.open(envelope, identities)
    self.opener = opener
    try envelope.requireOnly(identity.recipient.kind)
    var reading = SyncFileTranscript(opener.binding)
    var size = 0
    func read(_ count: Int) throws -> [UInt8] {
      let bytes = try opener.readExactly(count)
      reading.add(bytes)
      size += count
      return bytes
    }
    let isShort = try Self.isShort(try read(SyncFileFormat.magic.count + 1))
    let preamble = try SyncFilePreamble(read)
    self.preamble = preamble
    let signer = try signer(preamble)
    self.signer = signer
    let message = reading.message(at: .preamble)
    signature = try signer.judge(try read(SignedHead.signatureByteCount), of: message)
    let body = try opener.readExactly(preamble.headerByteCount)
    guard body.withUnsafeBytes({ ContentHash(of: $0) }) == preamble.headerHash else {
      throw ByteReader.malformed("the header is not the one that the preamble names")
    }
    reading.add(body)
    headerBytes = body
    var bodyReader = ByteReader(body)
    if isShort {
      var ahead = bodyReader
      base = try ContentHash(reading: &ahead)
      header = try SyncFileHeader(
        readingShort: &bodyReader, from: preamble.sender, in: preamble.group, findBase)
    } else {
      base = nil
      header = try SyncFileHeader(reading: &bodyReader, from: preamble.sender, in: preamble.group)
    }
    guard opener.stanzaCount == header.recipients.count, header.recipients.contains(identity.recipient) else {
      throw GodwitError(
        .corruptFile, "the file was sealed to others than it says", hint: "ask the sender for the file itself")
    }
    position = FramePosition(header.ranges)
    zstd = try Zstd(level: 3)
    transcript = reading
    sizes.header = body.count
    sizes.container = size + body.count
  }

  private static func open(
    _ envelope: AgeEnvelope, _ identities: [AgeIdentity]
  ) throws -> (AgeOpener, AgeIdentity) {
    let identities = envelope.worthTrying(identities)
    for identity in identities.dropLast() {
      do {
        return (try AgeOpener(envelope, identities: [identity]), identity)
      } catch let error as GodwitError where error.code == .notARecipient {
        // An earlier key may fit.
      }
    }
    guard let last = identities.last else { throw GodwitError(.notARecipient, "there is no key to open the file with") }
    return (try AgeOpener(envelope, identities: [last]), last)
  }

  /// Whether a file that begins so has a short header.
  private static func isShort(_ start: [UInt8]) throws -> Bool {
    guard start.starts(with: SyncFileFormat.magic) else {
      throw GodwitError(
        .corruptFile, "this is no sync file",
        hint: "what it opens to is something else; an invitation is for: godwit join")
    }
    if start.last == SyncFileFormat.shortVersion { return true }
    guard start.last == SyncFileFormat.version else {
      throw GodwitError(
        .unsupportedVersion,
        "the sync file has format version \(start.last ?? 0); this program reads version \(SyncFileFormat.version)",
        hint: "bring both programs to one version, and export again")
    }
    return false
  }

  /// The next transaction, or nil at the verified end.
  package func next() throws -> TransactionRecord? {
    while !isFinished {
      if let record = try frame?.next(&position) {
        try expansion.addTransaction()
        let contextSize = record.context.map(FrameContexts.byteCount) ?? 0
        try expansion.restore(record.changes.count + contextSize, elements: frame?.elements ?? 0)
        guard record.context.map(header.present.covers) ?? true else {
          throw ByteReader.malformed("a transaction whose author had seen more than the sender holds")
        }
        guard record.schemaVersion <= UInt64(header.migrations.count) else {
          throw ByteReader.malformed("a transaction's schema version is not among the migrations")
        }
        count += 1
        return record
      }
      try readPart()
    }
    return nil
  }

  /// The next block of a state file's items, or nil at the verified end.
  package func nextBlock() throws -> [UInt8]? {
    while !isFinished {
      try readPart()
      if let block {
        self.block = nil
        count += 1
        return block
      }
    }
    return nil
  }

  /// How many contributions the next row state of a state file may have.
  package var contributionLimit: Int { expansion.elementsLeft + FrameElements.freeCount }

  /// Counts a row state's contributions, for which the file has to be large enough.
  package func take(contributions count: Int) throws {
    try expansion.restore(0, elements: max(0, count - FrameElements.freeCount))
  }

  private func readPart() throws {
    let start = try read(1)
    switch SyncFileFormat.Part(rawValue: start[0]) {
    case .frame where header.stateFile == nil:
      frame = try FrameDecoder(try readPacked(), header)
    case .state where header.stateFile != nil: block = try readPacked()
    case .frame, .state: throw ByteReader.malformed("a part that does not belong in this file")
    case .trailer: try readTrailer()
    case nil: throw ByteReader.malformed("unknown part \(start[0])")
    }
  }

  private func readPacked() throws -> [UInt8] {
    var reader = ByteReader(try read(8))
    let packedSize = Int(try reader.bigEndian(UInt32.self))
    let size = Int(try reader.bigEndian(UInt32.self))
    guard packedSize <= SyncFileFormat.frameByteLimit else {
      throw GodwitError(.limitExceeded, "a frame claims \(packedSize) bytes")
    }
    try expansion.unpack(size, from: packedSize)
    let packed = try read(packedSize)
    try checkSignature(at: .part)
    sizes.frames += 1
    sizes.packed += packedSize
    sizes.unpacked += size
    return try zstd.decompress(packed, size: size)
  }

  private func readTrailer() throws {
    var reader = ByteReader(try read(8))
    try checkSignature(at: .trailer)
    guard try reader.bigEndian(UInt64.self) == UInt64(self.count), position.isAtEnd else {
      throw ByteReader.malformed("the file holds another number of transactions than it says")
    }
    var extra: UInt8 = 0
    let rest = try withUnsafeMutableBytes(of: &extra) { try opener.read(into: $0) }
    guard rest == 0 else { throw ByteReader.malformed("there is data after the trailer") }
    isFinished = true
  }

  /// Reads bytes that the next signature is over.
  private func read(_ count: Int) throws -> [UInt8] {
    let bytes = try opener.readExactly(count)
    transcript.add(bytes)
    sizes.container += count
    return bytes
  }

  /// Reads the signature over all before it, and throws when the signer is required and has not signed that.
  private func checkSignature(at place: SyncFileTranscript.Place) throws {
    let message = transcript.message(at: place)
    let judged = try signer.judge(try read(SignedHead.signatureByteCount), of: message)
    if signature == .verified { signature = judged }
  }

  package static func replacedKey() -> GodwitError {
    GodwitError(
      .unknownSender, "the file was signed with a key that its sender has replaced since",
      hint: "ask the sender for a new file: godwit export; a copy or backup from before has to join anew")
  }

  package static func invalidSignature() -> GodwitError {
    GodwitError(
      .invalidSignature, "the file's signature does not fit its content", hint: "ask the sender for the file again")
  }
}
