import GodwitBase
import GodwitCrypto
import GodwitCore
import GodwitStorage
import GodwitSyncFile

extension Exporter {
  /// What a mailbox would have, found without writing it.
  package struct Mailbox: Sendable {
    /// A hash of what its header would say but for times, ranges, chains, what others have acknowledged, and floors
    /// that no member is below: as long as it is the same, this replica has nothing to say that it has not said.
    package let news: ContentHash
    /// A hash of the members' records.
    package let members: ContentHash
    /// A hash of the recipients that it would be for.
    package let sealed: [UInt8]
    /// The transactions that it would have.
    package let ranges: OriginRanges
    /// What a state must have by now for those who need one; nil where nobody does.
    package let stateNeed: VersionVector?
    /// Since when some member has said that it holds what is not here, in milliseconds since 1970 UTC by its clock.
    package let lackedSince: Int64?
  }

  /// A hash of the recipients that the file is for, whether it is sealed to each of them or to their epoch.
  package var sealed: ContentHash { recipients.hash }

  /// The kind of their keys.
  package var kind: AgeKeyKind { identity.publicIdentity.recipient.kind }

  /// For the content ``Content/mailbox(besides:)``. Reads no transaction.
  ///
  /// - Parameter unaware: Incarnations that need a state file whatever they have acknowledged.
  package func mailbox(unaware: Set<Origin> = []) throws -> Mailbox {
    let stateNeed = try view.stateNeed(of: unaware)
    // Who lacks what has been forgotten finds that out by the floor.
    let header = try header(createdAt: 0, floor: stateNeed == nil ? VersionVector() : view.forgotten)
    var (writer, members) = (ByteWriter(), ByteWriter())
    header.write(to: &writer)
    for record in header.roster.members { record.encode(to: &members) }
    let ranges = try ranges() ?? []
    let present = view.log.origins.vector.union(view.waiting.held)
    return Mailbox(
      news: writer.bytes.withUnsafeBytes { ContentHash(of: $0) },
      members: members.bytes.withUnsafeBytes { ContentHash(of: $0) }, sealed: sealed.bytes,
      ranges: OriginRanges(ranges),
      stateNeed: stateNeed, lackedSince: try view.incarnations().lackedSince(roster, present: present))
  }
}

extension [AgeRecipient] {
  /// What distinguishes these from others.
  package var hash: ContentHash {
    var writer = ByteWriter()
    for recipient in self { writer.raw(recipient.bytes) }
    return writer.bytes.withUnsafeBytes { ContentHash(of: $0) }
  }
}

extension OriginRanges {
  /// The transactions of a file.
  package init(_ ranges: [SyncFileHeader.Range]) {
    self.init(
      Dictionary(ranges.map { ($0.origin, $0.first...$0.last) }, uniquingKeysWith: { first, _ in first }))
  }
}
