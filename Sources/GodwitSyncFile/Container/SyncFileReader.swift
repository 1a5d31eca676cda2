import GodwitBase
import GodwitKeys
import GodwitReplication

/// Reads a sync file as it streams in. Its transactions count only once ``next()`` has returned nil: by then the
/// signature, the final age chunk and the end of the file have been seen.
package final class SyncFileReader {
  package let header: SyncFileHeader
  private let opener: AgeOpener
  private var hasher: ContentHasher
  private let zstd: Zstd
  private var frame: FrameDecoder?
  private var position: FramePosition
  /// Transactions, or the blocks of a snapshot.
  private var count = 0
  private var block: [UInt8]?
  private var isFinished = false
  private let signer: SyncFileSigner
  package private(set) var signature = SyncFileSignature.unread
  package private(set) var sizes = SyncFileSizes()
  package static var formatVersion: Int { Int(SyncFileFormat.version) }

  /// Reads the header. `sender` says whose identities the file must be signed by, or throws for a stranger's file.
  package convenience init(
    _ source: any ByteSource, identities: [AgeIdentity], sender: (SyncFileHeader) throws -> IdentityHistory
  ) throws {
    try self.init(AgeEnvelope(source), identities: identities) { .required(try sender($0)) }
  }

  /// Reads the header of a file whose envelope has been looked at. The first of the identities that opens it must be among
  /// those it is for.
  package init(
    _ envelope: AgeEnvelope, identities: [AgeIdentity], signer: (SyncFileHeader) throws -> SyncFileSigner
  ) throws {
    let identity: AgeIdentity
    (opener, identity) = try Self.open(envelope, identities)
    try envelope.requireOnly(identity.recipient.kind)
    zstd = try Zstd(level: 3)
    hasher = ContentHasher()
    let start = try opener.readExactly(SyncFileFormat.magic.count + 5)
    let size = try Self.headerSize(start)
    let body = try opener.readExactly(size)
    hasher.update(start)
    hasher.update(body)
    sizes.header = size
    sizes.container = start.count + size
    var bodyReader = ByteReader(body)
    header = try SyncFileHeader(reading: &bodyReader)
    guard opener.stanzaCount == header.recipients.count, header.recipients.contains(identity.recipient) else {
      throw GodwitError(
        .corruptFile, "the file was sealed anew to other recipients", hint: "ask the sender for the file itself")
    }
    self.signer = try signer(header)
    position = FramePosition(header.ranges)
  }

  private static func open(
    _ envelope: AgeEnvelope, _ identities: [AgeIdentity]
  ) throws -> (AgeOpener, AgeIdentity) {
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

  private static func headerSize(_ start: [UInt8]) throws -> Int {
    guard start.starts(with: SyncFileFormat.magic) else {
      throw GodwitError(.corruptFile, "this is no sync file", hint: "it opens as an age file, but holds something else")
    }
    var reader = ByteReader(start[SyncFileFormat.magic.count...])
    let version = try reader.byte()
    guard version == SyncFileFormat.version else {
      throw GodwitError(
        .unsupportedVersion, "the sync file has format version \(version); this program reads version 1",
        hint: "update this program, or export again with the older one")
    }
    let size = Int(try reader.bigEndian(UInt32.self))
    guard size <= SyncFileFormat.headerByteLimit else {
      throw GodwitError(.limitExceeded, "the header claims \(size) bytes")
    }
    return size
  }

  /// The next transaction, or nil at the verified end.
  package func next() throws -> TransactionRecord? {
    while !isFinished {
      if let record = try frame?.next(&position) {
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

  /// The next block of a snapshot's items, or nil at the verified end.
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

  private func readPart() throws {
    let start = try opener.readExactly(1)
    hasher.update(start)
    sizes.container += 1
    switch SyncFileFormat.Part(rawValue: start[0]) {
    case .frame where header.snapshot == nil:
      frame = try FrameDecoder(try readPacked(), origins: header.ranges.map(\.origin))
    case .state where header.snapshot != nil: block = try readPacked()
    case .frame, .state: throw ByteReader.malformed("a part that does not belong in this file")
    case .trailer: try readTrailer()
    case nil: throw ByteReader.malformed("unknown part \(start[0])")
    }
  }

  private func readPacked() throws -> [UInt8] {
    let head = try opener.readExactly(8)
    var reader = ByteReader(head)
    let packedSize = Int(try reader.bigEndian(UInt32.self))
    let size = Int(try reader.bigEndian(UInt32.self))
    guard packedSize <= SyncFileFormat.frameByteLimit else {
      throw GodwitError(.limitExceeded, "a frame claims \(packedSize) bytes")
    }
    try SyncFileFormat.checkUnpacked(size: size, packed: packedSize)
    let packed = try opener.readExactly(packedSize)
    hasher.update(head)
    hasher.update(packed)
    sizes.frames += 1
    sizes.packed += packedSize
    sizes.unpacked += size
    sizes.container += head.count + packedSize
    return try zstd.decompress(packed, size: size)
  }

  private func readTrailer() throws {
    let count = try opener.readExactly(8)
    hasher.update(count)
    let signature = try opener.readExactly(64)
    sizes.container += count.count + signature.count
    try check(signature, of: SyncFileFormat.signatureContext + hasher.finalize().bytes)
    var reader = ByteReader(count)
    guard try reader.bigEndian(UInt64.self) == UInt64(self.count), position.isAtEnd else {
      throw ByteReader.malformed("the file holds another number of transactions than it says")
    }
    var extra: UInt8 = 0
    let rest = try withUnsafeMutableBytes(of: &extra) { try opener.read(into: $0) }
    guard rest == 0 else { throw ByteReader.malformed("there is data after the trailer") }
    isFinished = true
  }

  private func check(_ bytes: [UInt8], of message: [UInt8]) throws {
    switch signer {
    case .required(let history):
      signature = Self.judge(bytes, of: message, by: history)
      guard signature != .replacedKey else { throw Self.replacedKey() }
      guard signature == .verified else { throw Self.invalidSignature() }
    case .reported(nil): signature = .unknownSigner
    case .reported(let history?): signature = Self.judge(bytes, of: message, by: history)
    }
  }

  private static func judge(_ bytes: [UInt8], of message: [UInt8], by history: IdentityHistory) -> SyncFileSignature {
    if history.current.verifies(signature: bytes, of: message) { return .verified }
    let isFormer = history.all.dropLast().contains { $0.verifies(signature: bytes, of: message) }
    return isFormer ? .replacedKey : .invalid
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
