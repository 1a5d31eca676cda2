import Foundation
import Godwit
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// A member that means harm: what it sends, and what the others make of it.
extension World {
  /// A file of the hostile member is refused, and then nothing has changed; or it is taken in, wholly or in part.
  func attack(_ actor: Actor, _ attack: Attack) async throws {
    guard let hostile, actors.indices.contains(attack.source), !actors[attack.source].mustRejoin else { return }
    // Who holds nothing has to believe the state that a member sends (Specs/sync-file.md, "Signed heads").
    let standing = actor.standing
    guard attack.kind != .stateFile || standing.held.origins.contains(where: { $0 != standing.own }) else { return }
    let path = "\(folder)/hostile.godwit-sync"
    guard let bytes = try await forge(attack, for: actor, by: hostile, at: path) else { return }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    // What it wrote is of its history, and comes with later files, too.
    if !attack.kind.isFollowed { isFollowed = false }
    let report: MergeReport
    do {
      report = try await actor.replica.import(from: .file(path))
    } catch let error as GodwitError where Self.refusals.contains(error.code) {
      return try await expectUnchanged(actor, "given a hostile file that was refused: \(error.message)")
    }
    guard report.applied.state == nil else {
      throw SimulationFailure(.transfer, "replica \(actor.index) took a hostile state in the place of its own")
    }
    try await adoptHostile(of: actor)
    try await forgetAfterImport(on: actor)
    try await settleImport(on: actor)
  }

  /// What a file may be refused with. Everything else is a fault of the reader's.
  private static let refusals: Set<GodwitError.Code> = [
    .corruptFile, .truncatedFile, .invalidSignature, .unknownSender, .unsupportedVersion, .limitExceeded, .invalidKey,
    .invalidSchema, .invalidMigration, .migrationMismatch, .schemaMismatch, .needsMigration, .fenced, .otherGroup,
  ]

  /// It sees what an honest file for it says, and makes its own of that; nil when the other does not write to it.
  private func forge(
    _ attack: Attack, for actor: Actor, by hostile: HostileMember, at path: String
  ) async throws -> [UInt8]? {
    _ = try await actors[attack.source].replica.export(to: .file(path), includesAll: true)
    guard let sealed = FileManager.default.contents(atPath: path), let maker = hostile.faces.first else { return nil }
    let source: (header: SyncFileHeader, records: [TransactionRecord])
    do {
      source = try Self.read(Array(sealed), maker.identity)
    } catch let error as GodwitError where error.code == .notARecipient { return nil }
    var generator = SeededGenerator(seed: attack.seed)
    let face = generator.chance(oneIn: 3) ? hostile.faces.randomElement(using: &generator) ?? maker : maker
    var forge = HostileForge(
      member: hostile, face: face, kind: attack.kind, now: actor.clock.milliseconds, isMigrating: latestVersion > 1,
      isForgetting: forgets, mayRejoin: mayRejoin, hasTrees: hasTrees,
      latest: history.transactions.values.map(\.hlc).max() ?? HLC(rawValue: 0),
      draft: HostileDraft(
        source.header, source.records, from: face, to: actor.replica.identity, at: actor.clock.milliseconds),
      generator: generator)
    return try forge.make()
  }

  private static func read(
    _ sealed: [UInt8], _ identity: Identity
  ) throws -> (header: SyncFileHeader, records: [TransactionRecord]) {
    let envelope = try AgeEnvelope(MemorySource(sealed))
    let file = try SyncFileReader(envelope, identities: [identity.ageIdentity]) { _ in .reported(nil) }
    var records: [TransactionRecord] = []
    guard file.header.stateFile == nil else { return (file.header, []) }
    while let record = try file.next() { records.append(record) }
    return (file.header, records)
  }

  /// What of hostile members a replica has applied is history from then on, as its log has it.
  func adoptHostile(of actor: Actor) async throws {
    guard hostile != nil else { return }
    let held = try await actor.replica.standing().held
    for origin in held.origins where HostileMember.replicas.contains(origin.replica) {
      var sequence = held[origin]
      while sequence > .none, history.transactions[Dot(origin, sequence)] == nil {
        let dot = Dot(origin, sequence)
        guard let found = try await actor.replica.transaction(dot) else {
          throw SimulationFailure(.durability, "replica \(actor.index) holds \(dot), which its log has not")
        }
        history.add(
          HistoricTransaction(
            dot: dot, hlc: found.hlc, context: found.context, version: Int(found.transaction.schemaVersion),
            operations: found.transaction.operations.compactMap(HistoricOperation.init)))
        sequence = SequenceNumber(rawValue: sequence.rawValue - 1)
      }
    }
  }

  /// An import forgets when the log is long. With a hostile member here that has to wait until what came of it has been
  /// read (seed 3300001040).
  func forgetAfterImport(on actor: Actor) async throws {
    guard hostile != nil else { return }
    let standing = try await actor.replica.standing()
    let count = standing.held.origins.reduce(0) { $0 + standing.held[$1].rawValue - standing.floor[$1].rawValue }
    if count > keptTransactions { _ = try await actor.replica.forget(portion: .small) }
  }

  /// The hostile member, or one of its making.
  func isHostile(_ replica: ReplicaID) -> Bool { hostile != nil && HostileMember.replicas.contains(replica) }

  // MARK: Removal

  /// The first, whom nobody removes, removes the hostile member and all of its making that it knows of. What others
  /// know of beside lapses with it.
  func removeHostile() async throws {
    guard hostile != nil else { return }
    let hub = actors[0].replica
    for member in try await hub.members.list().reversed() where member.isActive && isHostile(member.identity.replica) {
      try await hub.members.remove("\(member.identity.replica)")
    }
  }

  /// No hostile member is one any more, and nothing waits of it or for it.
  func checkRemoval(_ actor: Actor) async throws {
    guard hostile != nil else { return }
    for member in try await actor.replica.members.list() where member.isActive && isHostile(member.identity.replica) {
      throw SimulationFailure(.transfer, "to replica \(actor.index) \(member.name) is a member still")
    }
    let report = try await actor.replica.history.missing()
    // What it had sent may be gone from everybody who had it, by a backup or a rejoin, as others' changes are then.
    let missing = forgettable.isEmpty ? report.missing.filter { isHostile($0.replica) } : []
    guard !report.waiting.contains(where: { isHostile($0.replica) }), missing.isEmpty else {
      throw SimulationFailure(
        .transfer,
        "on replica \(actor.index) something waits though the hostile member is gone: "
          + "\(report.waiting.map { "\($0.replica) \($0.sequences)" }) for "
          + "\(report.missing.map { "\($0.replica) \($0.sequences)" })")
    }
  }
}
