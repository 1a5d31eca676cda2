import Godwit
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// One who may make files that the others look at.
struct HostileFace: Sendable {
  let identity: Identity
  let record: MemberRecord

  var replica: ReplicaID { identity.replica }
}

/// A member with keys of its own, which makes files of its choice with the product's own writer: well signed, and odd
/// inside.
final class HostileMember {
  /// A transaction that it has made.
  struct Written {
    let record: TransactionRecord
    let chain: ContentHash
    /// Stated, or that of the one before.
    let context: VersionVector
  }

  let group: GroupID
  /// The member, then others whom it has added.
  private(set) var faces: [HostileFace]
  private(set) var histories: [Origin: [Written]] = [:]

  init(_ face: HostileFace, in group: GroupID) {
    faces = [face]
    self.group = group
  }

  static let name = "mallory"
  /// The member's own replica ID, and those of the ones that it adds behind it.
  static func replica(_ number: Int) -> ReplicaID {
    ReplicaID(Identifier128(high: 0x7265_706C_6963_61, low: UInt64(100 + number)))
  }
  static let puppetCountMax = 3
  static let replicas = Set((0...puppetCountMax).map(replica))

  /// What shows who its files are by: all whom it has added stand on its own record.
  var introduction: RosterRecords { RosterRecords(members: faces.map(\.record).sorted { $0.subject < $1.subject }) }

  /// Adds a member of its own, which it can write files as.
  func addPuppet(at milliseconds: Int64) throws {
    guard let maker = faces.first, faces.count <= Self.puppetCountMax else { return }
    let identity = try Identity.generate(replica: Self.replica(faces.count))
    let record = try MemberRecord.issue(
      group: group, identity: identity.publicIdentity, name: "puppet-\(faces.count)", status: .active, at: milliseconds,
      by: maker.identity, ground: maker.record.hash)
    faces.append(HostileFace(identity: identity, record: record))
  }

  /// Adds a transaction to what one of its origins has written.
  func write(
    _ origin: Origin, hlc: HLC, schemaVersion: UInt64, context: VersionVector?, changes: [UInt8]
  ) {
    let before = histories[origin]?.last
    let stated = context ?? (before == nil ? VersionVector() : nil)
    let sequence = SequenceNumber(rawValue: UInt64(histories[origin]?.count ?? 0) + 1)
    let record = TransactionRecord(
      dot: Dot(origin, sequence), hlc: hlc, schemaVersion: schemaVersion, context: stated, changes: changes)
    histories[origin, default: []].append(
      Written(
        record: record, chain: (before?.chain ?? .zero).followed(by: record.digest()),
        context: stated ?? before?.context ?? VersionVector()))
  }

  /// A range from a sequence number through the last.
  func range(_ origin: Origin, from first: Int, by author: Identity) throws -> SyncFileHeader.Range? {
    guard let history = histories[origin], let last = history.last, (1...history.count).contains(first) else {
      return nil
    }
    let before = first > 1 ? history[first - 2] : nil
    let end = last.record.dot.sequence
    return SyncFileHeader.Range(
      origin: origin, first: SequenceNumber(rawValue: UInt64(first)), last: end, chainBefore: before?.chain ?? .zero,
      chainAtEnd: last.chain, contextAtFirst: before?.context ?? VersionVector(),
      proof: HeadProof(signature: try SignedHead.issue(group: group, origin, end, last.chain, by: author).signature))
  }
}
