import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitSyncFile

extension Exporter {
  /// A file whose header builds on another one.
  package struct ShortExport: Sendable {
    package let report: ExportReport
    /// What its header builds on; nil where it has so much to say that it is whole.
    package let base: ContentHash?
    /// The header of the base that was made for it; nil where an earlier one does.
    package let made: (header: [UInt8], bytes: Int)?
  }

  /// How many members the group has.
  package var memberCount: Int { roster.active.count }

  /// What a change of another member's adds to a header that builds on an earlier base: a place, a sequence, a chain.
  private static let growth = 40

  /// Writes a file with a short header, and before it the base where none of those that there are will do.
  ///
  /// - Parameters:
  ///   - isThere: Whether others can find a base where the file will be.
  ///   - sink: Where the file goes.
  ///   - makeDurable: As in ``export(to:makeDurable:progress:)``.
  ///   - withBase: Makes a place for this replica's base with this hash; its body writes the base.
  package func export(
    on isThere: (ContentHash) -> Bool, to sink: any ByteSink,
    makeDurable: (OriginTable.Head, AnchoredState) throws -> Int64,
    withBase: (Origin, ContentHash, _ body: (any ByteSink) throws -> Void) throws -> Void
  ) throws -> ShortExport {
    let draft = try ExportDraft(self, makeDurable)
    let header = try draft.header(draft.ranges)
    let new = try draft.base()
    let known = try shortest(of: HeaderBases(connection).hashes().filter(isThere), for: header, besides: new)
    let base = known ?? (header.canBuild(on: new.header) ? new : nil)
    var made: (header: [UInt8], bytes: Int)?
    if known == nil, let base {
      var bytes = 0
      try withBase(draft.log.origins.own, base.hash) { bytes = try draft.write(base, to: $0) }
      made = (base.header.bytes, bytes)
    }
    let bytes = try draft.write(draft.ranges, on: base, to: sink) {}
    var report = ExportReport(
      transactions: header.transactionCount, isStateFile: false, recipients: recipients.count, bytes: bytes)
    report.ranges = OriginRanges(draft.ranges)
    return ShortExport(report: report, base: base?.hash, made: made)
  }

  /// How many times as large as a new one a base may be that is built on.
  private static let greatestBase = 2

  /// The base on which a header is shortest; nil where a new one is worth its size.
  ///
  /// A base of b bytes that is made whenever headers have grown by e, 40 bytes for each change, costs 40 b / e a
  /// change, and they have e / 2 more meanwhile: the sum is least where e² = 80 b.
  private func shortest(
    of hashes: [ContentHash], for header: SyncFileHeader, besides new: HeaderBase
  ) throws -> HeaderBase? {
    let bases = HeaderBases(connection)
    let size = new.header.byteCount
    var best: (base: HeaderBase, count: Int)?
    // A hostile member's may be of any size.
    for hash in hashes where try bases.byteCount(of: hash) <= Self.greatestBase * size {
      guard let base = try memory.bases.find(hash, in: roster.group, among: bases), header.canBuild(on: base.header)
      else { continue }
      let count = header.byteCount(on: base)
      if count < best?.count ?? .max { best = (base, count) }
    }
    guard let best else { return nil }
    let excess = max(0, best.count - header.byteCount(on: new))
    return excess * excess <= 2 * Self.growth * size ? best.base : nil
  }
}

extension SyncFileHeader {
  fileprivate var bytes: [UInt8] {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes
  }

  fileprivate func byteCount(on base: HeaderBase) -> Int {
    var writer = ByteWriter()
    write(on: base, to: &writer)
    return writer.count
  }
}
