import Foundation
import Godwit
import GodwitReplication

/// Replicas of one group on real files, with a clock, a network and disks that the events of a trace move.
final class World {
  let folder: String
  let clock = SimulatedClock()
  private(set) var actors: [Actor] = []
  var history = History()
  /// Files that were made, by number.
  var files: [Int: SyncFileInFlight] = [:]

  struct SyncFileInFlight {
    let path: String
    let sender: Int
    /// What its sender held.
    let held: VersionVector
  }

  /// Makes the replicas in a folder that the caller owns.
  init(_ trace: Trace, kept: [Int], folder: String, template: FolderTemplate) async throws {
    self.folder = folder
    let crashing = Set(kept.compactMap { trace.events[$0].crashingActor })
    for (index, path) in try await template.make(trace.actorCount, in: folder).enumerated() {
      actors.append(
        try await Actor(
          index: index, path: path, clock: MachineClock(clock), countsStatements: crashing.contains(index)))
    }
  }

  func close() async { for actor in actors { await actor.close() } }

  func run(_ event: Event) async throws {
    switch event {
    case .pass(let milliseconds): clock.advance(milliseconds)
    case .setClock(let actor, let offset): actors[actor].clock.set(offset: offset)
    case .write(let actor, let plan): try await write(plan, on: actors[actor])
    case .crashWriting(let actor, let plan, let statement):
      try await crashWriting(plan, on: actors[actor], after: statement)
    case .export(let actor, let file, let includesAll):
      try await export(from: actors[actor], file: file, includesAll: includesAll)
    case .deliver(let file, let actor): try await deliver(file, to: actors[actor])
    case .crashImporting(let file, let actor, let statement):
      try await crashImporting(file, on: actors[actor], after: statement)
    case .deliverDamaged(let file, let actor, let damage):
      try await deliverDamaged(file, damage, to: actors[actor])
    case .reopen(let actor):
      try await actors[actor].reopen()
      try await expectUnchanged(actors[actor], "reopened")
    case .check(let actor): try await check(actors[actor])
    case .clone, .backUp, .restore: break  // the product does not stand up to these yet; see Fault
    }
  }
}

extension Event {
  fileprivate var crashingActor: Int? {
    switch self {
    case .crashWriting(let actor, _, _), .crashImporting(_, let actor, _): actor
    default: nil
    }
  }
}
