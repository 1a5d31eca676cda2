import Foundation
import Godwit
import GodwitBase
import GodwitCore
import GodwitEngine

/// Members of one group that reach each other by a store alone, which goes wrong in all the ways that stores do. When
/// it is well again, all must come to hold the same, nothing that a member wrote may be missing, and then nobody may
/// have anything more to say.
final class StoreWorld {
  private let folder: String
  private let clock = SimulatedClock()
  private let store: SimulatedStore
  private let incarnations: IncarnationNumbers
  private var generator: SeededGenerator
  private var actors: [Actor] = []
  /// Who keeps a log.
  private var collectors: Set<Int> = []
  /// Members that were removed, or set back: what they wrote need not be everywhere.
  private var unsure: Set<Int> = []
  private var removed: Set<Int> = []
  /// Members that do not sync any more.
  private var away: Set<Int> = []
  /// What the others held when one went away.
  private var passedOn: Set<String> = []
  /// What each has written.
  private var written: [Int: [String]] = [:]
  private(set) var transactions = 0
  private(set) var syncs = 0
  /// Is called with a line for each step; nil for nobody.
  private let onStep: (@Sendable (String) -> Void)?

  /// What a sync may end with: a store that is away, and a marker that comes damaged.
  private static let allowed: Set<GodwitError.Code> = [
    .unreachable, .limitExceeded, .corruptFile, .otherGroup, .unsupportedVersion,
  ]
  /// What the remote is called.
  private static let remote = "store"
  static let members = 2...5

  init(
    seed: UInt64, folder: String, template: FolderTemplate, onStep: (@Sendable (String) -> Void)? = nil
  ) async throws {
    self.folder = folder
    self.onStep = onStep
    generator = SeededGenerator(seed: seed)
    store = SimulatedStore(seed: generator.next())
    incarnations = IncarnationNumbers.seeded(seed)
    let count = Int.random(in: Self.members, using: &generator)
    var tuning = Replica.Tuning()
    tuning.keptTransactions = [16, 64, 1_024].randomElement(using: &generator) ?? 64
    // What large groups do, in half of the worlds.
    if generator.chance(oneIn: 2) { tuning.largeGroup = 2 }
    // So few members change so little that otherwise no base would build on another.
    if generator.chance(oneIn: 2) { tuning.baseGrowth = 4 }
    for (index, path) in try await template.make(count, isHostile: false, in: folder).enumerated() {
      actors.append(
        try await Actor(
          index: index, path: path, clock: MachineClock(clock), incarnations: incarnations, countsStatements: false,
          tuning: tuning))
    }
    // Their folders are copies of a template's, which nobody continues.
    for actor in actors { try await actor.replica.endIncarnations(besides: actors.map(\.standing.own)) }
    if generator.chance(oneIn: 2) { collectors.insert(0) }
    if generator.chance(oneIn: 4) { collectors.insert(1) }
  }

  func close() async { for actor in actors { await actor.close() } }

  var counters: SimulatedStore.Counters { store.counters }

  /// Those that sync.
  private var active: [Actor] { actors.filter { !removed.contains($0.index) && !away.contains($0.index) } }

  // MARK: While things go wrong

  func run() async throws {
    store.setFaults(oneIn: Int.random(in: 4...30, using: &generator))
    for _ in 0..<Int.random(in: 20...60, using: &generator) { try await step() }
    store.heal()
    try await conclude()
  }

  private func step() async throws {
    let actor = actors[Int.random(in: 0..<actors.count, using: &generator)]
    let kind = Int.random(in: 0..<41, using: &generator)
    onStep?("\(actor.name) step \(kind)")
    switch kind {
    case 0..<12: try await write(actor)
    case 12..<28: _ = try await sync(actor)
    case 28..<31: clock.advance(Int64(Int.random(in: 1...30, using: &generator)) * 60_000)
    case 31: clock.advance(Int64(Int.random(in: 1...48, using: &generator)) * 3_600_000)
    case 32: clock.advance(Int64(Int.random(in: 6...10, using: &generator)) * 86_400_000)
    case 33: try await actor.replica.maintenance.compact()
    case 34: try await killed(actor)
    case 35: store.save()
    case 36: generator.chance(oneIn: 2) ? store.rollBack() : store.empty()
    case 37: store.fork(actor.index)
    case 38: collectors.formSymmetricDifference([actor.index])
    case 39: try await setFarBack(actor)
    default: try await setBackOrRemove(actor)
    }
  }

