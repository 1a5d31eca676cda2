import Foundation
import Godwit
import GodwitCore

extension World {
  func export(from actor: Actor, file: Int, includesAll: Bool) async throws {
    guard !actor.mustRejoin else { return }
    files[file] = try await export(from: actor, to: "\(folder)/\(file).godwit-sync", includesAll: includesAll)
  }

  private func export(from actor: Actor, to path: String, includesAll: Bool) async throws -> SyncFileInFlight {
    let members = try await actor.replica.members.list().filter(\.isActive).map(\.name)
    let report = try await actor.replica.export(to: .file(path), includesAll: includesAll)
    let recipients = Set(actors.filter { members.contains($0.name) || $0.owner == actor.owner }.map(\.owner))
    return SyncFileInFlight(
      path: path, sender: actor.index, held: actor.standing.held, recipients: recipients,
      isStateFile: report.isStateFile,
      readmissions: actor.readmissions)
  }

  func deliver(_ number: Int, to actor: Actor) async throws {
    guard let file = files[number] else { return }
    try await deliver(file, to: actor, rejoins: number.isMultiple(of: 2))
  }

  /// One who learns so that it lacks what the others have forgotten gives up its own state for theirs, or waits.
  private func deliver(_ file: SyncFileInFlight, to actor: Actor, rejoins: Bool) async throws {
    guard file.readmissions == actors[file.sender].readmissions else { return }
    guard let report = try await merging(file, into: actor, { try await actor.replica.import(from: .file(file.path)) })
    else {
      if rejoins, file.isStateFile, file.recipients.contains(actor.owner), actor.wasAway {
        try await rejoin(actor, with: file)
      }
      return
    }
    if report.applied.state != nil {
      try await settleStateFile(report, file, on: actor)
    } else {
      try await settleImport(on: actor)
    }
  }

  func crashImporting(_ number: Int, on actor: Actor, after statement: Int) async throws {
    guard let file = files[number], !file.isStateFile, file.readmissions == actors[file.sender].readmissions else {
      return
    }
    let result = try await merging(file, into: actor) {
      try await actor.crashing(after: statement) { try await actor.replica.import(from: .file(file.path)) }.get()
    }
    if result != nil { try await settleImport(on: actor) }
  }

  /// Nil when the file is refused, as it must be when it is not for this replica or not from a member, and may be when
  /// one of them was away and lacks what has been forgotten. Nothing has changed then.
  func merging(
    _ file: SyncFileInFlight, into actor: Actor, _ body: () async throws -> MergeReport
  ) async throws -> MergeReport? {
    do {
      let report = try await body()
      let leftOut = report.attention.leftOut.filter { !isHostile($0.replica) }
      let isExpected = leftOut.allSatisfy { $0.reason == .ended || forgets || actors[file.sender].wasAway }
      let mayBeAway = actors.contains(where: \.wasAway) || hostile != nil
      guard leftOut.isEmpty || isExpected && mayBeAway else {
        throw SimulationFailure(.transfer, "replica \(actor.index) left out transactions though nobody was away")
      }
      try await adoptHostile(of: actor)
      try await forgetAfterImport(on: actor)
      return report
    } catch let error as GodwitError {
      let sender = actors[file.sender]
      let isExpected =
        switch error.code {
        case .notARecipient: !file.recipients.contains(actor.owner)
        case .unknownSender: sender.wasAway
        case .needsMigration: latestVersion > 0 && file.isStateFile
        case .fenced: actor.wasAway || forgets && (hostile != nil || actors.contains(where: \.wasAway))
        default: false
        }
      guard isExpected else { throw error }
      // A backup from before it was removed does not know that it is a member again.
      if error.code == .fenced, actor.readmissions > 0 { actor.mustRejoin = true }
      try await expectUnchanged(actor, "given a file that was refused: \(error.message)")
      return nil
    }
  }

  /// The replica holds what it held and some of what the file's sender held, whole causes only.
  func settleImport(on actor: Actor) async throws {
    let before = actor.standing
    let now = try await actor.replica.standing()
    defer { actor.standing = now }
    guard now.held.covers(before.held), history.vector.covers(now.held),
      now.own == before.own || !forgettable.isEmpty || actor.wasAway || hostile != nil
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
      let before = actor.standing
      throw SimulationFailure(
        .durability,
        "replica \(actor.index) changed when it was \(what): from \(before.held.text), forgotten "
          + "\(before.floor.text), to \(now.held.text), forgotten \(now.floor.text), "
          + "\(now.own == before.own ? "the same" : "another") incarnation")
    }
  }

  /// Delivers everything to everyone: all hand a file to one, and that one to all. Those who were away may have to
  /// begin with a state file.
  func deliverAll() async throws {
    for round in 0..<6 {
      let hub = actors[0]
      for sender in actors.dropFirst() where !sender.mustRejoin { try await hand(from: sender, to: hub) }
      try await readmitAll()
      for receiver in actors.dropFirst() { try await hand(from: hub, to: receiver) }
      if hasConverged, try await allAreMembers() { break }
      // What one of them lacks the others may have forgotten.
      guard round < 5, forgets || hostile != nil || actors.contains(where: \.wasAway) else { break }
      try await exchangeStateFiles()
    }
    guard let last = actors.last else { return }
    let file = try await export(from: actors[0], to: "\(folder)/last.godwit-sync", includesAll: true)
    let report = try await last.replica.import(from: .file(file.path))
    guard report.applied.transactions == 0, report.attention.conflicts == 0 else {
      throw SimulationFailure(.transfer, "replica \(last.index) applied a file twice")
    }
  }

  private var hasConverged: Bool { actors.allSatisfy { $0.standing.held == actors[0].standing.held } }

  private func allAreMembers() async throws -> Bool {
    guard actors.contains(where: \.wasAway) else { return true }
    for actor in actors {
      guard try await actor.replica.members.list().allSatisfy({ $0.isActive || isHostile($0.identity.replica) }) else {
        return false
      }
    }
    return true
  }

  func hand(from sender: Actor, to receiver: Actor) async throws {
    let file = try await export(from: sender, to: "\(folder)/hand.godwit-sync", includesAll: true)
    try await deliver(file, to: receiver, rejoins: true)
  }

  /// The first, which nobody removes, makes everybody a member again, at a time later than all.
  private func readmitAll() async throws {
    let hub = actors[0]
    let offset = hub.clock.offsetMilliseconds
    hub.clock.set(offset: 800 * 86_400_000)
    for actor in actors.dropFirst() where actor.wasAway || actor.mustRejoin {
      let isMember = try await hub.replica.members.list().contains { $0.name == actor.name && $0.isActive }
      if !isMember { try await readmit(actor, by: hub, file: -1 - actor.index) }
      guard actor.mustRejoin else { continue }
      try await rejoin(actor, with: stateFile(of: hub, for: actor, to: "\(folder)/state-file.godwit-sync"))
    }
    hub.clock.set(offset: offset)
  }

  private func isBehind(_ actor: Actor, _ host: Actor) -> Bool {
    let floor = host.standing.forgotten
    guard actor.standing.held.covers(floor) else { return true }
    return history.transactions(in: actor.standing.held).contains {
      !host.standing.held.covers($0.dot) && !$0.context.covers(floor)
    }
  }

  /// Whoever lacks what another has forgotten, or holds what somebody wrote who did, takes over that one's state.
  private func exchangeStateFiles() async throws {
    for host in actors {
      for actor in actors where actor !== host && isBehind(actor, host) {
        try await rejoin(actor, with: stateFile(of: host, for: actor, to: "\(folder)/state-file.godwit-sync"))
      }
    }
  }
}
