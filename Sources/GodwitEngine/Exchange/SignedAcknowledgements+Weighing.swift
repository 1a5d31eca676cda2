import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

extension SignedAcknowledgements {
  /// What others have signed of themselves counts once all of it is held here, by the same history. One that names
  /// something else is not read again before that is held.
  func weighPending(_ acknowledgements: inout Acknowledgements, held: VersionVector, _ writer: ReplicaWriter) throws {
    var awaited = try acknowledgements.awaited ?? Self.notLooked(at: pending())
    let reached = awaited.filter { held[$0.value.origin] >= $0.value.sequence }.keys.sorted()
    for origin in reached {
      let acknowledgement = try latest(of: origin)
      awaited[origin] = acknowledgement.flatMap { $0.vector.last(above: held) }
      guard let acknowledgement, awaited[origin] == nil else { continue }
      try weigh(acknowledgement, &acknowledgements, writer)
    }
    acknowledgements.awaited = awaited
  }

  private static func notLooked(at origins: [Origin]) -> [Origin: Dot] {
    Dictionary(uniqueKeysWithValues: origins.map { ($0, Dot($0, .none)) })
  }

  private func weigh(
    _ acknowledgement: SignedAcknowledgement, _ acknowledgements: inout Acknowledgements, _ writer: ReplicaWriter
  ) throws {
    let chains = try SignedAcknowledgement.hash(acknowledgement.vector) { try writer.log.chain(at: $0) }
    if chains == acknowledgement.chains {
      let ended = writer.log.origins.ended
      try acknowledgements.count(Acknowledgement(acknowledgement), of: acknowledgement.origin) { ended[$0] != nil }
      try compareState(acknowledgement, writer)
    }
    try settle(acknowledgement.origin)
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
