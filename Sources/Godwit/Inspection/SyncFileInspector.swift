import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitEngine
import GodwitSyncFile

/// Reads a sync file to its end as an import does, in the memory of one frame, and takes nothing in.
struct SyncFileInspector {
  let replica: ReplicaID
  let identities: [AgeIdentity]
  let roster: Roster

  /// What the file is; throws for a file that is malformed, cut, changed or sealed to others. A signature that is not
  /// the sender's is reported, not thrown.
  func inspect(
    _ envelope: AgeEnvelope, onTransaction: ((LoggedTransaction) throws -> Void)?
  ) throws -> SyncSource.Inspection.Content {
    var known = roster
    let file = try SyncFileReader(envelope, identities: identities) { preamble in
      known.merge(preamble.introduction)
      return .reported(signer(preamble, known))
    }
    // What its sender vouches for shows whose transactions are whose, as an import has it.
    var vouched = known
    if file.signature == .verified {
      known.merge(file.header.roster)
      vouched.merge(file.header.roster, isVouchedFor: true)
    }
    let admission = HistoryAdmission(file.header, vouched)
    var walk = SyncFileWalk(file.header)
    do {
      while let record = try walk.next(in: file) {
        try walk.take(record)
        try onTransaction?(try LoggedTransaction(record, context: walk.context(of: record.dot.origin)))
      }
      try walk.finish()
      if file.signature == .verified, file.header.stateFile != nil {
        try admission.requireAll(of: file.header)
      }
    } catch let error as GodwitError {
      // The signature comes first: what somebody else has made need not be distinguished further.
      throw file.signature == .invalid ? SyncFileReader.invalidSignature() : error
    }
    return content(file, known, admission, walk)
  }

  private func signer(_ preamble: SyncFilePreamble, _ known: Roster) -> IdentityHistory? {
    guard preamble.group == known.group else { return nil }
    return try? known.sender(preamble.sender).history
  }

  private func content(
    _ file: SyncFileReader, _ known: Roster, _ admission: HistoryAdmission, _ walk: SyncFileWalk
  ) -> SyncSource.Inspection.Content {
    let header = file.header
    let isOwnGroup = header.group == known.group
    let isRemoved = isOwnGroup && known[header.sender]?.isActive == false
    return SyncSource.Inspection.Content(
      formatVersion: SyncFileReader.formatVersion, group: header.group, isOwnGroup: isOwnGroup, sender: header.sender,
      incarnation: header.origin.incarnationID,
      milliseconds: header.createdAt, schemaVersion: header.schemaVersion, isStateFile: header.stateFile != nil,
      recipients: header.recipients.map { recipient in
        let member = known.all.lazy.flatMap(\.history.all).first { $0.recipient == recipient }
        return SyncSource.Inspection.Recipient(
          replica: member?.replica, fingerprint: member?.fingerprint ?? recipient.fingerprint)
      },
      ranges: walk.ranges(admission), tables: walk.tables, migrations: header.migrations.count,
      transactions: header.transactionCount, applied: header.vector.positions, waiting: header.held.positions,
      forgotten: header.floor.positions,
      acknowledgements: header.acknowledgements.map { acknowledgement in
        SyncSource.Inspection.Acknowledgement(
          replica: acknowledgement.subject, incarnation: acknowledgement.origin.incarnationID,
          milliseconds: acknowledgement.createdAt,
          applied: acknowledgement.vector.positions, isSigned: isOwnGroup && known.isSigned(acknowledgement))
      },
      unknownFields: header.fields.map(\.tag),
      sizes: SyncSource.Inspection.Sizes(
        container: file.sizes.container, header: file.sizes.header, frames: file.sizes.frames,
        packed: file.sizes.packed, unpacked: file.sizes.unpacked),
      signature: isRemoved ? .removedSender : SyncSource.Inspection.Signature(file.signature),
      members: known.all.map { Member($0, own: replica) })
  }
}

extension SyncSource.Inspection.Signature {
  fileprivate init(_ signature: SyncFileSignature) {
    switch signature {
    case .verified: self = .verified
    case .invalid: self = .invalid
    case .unknownSigner: self = .unknownSender
    case .replacedKey: self = .replacedKey
    }
  }
}

extension VersionVector {
  fileprivate var positions: [SyncSource.Inspection.Position] {
    origins.map {
      SyncSource.Inspection.Position(
        replica: $0.replica, incarnation: $0.incarnationID, sequence: self[$0].rawValue)
    }
  }
}
