import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitSyncFile
import Synchronization

/// The bases that were read last, without what others acknowledge in them: who builds on one says that anew. Files of
/// one group mostly build on the same, and of what a base says they share what is kept here.
package final class KnownBases: Sendable {
  /// A member reads what the others build on, and few of them make bases at a time.
  private static let countMax = 12

  /// The one that was read last comes first.
  private let latest = Mutex<[HeaderBase]>([])

  package init() {}

  /// Nil for one that is not here.
  package func find(_ hash: ContentHash, in group: GroupID, among bases: HeaderBases) throws -> HeaderBase? {
    if let base = latest.withLock({ $0.first { $0.hash == hash } }) { return base }
    let root = { try self.find($0, in: group, among: bases)?.header }
    guard let header = try bases.find(hash, in: group, findRoot: root) else { return nil }
    let base = HeaderBase(hash: hash, header: header)
    latest.withLock { $0 = [base] + $0.filter { $0.hash != hash }.prefix(Self.countMax - 1) }
    return base
  }
}
