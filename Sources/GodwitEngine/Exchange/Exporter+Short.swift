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
    /// The base that was made for it; nil where an earlier one does.
    package let made: MadeBase?
  }

  /// A base as it stands in its file.
  package struct MadeBase: Sendable {
    package let header: [UInt8]
    /// What it builds on; nil for a whole one.
    package let base: ContentHash?
    /// The size of its file.
    package let bytes: Int
  }

  /// A base where the file will be.
  package struct CarriedBase: Sendable {
    /// When it became known to be there, in milliseconds since 1970 UTC.
    package let at: Int64
    /// Whether its file has it whole: only on such a one another may build, whatever is kept here.
    package let isWhole: Bool

    package init(at: Int64, isWhole: Bool) { (self.at, self.isWhole) = (at, isWhole) }
  }

  /// How many members the group has.
  package var memberCount: Int { roster.active.count }

  /// Writes a file with a short header, and before it the base where none of those that there are will do.
  ///
  /// - Parameters:
  ///   - carried: What is known of a base where the file will be; nil for one that others cannot find there.
  ///   - growth: As in ``BaseChoice``.
  ///   - sink: Where the file goes.
  ///   - makeDurable: As in ``export(to:makeDurable:progress:)``.
  ///   - withBase: Makes a place for this replica's base with this hash; its body writes the base.
  package func export(
    on carried: (ContentHash) -> CarriedBase?, growth: Double, to sink: any ByteSink,
    makeDurable: (OriginTable.Head, AnchoredState) throws -> Int64,
    withBase: (Origin, ContentHash, _ body: (any ByteSink) throws -> Void) throws -> Void
  ) throws -> ShortExport {
    let draft = try ExportDraft(self, makeDurable)
    let header = try draft.header(draft.ranges)
    let new = try draft.base()
    let known = try bases(carried, for: header, below: new.header.byteCount)
    let choice = BaseChoice(of: known, for: header, besides: new, growth: growth)
    var made: MadeBase?
    if choice.isNew, let base = choice.base {
      var bytes = 0
      try withBase(draft.log.origins.own, base.hash) { bytes = try draft.write(base, on: choice.root, to: $0) }
      made = MadeBase(header: base.header.bytes(on: choice.root), base: choice.root?.hash, bytes: bytes)
    }
    let bytes = try draft.write(draft.ranges, on: choice.base, to: sink) {}
    var report = ExportReport(
      transactions: header.transactionCount, isStateFile: false, recipients: recipients.count, bytes: bytes)
    report.ranges = OriginRanges(draft.ranges)
    return ShortExport(report: report, base: choice.base?.hash, made: made)
  }

  /// How many of the bases that are there and can be built on are compared: the latest have most in common with what is
  /// written now. Of the whole ones among them two are enough.
  private static let latestCount = 4
  /// How many are looked at for that.
  private static let readCount = 12
  /// How many times as large as a new one a base may be that is built on.
  private static let greatestBase = 2

  /// The latest bases that are there, and the latest whole ones, each with whether it is whole.
  private func bases(
    _ carried: (ContentHash) -> CarriedBase?, for header: SyncFileHeader, below size: Int
  ) throws -> [(base: HeaderBase, isWhole: Bool)] {
    let bases = HeaderBases(connection)
    let known = try bases.all()
    let sizes = Dictionary(known.map { ($0.hash, $0.byteCount) }, uniquingKeysWith: { first, _ in first })
    // A hostile member's may be of any size.
    let latest = known.filter { entry in
      entry.byteCount + (entry.base.flatMap { sizes[$0] } ?? 0) <= Self.greatestBase * size
    }.compactMap { entry in carried(entry.hash).map { (entry: entry, place: $0) } }.sorted { $0.place.at > $1.place.at }
    var found: [(base: HeaderBase, isWhole: Bool)] = []
    for (entry, place) in latest.prefix(Self.readCount) {
      let isWhole = entry.base == nil && place.isWhole
      guard found.count < Self.latestCount || isWhole && found.count(where: \.isWhole) < 2 else { continue }
      guard let base = try memory.bases.find(entry.hash, in: roster.group, among: bases),
        header.canBuild(on: base.header)
      else { continue }
      found.append((base, isWhole))
    }
    return found
  }
}

extension SyncFileHeader {
  /// As it stands in a file, whole or on a base.
  fileprivate func bytes(on base: HeaderBase?) -> [UInt8] {
    var writer = ByteWriter()
    if let base { write(on: base, to: &writer) } else { write(to: &writer) }
    return writer.bytes
  }
}
