import GodwitCrypto
import GodwitKeys
import GodwitCore

/// Notices where an origin's transactions in a file part from those held here under the same numbers: the origin was
/// copied, with everything by which a copy is known (Specs/incarnations.md, "Forks").
///
/// A chain hash proves all before it, so of many transactions in a row only the last is looked up.
struct ForkWatch {
  /// Where each forked origin parts: the first number known to stand for two transactions.
  private(set) var parted: [Origin: SequenceNumber] = [:]
  /// The first number of each that may mean another transaction to the sender: where it parts, or 1 while it is only
  /// known to have parted before.
  private var doubtful: [Origin: SequenceNumber] = [:]
  /// Origins of which all that both sides hold is known to be the same.
  private var agreeing: Set<Origin> = []
  /// What has been read since the last look.
  private var unchecked: [Origin: [(dot: Dot, chain: ContentHash)]] = [:]
  private let chainHere: (Dot) throws -> ContentHash?

  private static let lookInterval = 256

  init(chainHere: @escaping (Dot) throws -> ContentHash?) { self.chainHere = chainHere }

  /// Origins of which the sender says something else, without anything by their authors that shows it.
  private var unshown: Set<Origin> = []

  /// The sender says that an origin's history is another one here and there. Its word alone forks nobody; what it says
  /// that it holds of the origin, and what was seen of it, counts for nothing meanwhile.
  mutating func doubt(_ origin: Origin) {
    unshown.insert(origin)
    doubtful[origin] = doubtful[origin] ?? SequenceNumber.none.next
  }

  mutating func agree(_ origin: Origin) { agreeing.insert(origin) }

  /// `isExact` says that the transactions before are the same.
  mutating func part(_ origin: Origin, at sequence: SequenceNumber, isExact: Bool) {
    parted[origin] = sequence
    doubtful[origin] = isExact ? sequence : SequenceNumber.none.next
  }

  /// Takes in a transaction that is held here; false when its origin has parted. `isLast` says that the next one is
  /// not held, or in no file.
  mutating func isSame(_ dot: Dot, _ chain: ContentHash, isLast: Bool) throws -> Bool {
    guard parted[dot.origin] == nil else { return false }
    guard !agreeing.contains(dot.origin) else { return true }
    unchecked[dot.origin, default: []].append((dot, chain))
    if isLast || unchecked[dot.origin, default: []].count >= Self.lookInterval { try look(dot.origin) }
    return parted[dot.origin] == nil
  }

  /// Whether an author who held this may have seen another history than the one here: the sender's. All that comes
  /// before the author's transaction must have been taken in.
  mutating func isForeign(_ context: VersionVector) throws -> Bool {
    for origin in unchecked.keys { try look(origin) }
    return doubtful.contains { context[$0.key] >= $0.value }
  }

  /// A vector of the sender's as far as it names transactions that are held here under the same numbers: the history
  /// held here goes to the sender again, so that it learns of the fork.
  func agreed(_ vector: VersionVector) -> VersionVector {
    var agreed = vector
    for (origin, sequence) in parted {
      agreed[origin] = min(agreed[origin], SequenceNumber(rawValue: sequence.rawValue - 1))
    }
    for origin in unshown { agreed[origin] = .none }
    return agreed
  }

  private mutating func look(_ origin: Origin) throws {
    guard let entries = unchecked.removeValue(forKey: origin), let last = entries.last else { return }
    guard let here = try chainHere(last.dot), here != last.chain else { return }
    for entry in entries {
      guard let chain = try chainHere(entry.dot), chain != entry.chain else { continue }
      return part(origin, at: entry.dot.sequence, isExact: true)
    }
  }
}
