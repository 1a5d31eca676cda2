import Godwit
import GodwitCore

extension World {
  func write(_ plan: Plan, on actor: Actor) async throws {
    let result = await attempt(plan, on: actor)
    try await settle(result, on: actor, mayBeLost: false)
  }

  func crashWriting(_ plan: Plan, on actor: Actor, after statement: Int) async throws {
    let result = try await actor.crashing(after: statement) { await self.attempt(plan, on: actor) }.get()
    try await settle(result, on: actor, mayBeLost: true)
  }

  /// What the plan did to the tables, or why it did nothing.
  private func attempt(_ plan: Plan, on actor: Actor) async -> Result<[HistoricOperation], any Error> {
    let (owner, program, version) = (actor.owner, actor.program, actor.version)
    do {
      return .success(
        try await actor.replica.write { try plan.run($0, owner: owner, program: program, version: version) })
    } catch {
      return .failure(error)
    }
  }

  /// Compares what the replica holds now with what the transaction should have made of it, and remembers it.
  private func settle(
    _ result: Result<[HistoricOperation], any Error>, on actor: Actor, mayBeLost: Bool
  ) async throws {
    let before = actor.standing
    let now = try await actor.replica.standing()
    defer { actor.standing = now }
    let operations: [HistoricOperation]
    switch result {
    case .success(let found): operations = found
    // A constraint stood in the way, or an integer would have been beyond what it can be.
    case .failure(let error as GodwitError) where [.constraint, .valueNotStorable].contains(error.code): operations = []
    // A row that a hostile member has written to at the end of all time is written to by nobody any more.
    case .failure(let error as GodwitError) where hostile != nil && error.code == .limitExceeded: operations = []
    case .failure(is ChangeOfMind): operations = []
    case .failure(let error): throw SimulationFailure(.error, "a write threw \(error)")
    }
    var expected = before.held
    if !operations.isEmpty { expected[now.own] = before.held[now.own].next }
    if mayBeLost, now.held == before.held { return }
    guard now.held == expected else {
      throw SimulationFailure(
        .durability, "replica \(actor.index) holds \(now.held.text) after a write, not \(expected.text)")
    }
    guard !operations.isEmpty else { return }
    try checkTimestamp(now.latest, of: operations, actor, before)
    let dot = Dot(now.own, now.held[now.own])
    guard history.transactions[dot] == nil else {
      throw SimulationFailure(.durability, "sequence \(dot.sequence.rawValue) of replica \(actor.index) was used twice")
    }
    history.add(
      HistoricTransaction(
        dot: dot, hlc: now.latest, context: now.held, version: actor.version, operations: operations))
  }

  /// A write to a row is stamped later than every write to it that its author held; other than for that, a timestamp
  /// is near the author's time.
  private func checkTimestamp(
    _ hlc: HLC, of operations: [HistoricOperation], _ actor: Actor, _ before: Standing
  ) throws {
    let rows = Set(operations.map(\.row))
    let known = history.transactions(in: before.held)
      .filter { $0.operations.contains { rows.contains($0.row) } }.map(\.hlc).max()
    if let known, known >= hlc {
      throw SimulationFailure(
        .clock,
        "replica \(actor.index) wrote to a row at a time not above what it had seen of it: "
          + "\(hlc.milliseconds) is not beyond \(known.milliseconds)")
    }
    let threeHours: Int64 = 3 * 3_600_000
    // What has been forgotten may have been written at a time far ahead, which holds the clock there; and so may what a
    // hostile member wrote under a key that its table keeps in another form.
    guard isFollowed, !forgets, !actor.hasLoadedState, hlc.milliseconds > actor.clock.milliseconds + threeHours,
      (known?.milliseconds ?? 0) < hlc.milliseconds
    else { return }
    throw SimulationFailure(.clock, "replica \(actor.index) wrote at a time far ahead of its own")
  }
}

extension VersionVector {
  /// Replica numbers and sequences, for messages.
  var text: String {
    let parts = origins.map { "\($0.replica.value.low - 1):\(self[$0].rawValue)" }
    return "[\(parts.joined(separator: " "))]"
  }
}
