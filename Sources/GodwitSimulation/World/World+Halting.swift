import Godwit
import GodwitCore

/// Machines that stop in the middle of what is neither a write nor an import.
extension World {
  func halt(_ event: Event, on actor: Actor, after statement: Int) async throws {
    switch event {
    case .export(_, _, let includesAll): try await haltExporting(actor, includesAll: includesAll, after: statement)
    case .compact: try await haltCompacting(actor, after: statement)
    case .upgrade:
      let program = min(actor.program + 1, latestVersion)
      try await upgrade(actor) {
        _ = try await actor.crashing(after: statement) { try await actor.upgrade(to: program) }.get()
      }
    case .rejoin(let file, _):
      if let file = files[file] { try await haltRejoining(actor, with: file, after: statement) }
    default: break
    }
  }

  /// The file is lost.
  private func haltExporting(_ actor: Actor, includesAll: Bool, after statement: Int) async throws {
    guard !actor.mustRejoin else { return }
    let path = "\(folder)/lost.godwit-sync"
    _ = try await actor.crashing(after: statement) {
      try await actor.replica.export(to: .file(path), includesAll: includesAll)
    }.get()
    try await expectUnchanged(actor, "stopped while it exported")
  }

  /// As much has been forgotten as whole steps had.
  private func haltCompacting(_ actor: Actor, after statement: Int) async throws {
    let before = actor.standing
    _ = try await actor.crashing(after: statement) { try await actor.replica.maintenance.compact() }.get()
    let now = try await actor.replica.standing()
    guard now.held == before.held, now.own == before.own, now.floor.covers(before.floor) else {
      throw SimulationFailure(
        .durability, "replica \(actor.index) was stopped while it forgot, and lost more than that")
    }
    actor.standing = now
  }

  /// All of the rejoin is there, or nothing of it but that the replica continues in another incarnation: the anchor
  /// comes first.
  private func haltRejoining(_ actor: Actor, with file: SyncFileInFlight, after statement: Int) async throws {
    let report = try await merging(file, into: actor) {
      try await actor.crashing(after: statement) { try await actor.replica.rejoin(from: .file(file.path)) }.get()
    }
    guard let report else { return }
    let now = try await actor.replica.standing()
    guard now.held != actor.standing.held || now.floor != actor.standing.floor else { return actor.standing = now }
    try await settleRejoin(report, file, on: actor)
  }
}
