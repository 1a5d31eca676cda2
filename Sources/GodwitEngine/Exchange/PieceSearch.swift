import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// Goes through transactions in the order in which they are written, and finds the furthest place where a file of them
/// is no larger than a limit.
struct PieceSearch {
  let limit: Int
  let sizer: SyncFileSizer
  private var parts: SyncFileSizer.Parts
  private var header: PieceHeader
  /// The furthest place that fits, and what came since.
  private var within: [Origin: SequenceNumber] = [:]
  private var since: [(origin: Origin, last: SequenceNumber)] = []
  /// The first place where a cut is possible at all, for when none fits.
  private var first: [Origin: SequenceNumber]?
  /// Whether nothing more fits, as far as can be seen.
  private(set) var isFull = false

  /// A file that is filled up to this part of its limit is not filled further at any price.
  private static let slack = 64

  init(limit: Int, sizer: SyncFileSizer, parts: SyncFileSizer.Parts, header: PieceHeader) {
    self.limit = limit
    self.sizer = sizer
    self.parts = parts
    self.header = header
  }

  /// Up to where the file has each origin; and whether it fits, or is the smallest one that is possible.
  var found: (reached: [Origin: SequenceNumber], isWithin: Bool) {
    if !within.isEmpty { return (within, true) }
    return (first ?? reached, false)
  }

  private var reached: [Origin: SequenceNumber] { within.merging(since.map { ($0.origin, $0.last) }) { $1 } }

  mutating func take(_ record: TransactionRecord) throws {
    try parts.append(record)
    header.add(record.dot)
    since.append((record.dot.origin, record.dot.sequence))
    if try isWithinLimit() {
      for place in since { within[place.origin] = place.last }
      since.removeAll(keepingCapacity: true)
    } else if within.isEmpty, first == nil, header.isProvable, header.digestByteCount <= limit / 2 {
      first = reached
    }
    let isFound = !within.isEmpty || first != nil
    let least = sizer.byteCount(header: header.byteCount - header.digestByteCount, parts: parts.least)
    isFull = isFound && least + (within.isEmpty ? 0 : limit / Self.slack) > limit
  }

  /// Packs what has come only when that may decide: it takes the time of compressing a frame.
  private mutating func isWithinLimit() throws -> Bool {
    func size(_ parts: Int) -> Int { sizer.byteCount(header: header.byteCount, parts: parts) }
    guard size(parts.most) > limit else { return header.isProvable }
    let mayFit = header.isProvable && size(parts.least) <= limit
    guard mayFit || parts.unmeasured > limit / Self.slack else { return false }
    try parts.measure()
    return header.isProvable && size(parts.most) <= limit
  }
}

/// How large the header of a file is that is cut somewhere, and whether its ranges can be shown to be their authors'.
struct PieceHeader {
  private let ranges: [Origin: SyncFileHeader.Range]
  private let own: ReplicaID
  private let chains: [Origin: SyncFileHeader.Chain]
  /// Digests up to a signed head, of each origin that the file has so far.
  private var digests: [Origin: Int] = [:]
  private var digestCount = 0
  /// Origins with more digests than a header takes.
  private var unprovable = 0
  private var besideDigests: Int

  /// Numbers that are greater than planned.
  private static let spareByteCount = 16

  /// - Parameters:
  ///   - ranges: All of which the file may have something.
  ///   - empty: The header without any.
  ///   - byteCount: Its size.
  ///   - own: Whose heads can be signed anywhere.
  init(_ ranges: [SyncFileHeader.Range], _ empty: SyncFileHeader, byteCount: Int, own: ReplicaID) {
    self.ranges = Dictionary(uniqueKeysWithValues: ranges.map { ($0.origin, $0) })
    self.own = own
    chains = empty.chains
    besideDigests = byteCount + Self.spareByteCount
  }

  var isProvable: Bool { unprovable == 0 }
  var digestByteCount: Int { digestCount * ContentHash.byteCount }
  var byteCount: Int { besideDigests + digestByteCount }

  /// Takes in the next transaction of an origin.
  mutating func add(_ dot: Dot) {
    guard let range = ranges[dot.origin] else { return }
    let before = digests[dot.origin]
    if before == nil { besideDigests += range.byteCountWithoutDigests - (chains[dot.origin]?.byteCount ?? 0) }
    let isOwn = dot.origin.replica == own
    let after = isOwn ? 0 : Int(range.last.rawValue - dot.sequence.rawValue) + range.proof.ahead.count
    digests[dot.origin] = after
    digestCount += after - (before ?? 0)
    func isTooMany(_ count: Int) -> Int { count > HeadProof.aheadLimit ? 1 : 0 }
    unprovable += isTooMany(after) - isTooMany(before ?? 0)
  }
}
