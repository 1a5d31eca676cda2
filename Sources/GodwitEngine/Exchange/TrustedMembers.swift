import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitSyncFile
import Synchronization

/// The members as the own keyring has them. What follows from its records is worked out once, for as long as it has the
/// same ones.
package final class TrustedMembers: Sendable {
  let group: GroupID
  let location: KeyringLocation
  private let latest = Mutex<(trusted: RosterRecords, roster: Roster)?>(nil)

  package init(group: GroupID, location: KeyringLocation) {
    self.group = group
    self.location = location
  }

  /// Those in a keyring that was read.
  package func roster(_ contents: KeyringContents) throws -> Roster {
    let trusted = try contents.roster
    if let latest = latest.withLock({ $0 }), latest.trusted == trusted { return latest.roster }
    let roster = Roster(group: group, trusted: trusted)
    latest.withLock { $0 = (trusted, roster) }
    return roster
  }

  /// Once the import has its turn: another one may have brought news since the file was opened.
  package func load() throws -> Roster { try roster(Keyring.open(at: location)) }

  /// The active member that made a file. Of one that was removed, where nothing but the file's own introduction shows
  /// it, the removal is kept: the file is refused for that, and who is to be let in again has to be known as removed.
  ///
  /// - Parameters:
  ///   - preamble: What the file says of who made it.
  ///   - known: The members known until now.
  ///   - isPlanned: Whether nothing is to be kept.
  /// - Throws: `unknownSender`.
  package func sender(of preamble: SyncFilePreamble, among known: Roster, isPlanned: Bool) throws -> Roster.Entry {
    do {
      return try known.sender(of: preamble)
    } catch {
      var shown = known
      shown.merge(preamble.introduction)
      let isNews = known[preamble.sender]?.isActive == true && shown[preamble.sender]?.isActive == false
      if isNews, !isPlanned { try keep(preamble.introduction) }
      throw error
    }
  }

  /// Drops what waits of members that were removed: their removal may be known from a file that was refused for it.
  package func dropWaiting(on writer: ReplicaWriter) throws {
    let staged = StagedTransactions(connection: writer.connection)
    guard try staged.count() > 0 else { return }
    let roster = try load()
    try writer.inTransaction {
      for entry in try staged.amounts() where roster[entry.origin.replica]?.isActive != true {
        try staged.remove(of: entry.origin.replica)
      }
    }
  }

  /// Keeps what a verified file said of members, for whom its sender vouches, unless all of it was there when the
  /// import had its turn.
  func remember(_ records: RosterRecords, beyond known: Roster) throws {
    var known = known
    guard known.merge(records, isVouchedFor: true) else { return }
    try keep(records, isVouchedFor: true)
  }

  /// Keeps the epoch that a verified file brought. Whoever gives one away is of its set, so that its removal ends it.
  func rememberEpoch(of header: SyncFileHeader) throws {
    guard let key = header.epoch else { return }
    let contents = try Keyring.open(at: location)
    let sender = try roster(contents)[header.sender]
    guard let recipient = sender?.identity.recipient, header.recipients.contains(recipient),
      try !contents.epochs.contains(where: { $0.key.recipient == key.recipient })
    else { return }
    let epoch = Epoch(key, set: header.recipients.hash, maker: header.sender)
    try Keyring.update(at: location) { try $0.add(epoch) }
  }

  private func keep(_ records: RosterRecords, isVouchedFor: Bool = false) throws {
    try Keyring.update(at: location) { contents in
      var roster = Roster(group: group, trusted: try contents.roster)
      roster.merge(records, isVouchedFor: isVouchedFor)
      contents.setRoster(roster.records)
    }
  }
}
