import Godwit
import GodwitCore

extension World {
  /// The program of a replica is of another version from now on.
  func upgrade(_ actor: Actor, to program: Int) async throws {
    try await upgrade(actor) { try await actor.upgrade(to: program) }
  }

  /// What a migration writes is the replica's own. Of others it holds more than before where something had waited.
  func upgrade(_ actor: Actor, _ body: () async throws -> Void) async throws {
    let (before, version) = (actor.standing, actor.version)
    let local = try await localRows(of: actor)
    try await body()
    try await adoptHostile(of: actor)
    let now = try await actor.replica.standing()
    actor.standing = now
    let made = try await adoptOwn(of: actor)
    var expected = before.held
    for transaction in made { expected[now.own] = max(expected[now.own], transaction.dot.sequence) }
    guard now.held.covers(expected), history.vector.covers(now.held), now.held[now.own] == expected[now.own],
      now.own == before.own, now.floor == before.floor, now.schemaVersion >= actor.program
    else {
      throw SimulationFailure(
        .durability,
        "replica \(actor.index) held \(before.held.text), went from version \(version) to \(actor.version), "
          + "wrote \(made.count) transactions, and holds \(now.held.text)")
    }
    // What had waited for a later version was written after the step.
    if now.held == expected { try await checkDataStep(actor, since: version) }
    try await checkStarted(local, on: actor)
    try await check(actor)
  }

  /// What a replica wrote by itself, when it migrated or rejoined, is read from its log.
  @discardableResult
  func adoptOwn(of actor: Actor) async throws -> [HistoricTransaction] {
    let standing = actor.standing
    var made: [HistoricTransaction] = []
    var sequence = standing.held[standing.own]
    while sequence > .none, history.transactions[Dot(standing.own, sequence)] == nil,
      let found = try await actor.replica.ownTransaction(sequence)
    {
      made.insert(
        HistoricTransaction(
          dot: Dot(standing.own, sequence), hlc: found.hlc, context: found.context,
          version: Int(found.transaction.schemaVersion),
          operations: found.transaction.operations.compactMap(HistoricOperation.init)),
        at: 0)
      sequence = SequenceNumber(rawValue: sequence.rawValue - 1)
    }
    for transaction in made { history.add(transaction) }
    return made
  }

  /// A data step has seen to every row that was there.
  private func checkDataStep(_ actor: Actor, since version: Int) async throws {
    // The least that a hostile member writes is less than the step makes good.
    guard version < 2, actor.version >= 2, hostile == nil else { return }
    let left = try await actor.replica.rows("SELECT id FROM guest WHERE mood < \(SimulatedModels.goodMood)")
    guard left.isEmpty else {
      throw SimulationFailure(.migration, "replica \(actor.index) migrated, and \(left.count) guests are in a bad mood")
    }
  }

  // MARK: A table that starts to travel

  /// The rows of the table that does not travel yet; none when it does.
  private func localRows(of actor: Actor) async throws -> [[Value]: Value] {
    guard TableShape.localTable.name(at: actor.version) == nil else { return [:] }
    return try await localTable(of: actor)
  }

  /// Each row that a replica had is what all have now, or was written by it, or is listed as lost to what others have.
  private func checkStarted(_ rows: [[Value]: Value], on actor: Actor) async throws {
    guard !rows.isEmpty, TableShape.localTable.name(at: actor.version) != nil else { return }
    let (shown, listed) = (try await localTable(of: actor), try await ListedConflicts(reading: actor.replica))
    for (key, owner) in rows where shown[key] != owner {
      guard let table = TableShape.numbers["scratch"] else { return }
      let name = RowName(table: table, key: key)
      let isWritten = history.transactions(in: actor.standing.held).contains { transaction in
        transaction.dot.origin == actor.standing.own && transaction.operations.contains { $0.row == name }
      }
      guard isWritten || listed.edits.contains(.init(row: name, column: "owner", value: owner)) else {
        throw SimulationFailure(
          .migration,
          "replica \(actor.index) had the row \(key.map(\.text)) of scratch, and shows \(shown[key]?.text ?? "nothing")"
        )
      }
    }
  }

  private func localTable(of actor: Actor) async throws -> [[Value]: Value] {
    let rows = try await actor.replica.rows("SELECT id, owner FROM scratch")
    return Dictionary(uniqueKeysWithValues: rows.map { ([$0.values[0]], $0.values[1]) })
  }
}
