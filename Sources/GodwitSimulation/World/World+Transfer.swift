import Foundation
import Godwit
import GodwitReplication

extension World {
  func export(from actor: Actor, file: Int, includesAll: Bool) async throws {
    let path = "\(folder)/\(file).godwit-sync"
    _ = try await actor.replica.export(to: .file(path), includesAll: includesAll)
    files[file] = SyncFileInFlight(path: path, sender: actor.index, held: actor.standing.held)
  }

  func deliver(_ number: Int, to actor: Actor) async throws {
    guard let file = files[number] else { return }
    _ = try await actor.replica.import(from: .file(file.path))
    try await settleImport(of: file, on: actor, mayBeLost: false)
  }

  func crashImporting(_ number: Int, on actor: Actor, after statement: Int) async throws {
    guard let file = files[number] else { return }
    _ = try await actor.crashing(after: statement) { try await actor.replica.import(from: .file(file.path)) }.get()
    try await settleImport(of: file, on: actor, mayBeLost: true)
  }

  /// The replica holds what it held and some of what the file's sender held, whole causes only.
  private func settleImport(of file: SyncFileInFlight, on actor: Actor, mayBeLost: Bool) async throws {
    let before = actor.standing
    let now = try await actor.replica.standing()
    defer { actor.standing = now }
    guard now.held.covers(before.held), history.vector.covers(now.held),
      now.own == before.own || !forgettable.isEmpty
    else {
      throw SimulationFailure(
        .transfer, "replica \(actor.index) held \(before.held.text) and holds \(now.held.text) after an import")
    }
    for transaction in history.transactions(in: now.held) where !now.held.covers(transaction.context) {
      throw SimulationFailure(.transfer, "replica \(actor.index) holds a transaction without its causes")
    }
  }

  func deliverDamaged(_ number: Int, _ damage: Damage, to actor: Actor) async throws {
    guard let file = files[number], var bytes = FileManager.default.contents(atPath: file.path), !bytes.isEmpty else {
      return
    }
    switch damage {
    case .cut(let permille): bytes = bytes.prefix(bytes.count * permille / 1000)
    case .flipped(let permille, let bit): bytes[bytes.count * permille / 1000] ^= 1 << UInt8(bit)
    case .extended: bytes.append(0)
    }
    let path = "\(folder)/damaged.godwit-sync"
    try bytes.write(to: URL(fileURLWithPath: path))
    do {
      _ = try await actor.replica.import(from: .file(path))
    } catch is GodwitError {
      return try await expectUnchanged(actor, "given a damaged file")
    }
    throw SimulationFailure(.transfer, "replica \(actor.index) took a damaged file: \(damage)")
  }

  func expectUnchanged(_ actor: Actor, _ what: String) async throws {
    let now = try await actor.replica.standing()
    guard now == actor.standing else {
      throw SimulationFailure(.durability, "replica \(actor.index) changed when it was \(what)")
    }
  }

  /// Delivers everything to everyone: all hand a file to one, and that one to all.
  func deliverAll() async throws {
    let hub = actors[0]
    for sender in actors.dropFirst() {
      let path = "\(folder)/last-\(sender.index).godwit-sync"
      _ = try await sender.replica.export(to: .file(path), includesAll: true)
      let file = SyncFileInFlight(path: path, sender: sender.index, held: sender.standing.held)
      _ = try await hub.replica.import(from: .file(path))
      try await settleImport(of: file, on: hub, mayBeLost: false)
    }
    let path = "\(folder)/last.godwit-sync"
    _ = try await hub.replica.export(to: .file(path), includesAll: true)
    let file = SyncFileInFlight(path: path, sender: 0, held: hub.standing.held)
    for receiver in actors.dropFirst() {
      _ = try await receiver.replica.import(from: .file(path))
      try await settleImport(of: file, on: receiver, mayBeLost: false)
    }
    guard let last = actors.last else { return }
    let report = try await last.replica.import(from: .file(path))
    guard report.applied == 0, report.conflicts == 0 else {
      throw SimulationFailure(.transfer, "replica \(last.index) applied a file twice")
    }
  }
}