  private func write(_ actor: Actor) async throws {
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let id = "\(actor.index)-\(written[actor.index, default: []].count)"
      try await actor.replica.write { try $0.insert(Tally(id: id, word: id)) }
      written[actor.index, default: []].append(id)
      onStep?("  \(actor.name) writes \(id)")
      transactions += 1
    }
  }

  @discardableResult
  private func sync(_ actor: Actor, isRejoining: Bool = false) async throws -> Replica.SyncReport.Remote {
    syncs += 1
    let report = try await actor.replica.sync(
      over: store.client(actor.index), as: Self.remote, isRejoining: isRejoining,
      isCollecting: collectors.contains(actor.index))
    onStep?("  \(actor.name) syncs: \(report.summary)")
    if let error = report.error, !Self.allowed.contains(error.code) {
      throw SimulationFailure(.error, "a sync of \(actor.name) ended with \(error)")
    }
    if let broken = store.broken { throw SimulationFailure(.transfer, broken) }
    return report
  }

  /// A process that ends within a sync, and the next one.
  private func killed(_ actor: Actor) async throws {
    store.setFuse(Int.random(in: 0...8, using: &generator), for: actor.index)
    do { _ = try await sync(actor) } catch is SimulatedStore.Killed {}
    store.setFuse(nil, for: actor.index)
    try await actor.reopen()
  }

  /// Puts a backup in a machine's place, or makes one; seldom a member is removed.
  private func setBackOrRemove(_ actor: Actor) async throws {
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: try await actor.backUp()
    case 1: if try await actor.restore() { unsure.insert(actor.index) }
    default:
      guard active.count > 2, let other = active.first(where: { $0.index != actor.index }),
        !removed.contains(actor.index)
      else { return }
      try await other.replica.members.remove("\(actor.replica.identity.replica)")
      onStep?("  \(other.name) removes \(actor.name)")
      removed.insert(actor.index)
      unsure.insert(actor.index)
    }
  }

  /// Puts a backup in a machine's place that is so old that the others may have forgotten what it lacks.
  private func setFarBack(_ actor: Actor) async throws {
    try await actor.backUp()
    for _ in 0..<4 {
      for other in active { try await write(other) }
      for other in active { try await sync(other) }
    }
    for other in active { try await other.replica.maintenance.compact() }
    if try await actor.restore() { unsure.insert(actor.index) }
  }

  // MARK: When all is well

  /// Syncs until nobody has anything to say any more. In some worlds one is away for good by then: what it wrote and
  /// somebody else holds must reach all others.
  private func conclude() async throws {
    if unsure.isEmpty, active.count > 2, generator.chance(oneIn: 2) {
      let silent = active[Int.random(in: 0..<active.count, using: &generator)]
      away.insert(silent.index)
      onStep?("  \(silent.name) is away")
      for actor in active {
        passedOn.formUnion(try await actor.replica.fetch(Tally.all).map(\.id))
      }
    }
    for actor in active { try await write(actor) }
    var isQuiet = false
    var lacking: String?
    for _ in 0..<12 where !isQuiet {
      // Beyond what a log, a stale list or another's state are waited for.
      clock.advance(2 * 86_400_000)
      isQuiet = true
      lacking = nil
      for actor in active {
        let report = try await sync(actor, isRejoining: true)
        if report.published != nil || report.publishedState != nil || report.taken.contains(where: \.hasNews) {
          isQuiet = false
        }
        if report.error != nil { throw SimulationFailure(.error, "a store that is well fails") }
        if report.findings.contains(.withheld) { lacking = actor.name }
      }
    }
    guard isQuiet else { throw SimulationFailure(.transfer, "somebody always has something to publish") }
    if let lacking, try await !isSomebodySilent() {
      throw SimulationFailure(.transfer, "\(lacking) has all, and takes the store for one that lacks")
    }
    try await compare()
    try await removeLast()
    try await requireSecrecy()
  }

  /// Whether there is a member, for all that those who sync know, that does not: what it has said that it holds may
  /// have come to nobody.
  private func isSomebodySilent() async throws -> Bool {
    for actor in actors where removed.contains(actor.index) {
      guard try await isKnownAsRemoved(actor) else { return true }
    }
    return !away.isEmpty
  }

  /// In half of the worlds one more is removed, and all who stay get to know of it.
  private func removeLast() async throws {
    guard active.count > 2, generator.chance(oneIn: 2), let last = active.last else { return }
    removed.insert(last.index)
    try await active[0].replica.members.remove("\(last.replica.identity.replica)")
    for _ in 0..<3 {
      clock.advance(3_600_000)
      for actor in active { try await sync(actor) }
    }
  }

  /// What is written once all know of a removal the removed member must not get.
  private func requireSecrecy() async throws {
    var former: [Actor] = []
    for actor in actors where removed.contains(actor.index) {
      if try await isKnownAsRemoved(actor) { former.append(actor) }
    }
    guard !former.isEmpty else { return }
    var secret: Set<String> = []
    for actor in active {
      let known = written[actor.index, default: []].count
      try await write(actor)
      secret.formUnion(written[actor.index, default: []].dropFirst(known))
    }
    for actor in active { try await sync(actor) }
    for actor in former {
      try await sync(actor)
      let shown = Set(try await actor.replica.fetch(Tally.all).map(\.id)).intersection(secret).sorted()
      guard shown.isEmpty else {
        throw SimulationFailure(.transfer, "\(actor.name) was removed, and got \(shown.joined(separator: ", "))")
      }
    }
  }

  /// A removal may have been lost with the machine that knew of it.
  private func isKnownAsRemoved(_ former: Actor) async throws -> Bool {
    let replica = former.replica.identity.replica
    for actor in active {
      let members = try await actor.replica.members.list()
      if members.contains(where: { $0.identity.replica == replica && $0.isActive }) { return false }
    }
    return true
  }

  private func compare() async throws {
    let expected = Set(active.filter { !unsure.contains($0.index) }.flatMap { written[$0.index] ?? [] })
      .union(passedOn)
    var digests: Set<String> = []
    for actor in active {
      let ids = Set(try await actor.replica.fetch(Tally.all).map(\.id))
      let missing = expected.subtracting(ids).sorted()
      guard missing.isEmpty else {
        throw SimulationFailure(.durability, "\(actor.name) lacks \(missing.joined(separator: ", "))")
      }
      digests.insert(try await actor.replica.maintenance.digest())
      let report = try await actor.replica.maintenance.verify()
      guard report.problems.isEmpty else {
        throw SimulationFailure(.integrity, report.problems.joined(separator: "; "))
      }
    }
    guard digests.count == 1 else {
      throw SimulationFailure(.divergence, "\(digests.count) digests of \(active.count)")
    }
  }
}

extension MergeReport {
  fileprivate var hasNews: Bool { applied.transactions > 0 || applied.state != nil }
}

extension Replica.SyncReport.Remote {
  fileprivate var summary: String {
    let took = taken.map {
      "\($0.sender) \($0.applied.transactions)\($0.applied.state == nil ? "" : " and a state")"
    }
    let put = [
      ("a mailbox", published), ("a state", publishedState), ("a log's file", publishedLog),
    ].compactMap { name, report in report.map { "\(name) of \($0.transactions)" } }
    return [
      ("took", took), ("put", put), ("refused", refused.map { "\($0.name) for \($0.error)" }),
      ("found", findings.map(\.rawValue).sorted()), ("ended with", error.map { ["\($0)"] } ?? []),
    ].filter { !$0.1.isEmpty }.map { "\($0) \($1.joined(separator: ", "))" }.joined(separator: "; ")
  }
}
