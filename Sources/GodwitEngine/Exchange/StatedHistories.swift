import GodwitBase
import GodwitCrypto
import GodwitCore
import GodwitSyncFile

/// Each origin's history as a file states it, up to the transaction read last: chains and contexts follow from what the
/// header says came before, and must end where it says.
struct StatedHistories {
  private let header: SyncFileHeader
  private var chains: [Origin: ContentHash] = [:]
  private var contexts: [Origin: VersionVector] = [:]
  /// The last sequence of each origin in the file.
  private var lasts: [Origin: SequenceNumber] = [:]

  init(_ header: SyncFileHeader) {
    self.header = header
    for origin in header.stateFile?.origins ?? [] {
      chains[origin.origin] = origin.floorChain
      contexts[origin.origin] = origin.floorContext
      lasts[origin.origin] = origin.sequence
    }
    for range in header.ranges {
      chains[range.origin] = range.chainBefore
      contexts[range.origin] = range.contextAtFirst
      lasts[range.origin] = range.last
    }
  }

  /// Compares what came before the file's transactions, and where they end, with what is held here.
  func compare(with log: ChangeLog, _ admission: HistoryAdmission, _ forks: inout ForkWatch) throws {
    for origin in header.stateFile?.origins ?? [] {
      if let chain = try log.chain(at: Dot(origin.origin, origin.floor)), chain != origin.floorChain {
        throw GodwitError.brokenChain(origin.origin)
      }
    }
    for range in header.ranges where !admission.refused.contains(range.origin) {
      try compare(range, with: log, &forks)
    }
    let held = log.origins.vector
    for (origin, claim) in header.chains where held[origin] >= header.vector[origin] {
      let last = Dot(origin, header.vector[origin])
      guard let here = try log.chain(at: last), here != claim.chain else { continue }
      if let head = claim.proof?.head(of: origin, last.sequence, claim.chain), admission.isSigned(head) {
        forks.part(origin, at: last.sequence, isExact: false)
      } else {
        forks.doubt(origin)
      }
    }
  }

  /// Whether the file says nothing about an origin's history at a transaction held here, so that what its sender's
  /// files have shown of it before still stands: of several files each has a part, and shows no more than that.
  func isSilent(on dot: Dot, held: VersionVector) -> Bool {
    guard header.stateFile == nil, header.vector[dot.origin] >= dot.sequence else { return false }
    guard let range = header.ranges.first(where: { $0.origin == dot.origin }) else {
      return held[dot.origin] < header.vector[dot.origin]
    }
    return held[dot.origin].next < range.first || range.last < dot.sequence
  }

  private func compare(_ range: SyncFileHeader.Range, with log: ChangeLog, _ forks: inout ForkWatch) throws {
    let (origin, held) = (range.origin, log.origins.vector[range.origin])
    let before = SequenceNumber(rawValue: range.first.rawValue - 1)
    guard before > .none || range.chainBefore == .zero else { throw GodwitError.brokenChain(origin) }
    guard held >= before else { return }
    if let chain = try log.chain(at: Dot(origin, before)), chain != range.chainBefore {
      forks.part(origin, at: before, isExact: false)
    } else if held >= range.last, try log.chain(at: Dot(origin, range.last)) == range.chainAtEnd {
      forks.agree(origin)
    }
  }

  /// The chain at the next transaction of an origin.
  mutating func follow(_ record: TransactionRecord, _ digest: ContentHash) -> ContentHash {
    let origin = record.dot.origin
    let chain = (chains[origin] ?? .zero).followed(by: digest)
    chains[origin] = chain
    return chain
  }

  /// What the author of the next transaction held, whether the transaction says so or an earlier one.
  mutating func context(of record: TransactionRecord) -> VersionVector {
    if let context = record.context { contexts[record.dot.origin] = context }
    return contexts[record.dot.origin] ?? VersionVector()
  }

  func isLast(_ dot: Dot) -> Bool { lasts[dot.origin] == dot.sequence }

  /// Throws `brokenChain` when a history does not end where the header says.
  func checkEnds() throws {
    for range in header.ranges where chains[range.origin] != range.chainAtEnd {
      throw GodwitError.brokenChain(range.origin)
    }
    for origin in header.stateFile?.origins ?? [] where chains[origin.origin] != origin.chain {
      throw GodwitError.brokenChain(origin.origin)
    }
  }
}
