import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Takes in what a file says that members hold: its sender by its header, and all by what they have signed
/// (Specs/forgetting.md, "Acknowledgement").
struct AcknowledgementIntake {
  let header: SyncFileHeader
  let writer: ReplicaWriter
  /// With the members that the file names.
  let roster: Roster
  let forks: ForkWatch
  /// What is held here now that the file's transactions are in.
  let held: VersionVector
  /// The incarnations that have ended.
  let endings: [Origin: SequenceNumber]

  func run() throws { try writer.withAcknowledgements(take) }

  private func take(_ acknowledgements: inout Acknowledgements) throws {
    let sender = header.origin
    if sender != writer.log.origins.own { try takeSender(sender, &acknowledgements) }
    try takeSigned(&acknowledgements)
    try acknowledgements.count(held: held)
    try acknowledgements.forgetRemovals { roster[$0]?.isActive == true }
  }

  private func takeSender(_ sender: Origin, _ acknowledgements: inout Acknowledgements) throws {
    let removed = header.roster.statuses.filter { $0.value == .removed }.keys
    let signed = header.acknowledgements.first { $0.origin == sender }
    let agreed = forks.agreed(header.vector)
    let statedAt = signed?.createdAt ?? header.createdAt
    try acknowledgements.add(
      Acknowledgement(
        vector: agreed, milliseconds: statedAt, removed: Set(removed), ended: Set(header.ended.keys)),
      of: sender, held: header.held, where: { endings[$0] != nil })
    if agreed != header.vector { try acknowledgements.contradict(to: agreed, saidAt: statedAt, of: sender) }
  }

  /// What the sender and others have signed of themselves counts once all of it is held here, by the same history.
  private func takeSigned(_ acknowledgements: inout Acknowledgements) throws {
    let known = SignedAcknowledgements(connection: writer.connection)
    try known.removeEnded(writer.log.origins.ended)
    try known.removeAll(unless: { roster[$0]?.isActive == true })
    for acknowledgement in header.acknowledgements where endings[acknowledgement.origin] == nil {
      if acknowledgement.origin == writer.log.origins.own {
        try known.takeOwn(acknowledgement, if: roster.isTrusted)
      } else if try known.take(acknowledgement, if: roster.isTrusted) {
        try acknowledgements.lower(to: Acknowledgement(acknowledgement), of: acknowledgement.origin)
        acknowledgements.awaited?[acknowledgement.origin] = Dot(acknowledgement.origin, .none)
      }
    }
    try known.weighPending(&acknowledgements, held: held, writer)
  }
}
