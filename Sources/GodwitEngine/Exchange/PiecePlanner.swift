import GodwitBase
import GodwitCore
import GodwitSyncFile

/// The transactions of one file of several.
struct ExportPiece {
  let ranges: [SyncFileHeader.Range]
  /// Up to where this file and those before it have each origin that is written.
  let end: [Origin: SequenceNumber]
  /// Whether it has all that is left.
  let isLast: Bool
  /// Whether it was found to be no larger than the limit. One that is not cannot be smaller.
  let isWithin: Bool

  init(_ ranges: [SyncFileHeader.Range], end: [Origin: SequenceNumber], isLast: Bool, isWithin: Bool) {
    self.ranges = ranges
    self.end = end
    self.isLast = isLast
    self.isWithin = isWithin
  }

  /// One that has all, or a state.
  init(all ranges: [SyncFileHeader.Range], isWithin: Bool) {
    let ends = Dictionary(uniqueKeysWithValues: ranges.map { ($0.origin, $0.last) })
    self.init(ranges, end: ends, isLast: true, isWithin: isWithin)
  }

  var transactionCount: Int {
    ranges.reduce(0) { $0 + Int($1.last.rawValue - $1.first.rawValue) + 1 }
  }
}

/// Finds where the files of an export are cut: each as far on as its limit allows, in the order in which transactions
/// are written, and where its ranges can be shown to be their authors' (Specs/sync-file.md, "Several files").
struct PiecePlanner {
  private let draft: ExportDraft
  private let sizer: SyncFileSizer
  private let empty: SyncFileHeader
  private let emptyByteCount: Int

  /// What says that a file has all that it takes.
  private struct Full: Error {}

  init(_ draft: ExportDraft) throws {
    self.draft = draft
    empty = try draft.header([])
    emptyByteCount = empty.byteCount
    sizer = try SyncFileSizer(empty, introduction: draft.introduction)
  }

  /// Throws `invalidArgument` for a limit that has no room for what each file begins with.
  func requireRoom(in limit: Int) throws {
    let least = 2 * sizer.byteCount(header: emptyByteCount, parts: 0)
    guard limit >= least else {
      throw GodwitError(
        .invalidArgument, "each file begins with \(least / 2) bytes about members and tables: \(limit) are too few",
        hint: "give a size of \(least) bytes or more")
    }
  }

  /// The next piece.
  ///
  /// - Parameters:
  ///   - sent: Up to where the pieces before it have each origin.
  ///   - limit: How many bytes its file may take.
  func piece(after sent: [Origin: SequenceNumber], limit: Int) throws -> ExportPiece {
    let left = try draft.ranges.compactMap { try rest(of: $0, after: sent[$0.origin]) }
    var search = PieceSearch(
      limit: limit, sizer: sizer,
      parts: try SyncFileSizer.Parts(origins: left.map(\.origin), present: empty.present),
      header: PieceHeader(left, empty, byteCount: emptyByteCount, own: empty.sender))
    do {
      try draft.forEachInCausalOrder(left, after: sent) { record in
        try search.take(record)
        if search.isFull { throw Full() }
      }
    } catch is Full {}
    let found = search.found
    let ranges = try left.compactMap { range in try found.reached[range.origin].map { try cut(range, at: $0) } }
    return ExportPiece(
      ranges, end: sent.merging(found.reached) { $1 },
      isLast: left.allSatisfy { found.reached[$0.origin] == $0.last }, isWithin: found.isWithin)
  }

  /// What is left of a range; nil when it has been sent.
  private func rest(of range: SyncFileHeader.Range, after sent: SequenceNumber?) throws -> SyncFileHeader.Range? {
    guard let sent, sent >= range.first else { return range }
    guard sent < range.last else { return nil }
    let before = Dot(range.origin, sent)
    let chain = try draft.state(at: before).chain
    return SyncFileHeader.Range(
      origin: range.origin, first: sent.next, last: range.last, chainBefore: chain, chainAtEnd: range.chainAtEnd,
      contextAtFirst: try draft.context(after: before), proof: range.proof)
  }

  /// A range's beginning.
  private func cut(_ range: SyncFileHeader.Range, at last: SequenceNumber) throws -> SyncFileHeader.Range {
    guard last < range.last else { return range }
    let (chain, _) = try draft.state(at: Dot(range.origin, last))
    return SyncFileHeader.Range(
      origin: range.origin, first: range.first, last: last, chainBefore: range.chainBefore, chainAtEnd: chain,
      contextAtFirst: range.contextAtFirst,
      proof: try draft.prover.proof(of: Dot(range.origin, last), chain, within: range, draft.waiting))
  }
}
