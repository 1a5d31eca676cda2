import Foundation
import Godwit
import GodwitCore
import GodwitEngine

/// Replicas of one group on real files, with a clock, a network and disks that the events of a trace move.
final class World {
  let folder: String
  let clock = SimulatedClock()
  private(set) var actors: [Actor] = []
  /// How long a log may be before imports forget.
  let keptTransactions: Int
  /// Whether anything was removed or forgotten by now, so that files may be refused.
  var forgets: Bool { keptTransactions < 1_000 }
  /// Whether somebody may have to take over another's state.
  let mayRejoin: Bool
  /// The schema version that all programs come to.
  let latestVersion: Int
  let hasTrees: Bool
  /// How much a member forgets at a time, where that is little.
  let portion: Int?
  /// Who hands files to whom, copies left out.
  let ways: [(from: Int, to: Int)]
  /// What is written when all was forgotten.
  let epilogue: [Plan]
  var history = History()
  /// Files that were made, by number.
  var files: [Int: SyncFileInFlight] = [:]
  /// Transactions that a restored replica lost; they may be nowhere else.
  var forgettable: Set<Dot> = []
  /// One that means harm, in some worlds.
  let hostile: HostileMember?
  /// Whether the model can follow what all did: of what a hostile member sent some is beyond it.
  var isFollowed = true

  struct SyncFileInFlight {
    let path: String
    let sender: Int
    /// What its sender held.
    let held: VersionVector
    /// Who can open it.
    let recipients: Set<Int>
    let isStateFile: Bool
    /// How often its sender had been a member again by then.
    let readmissions: Int
  }

  /// Makes the replicas in a folder that the caller owns.
  init(_ trace: Trace, kept: [Int], folder: String, template: FolderTemplate) async throws {
    self.folder = folder
    keptTransactions = trace.keptTransactions
    let isReadmitting = trace.events.contains { if case .readmit = $0 { true } else { false } }
    mayRejoin = isReadmitting || trace.keptTransactions < 1_000
    ways = trace.ways
    epilogue = trace.epilogue
    latestVersion = trace.latestVersion
    (hasTrees, portion) = (trace.hasTrees, trace.portion)
    let crashing = Set(kept.compactMap { trace.events[$0].crashingActor })
    hostile = trace.isHostile ? try await template.hostileMember(trace.actorCount) : nil
    let incarnations = IncarnationNumbers.seeded(trace.seed)
    let paths = try await template.make(trace.actorCount, isHostile: trace.isHostile, in: folder)
    var tuning = Replica.Tuning()
    if hostile == nil { tuning.keptTransactions = trace.keptTransactions }
    for (index, path) in paths.enumerated() {
      actors.append(
        try await Actor(
          index: index, path: path, clock: MachineClock(clock), incarnations: incarnations,
          countsStatements: crashing.contains(index),
          tuning: tuning))
    }
    // Their folders are copies of a template's, which nobody continues.
    for actor in actors { try await endReplaced(by: actor.replica) }
  }

  func close() async { for actor in actors { await actor.close() } }

  /// The actor of this number; nil for a clone that was not made.
  private func actor(_ index: Int) -> Actor? { actors.indices.contains(index) ? actors[index] : nil }

  func run(_ event: Event) async throws {
    switch event {
    case .pass(let milliseconds): clock.advance(milliseconds)
    case .export(let index, let file, let includesAll):
      if let actor = actor(index) { try await export(from: actor, file: file, includesAll: includesAll) }
    default:
      guard let actor = event.actor.flatMap(actor) else { return }
      try await run(event, on: actor)
    }
  }

  private func run(_ event: Event, on actor: Actor) async throws {
    switch event {
    case .pass, .export: break
    case .setClock(_, let offset): actor.clock.set(offset: offset)
    case .write(_, let plan): try await write(plan, on: actor)
    case .crashWriting(_, let plan, let statement): try await crashWriting(plan, on: actor, after: statement)
    case .deliver(let file, _): try await deliver(file, to: actor)
    case .crashImporting(let file, _, let statement): try await crashImporting(file, on: actor, after: statement)
    case .deliverDamaged(let file, _, let damage): try await deliverDamaged(file, damage, to: actor)
    case .reopen:
      try await actor.reopen()
      try await expectUnchanged(actor, "reopened")
    case .check: try await check(actor)
    case .clone:
      let copy = try await actor.clone(as: actors.count, clock: MachineClock(clock))
      // Nobody waits for a copy that has not spoken up.
      copy.wasAway = true
      (copy.mustRejoin, copy.readmissions) = (actor.mustRejoin, actor.readmissions)
      copy.hasLoadedState = actor.hasLoadedState
      actors.append(copy)
    case .backUp: try await actor.backUp()
    case .restore:
      let before = actor.standing
      guard try await actor.restore() else { return }
      // A newer program than then has migrated it.
      try await adoptOwn(of: actor)
      for other in actors where other.owner == actor.owner { other.wasAway = true }
      forgettable.formUnion(history.transactions(in: before.held).map(\.dot).filter { !actor.standing.held.covers($0) })
    case .upgrade: try await upgrade(actor, to: min(actor.program + 1, latestVersion))
    case .compact: try await compact(actor, portion: portion)
    case .remove(_, let remover): if let remover = self.actor(remover) { try await remove(actor, by: remover) }
    case .readmit(_, let host, let file):
      if let host = self.actor(host) { try await readmit(actor, by: host, file: file) }
    case .rejoin(let file, _): if let file = files[file] { try await rejoin(actor, with: file) }
    case .halt(let event, let statement): try await halt(event, on: actor, after: statement)
    case .attack(_, let attack): try await self.attack(actor, attack)
    }
  }
}

extension Event {
  fileprivate var crashingActor: Int? {
    switch self {
    case .crashWriting(let actor, _, _), .crashImporting(_, let actor, _): actor
    case .halt(let event, _): event.actor
    default: nil
    }
  }

  fileprivate var actor: Int? {
    switch self {
    case .pass: nil
    case .halt(let event, _): event.actor
    case .setClock(let actor, _), .write(let actor, _), .crashWriting(let actor, _, _), .export(let actor, _, _),
      .deliver(_, let actor), .crashImporting(_, let actor, _), .deliverDamaged(_, let actor, _), .reopen(let actor),
      .check(let actor), .clone(let actor), .backUp(let actor), .restore(let actor), .compact(let actor),
      .upgrade(let actor),
      .remove(let actor, _), .readmit(let actor, _, _), .rejoin(_, let actor), .attack(let actor, _):
      actor
    }
  }
}
