import GodwitBase
import GodwitCrypto
import GodwitCore
import GodwitStorage
import GodwitSyncFile

extension Exporter {
  /// What a mailbox would have, found without writing it.
  package struct Mailbox: Sendable {
    /// A hash of what its header would say but for times, ranges, chains, floors and what others have acknowledged: as
    /// long as it is the same, this replica has nothing to say that it has not said.
    package let news: ContentHash
    /// A hash of the members' records.
    package let members: ContentHash
    /// The transactions that it would have.
    package let ranges: OriginRanges
    /// Whether some member needs a state file.
    package let needsState: Bool
  }

  /// A hash of the recipients that the file is sealed to.
  package var sealed: ContentHash { recipients.hash }

  /// For the content ``Content/mailbox(besides:)``. Reads no transaction.
  package func mailbox() throws -> Mailbox {
    let log = try ChangeLog(connection)
    let prover = HistoryProver(identity, group: roster.group, log, on: connection)
    let forgotten = try ForgottenVector.load(log, on: connection)
    let waiting = try WaitingRanges(log, besides: identity.replica, on: connection)
    let header = SyncFileHeader(
      group: roster.group, sender: identity.replica, incarnation: log.origins.own.incarnation, createdAt: 0,
      vector: log.origins.vector, held: waiting.held,
      schemaVersion: UInt64(try Meta.integer(.schemaVersion, on: connection)), recipients: recipients,
      roster: roster.records, tables: try Catalog(connection).synced.map(\.definition),
      migrations: try MigrationHistory(connection).used(on: connection).map(\.bytes), ranges: [], chains: [:],
      floor: VersionVector(), ended: log.origins.ended, stateFile: nil, acknowledgements: [])
    var (writer, members) = (ByteWriter(), ByteWriter())
    header.write(to: &writer)
    for record in roster.records.members { record.encode(to: &members) }
    let ranges = try ranges(log, prover, waiting, forgotten) ?? []
    return Mailbox(
      news: writer.bytes.withUnsafeBytes { ContentHash(of: $0) },
      members: members.bytes.withUnsafeBytes { ContentHash(of: $0) }, ranges: OriginRanges(ranges),
      needsState: try known(log).contains { !$0.applied.covers(forgotten) })
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
