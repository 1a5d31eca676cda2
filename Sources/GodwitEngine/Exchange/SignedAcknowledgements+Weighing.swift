import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

extension SignedAcknowledgements {
  /// What others have signed of themselves counts once all of it is held here, by the same history.
  func weighPending(_ acknowledgements: inout Acknowledgements, held: VersionVector, _ writer: ReplicaWriter) throws {
    let log = writer.log
    for acknowledgement in try pending() where held.covers(acknowledgement.vector) {
      let chains = try SignedAcknowledgement.hash(acknowledgement.vector) { try log.chain(at: $0) }
      if chains == acknowledgement.chains {
        try acknowledgements.count(Acknowledgement(acknowledgement), of: acknowledgement.origin)
        try compareState(acknowledgement, writer)
      }
      try settle(acknowledgement.origin)
    }
  }

  /// Who holds the same must have the same in its tables.
  private func compareState(_ acknowledgement: SignedAcknowledgement, _ writer: ReplicaWriter) throws {
    let log = writer.log
    guard acknowledgement.vector == log.origins.vector else { return }
    try writer.tally.flush(through: log.origins.ownKey)
    let own = try StatedState.present(writer.tally.state, connection, writer.catalog)
    guard own.isComparable(with: acknowledgement.state) else { return }
    try note(differs: own.contradicts(acknowledgement.state), acknowledgement.origin)
  }
}
