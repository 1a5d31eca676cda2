import Godwit
import GodwitCore

extension World {
  /// The replica shows what the independent model says of the transactions it holds.
  func check(_ actor: Actor) async throws {
    guard isFollowed else { return }
    let held = history.transactions(in: actor.standing.held)
    let version = actor.version
    let shown = try await actor.replica.read { try Tables(reading: $0, at: version) }
    if let early = held.first(where: { $0.version > version }) {
      throw SimulationFailure(
        .migration, "replica \(actor.index), of version \(version), applied a transaction of version \(early.version)")
    }
    try compare(shown, MergeModel(held, at: version), actor)
  }

  private func compare(_ shown: Tables, _ model: MergeModel, _ actor: Actor) throws {
    let expected = model.tables.shown(at: actor.version)
    guard shown != expected else { return }
    for (table, shape) in TableShape.all.enumerated()
    where shown.rows[table] != expected.rows[table] {
      let keys = Set(shown.rows[table].keys).union(expected.rows[table].keys)
      for key in keys.sorted(by: { $0.map(\.text).joined() < $1.map(\.text).joined() })
      where shown.rows[table][key] != expected.rows[table][key] {
        let (there, due) = (text(shown.rows[table][key]), text(expected.rows[table][key]))
        let limbo = model.limbo[RowName(table: table, key: key)].map { " (limbo: \($0))" } ?? ""
        throw SimulationFailure(
          .divergence,
          "replica \(actor.index) shows \(there) of \(shape.name), the model \(due)\(limbo), of: "
            + (model.histories[RowName(table: table, key: key)]?.writes.map(\.text).joined(separator: "; ")
              ?? "no writes"))
      }
    }
  }

  /// What must hold when everyone has everything; and, where members forget, when everyone knows that, all has been
  /// forgotten, and they have continued to write.
  func conclude() async throws {
    for actor in actors where latestVersion > 0 { try await upgrade(actor, to: latestVersion) }
    try await removeHostile()
    try await deliverAll()
    try await checkEnd()
    guard forgets else { return }
    try await forgetAll()
    try await checkEnd()
    for (number, actor) in actors.enumerated() { try await write(epilogue[number % epilogue.count], on: actor) }
    try await deliverAll()
    try await checkEnd()
  }

  /// What everyone holds goes round by the ways that files take; then nothing is left to remember but what waits.
  private func forgetAll() async throws {
    for actor in actors { try await endReplaced(by: actor.replica) }
    let copies = actors.filter { $0.owner != $0.index }.flatMap { [(0, $0.index), ($0.index, 0)] }
    // A statement goes one way further in each. What was said by a clock that has been set back must come to who said
    // it, and what all know of an end follows what all hold.
    for _ in 0..<3 * actors.count where !hasForgottenAll {
      for (from, to) in ways + copies { try await hand(from: actors[from], to: actors[to]) }
      for actor in actors { try await compact(actor) }
    }
    for actor in actors where actor.standing.floor != actor.standing.held {
      throw SimulationFailure(
        .forgetting,
        "replica \(actor.index) remembers from \(actor.standing.floor.text) on, of \(actor.standing.held.text)")
    }
  }

  private var hasForgottenAll: Bool { actors.allSatisfy { $0.standing.floor == $0.standing.held } }

  /// Somebody who knows which machines there are says what was replaced for good: nothing shows that of a folder that
  /// was restored whole.
  func endReplaced(by replica: Replica) async throws {
    try await replica.endIncarnations(besides: actors.map(\.standing.own)) { !isHostile($0) }
  }

  /// All that must hold when everyone has everything.
  func checkEnd() async throws {
    let everything = try vectorAtEnd()
    let model = MergeModel(history.transactions(in: everything), at: latestVersion)
    var digests: Set<String> = []
    for actor in actors {
      guard actor.standing.held == everything else {
        throw SimulationFailure(
          .durability, "replica \(actor.index) holds \(actor.standing.held.text), of \(everything.text)")
      }
      let report = try await actor.replica.maintenance.verify()
      guard report.isSound else {
        throw SimulationFailure(.integrity, "replica \(actor.index): \(report.problems.joined(separator: "; "))")
      }
      guard try await actor.replica.status().staged == 0 || !forgettable.isEmpty else {
        throw SimulationFailure(.transfer, "replica \(actor.index) has transactions waiting")
      }
      digests.insert(report.digest)
      try await checkRemoval(actor)
      try await checkScratch(actor)
      guard isFollowed else { continue }
      let version = actor.version
      let shown = try await actor.replica.read { try Tables(reading: $0, at: version) }
      try compare(shown, model, actor)
      if !actor.hasLoadedState { try await checkConflicts(actor, model) }
    }
    guard digests.count == 1 else {
      throw SimulationFailure(.divergence, "the digests differ: \(try await differences())")
    }
  }

  /// The first row of each table that two replicas show otherwise.
  private func differences() async throws -> String {
    var all: [Tables] = []
    for actor in actors {
      let version = actor.version
      all.append(try await actor.replica.read { try Tables(reading: $0, at: version) })
    }
    return TableShape.all.enumerated().compactMap { table, shape in
      for (index, other) in all.enumerated().dropFirst() {
        let (here, there) = (all[0].rows[table], other.rows[table])
        guard let key = Set(here.keys).union(there.keys).first(where: { here[$0] != there[$0] }) else { continue }
        return "replica 0 shows \(text(here[key])) of \(shape.name), replica \(index) \(text(there[key]))"
      }
      return nil
    }.joined(separator: "; ")
  }

  private func text(_ row: [Value]?) -> String {
    row.map { "(\($0.map(\.text).joined(separator: ", ")))" } ?? "nothing"
  }

  /// All that was written, but for what a restored backup lost and nobody else had, and what came after that.
  private func vectorAtEnd() throws -> VersionVector {
    guard !forgettable.isEmpty || hostile != nil else { return history.vector }
    let held = actors.reduce(VersionVector()) { $0.union($1.standing.held) }
    for lost in history.transactions.values where !held.covers(lost.dot) && !isHostile(lost.dot.origin.replica) {
      guard forgettable.contains(where: { lost.context.covers($0) && !held.covers($0) }) else {
        throw SimulationFailure(
          .durability, "a transaction of replica \(lost.dot.origin.replica.value.low - 1) is gone")
      }
    }
    return held
  }

  /// Rows of a local table stay where they were written.
  private func checkScratch(_ actor: Actor) async throws {
    guard TableShape.localTable.name(at: actor.version) == nil else { return }
    let owner = actor.owner
    let foreign = try await actor.replica.rows("SELECT id FROM scratch WHERE owner <> \(owner)")
    guard foreign.isEmpty else {
      throw SimulationFailure(.divergence, "replica \(actor.index) has rows of another's local table")
    }
  }
}

extension Replica {
  /// Says of the incarnations of others that are none of these that they have ended.
  func endIncarnations(besides living: [Origin], where isMeant: (ReplicaID) -> Bool = { _ in true }) async throws {
    let names = Dictionary(
      try await members.list().map { ($0.identity.replica, $0.name) }, uniquingKeysWith: { first, _ in first })
    for found in try await members.incarnations() where !found.isOwn && !found.hasEnded && isMeant(found.replica) {
      let isLiving = living.contains { $0.replica == found.replica && $0.incarnationID == found.id }
      if !isLiving, let name = names[found.replica] { try await members.end(found.id, of: name) }
    }
  }
}
