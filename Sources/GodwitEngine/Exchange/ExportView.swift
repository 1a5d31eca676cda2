import GodwitCore
import GodwitKeys
import GodwitStorage

/// What an export looks at, of one state of the database, each of it once.
final class ExportView {
  let log: ChangeLog
  let catalog: Catalog
  let prover: HistoryProver
  let forgotten: VersionVector
  let waiting: WaitingRanges

  private let connection: Connection
  private let targets: [Roster.Entry]
  private let speaker: Origin?
  private let acknowledgements: KnownAcknowledgements
  private var knownIncarnations: KnownIncarnations?
  private var knownCommon: Common?

  /// What the targets are known to have in common.
  struct Common {
    /// Of those that need no state file; nil where nobody is known to live.
    let present: VersionVector?
    /// What those have applied that lack what has been forgotten.
    let lacking: [VersionVector]
    var needsState: Bool { !lacking.isEmpty }
  }

  init(
    _ connection: Connection, _ identity: Identity, _ roster: Roster, _ targets: [Roster.Entry], at speaker: Origin?,
    _ acknowledgements: KnownAcknowledgements
  ) throws {
    (self.connection, self.targets, self.speaker) = (connection, targets, speaker)
    self.acknowledgements = acknowledgements
    log = try ChangeLog(connection)
    catalog = try Catalog(connection)
    prover = HistoryProver(identity, group: roster.group, log, on: connection)
    forgotten = try ForgottenVector.load(log, on: connection)
    waiting = try WaitingRanges(log, besides: identity.replica, on: connection)
  }

  func incarnations() throws -> KnownIncarnations {
    if let knownIncarnations { return knownIncarnations }
    let incarnations = try KnownIncarnations(log, on: connection, acknowledgements)
    knownIncarnations = incarnations
    return incarnations
  }

  /// Of each incarnation that writes on for a target: who cannot be reached without a state file keeps nothing from the
  /// others of its member.
  func common() throws -> Common {
    if let knownCommon { return knownCommon }
    let incarnations = try incarnations()
    let holdings = try targets.flatMap { try incarnations.holdings(of: $0.identity.replica, at: speaker) }
    let applied = holdings.map(\.applied).intersection()
    let needsState = applied.map { !$0.covers(forgotten) } ?? false
    let reached = needsState ? holdings.filter { $0.applied.covers(forgotten) } : holdings
    let lacking = needsState ? holdings.map(\.applied).filter { !$0.covers(forgotten) } : []
    let isAll = !needsState && reached.allSatisfy { $0.present == $0.applied }
    let common = Common(present: isAll ? applied : reached.map(\.present).intersection(), lacking: lacking)
    knownCommon = common
    return common
  }

  /// What those who need a state hold as this replica does: they may have forgotten it, and take no state then that
  /// lacks it. Nil where nobody needs one.
  ///
  /// - Parameter unaware: Incarnations that need one whatever they have acknowledged.
  func stateNeed(of unaware: Set<Origin>) throws -> VersionVector? {
    let records = try incarnations().records
    let stated = try common().lacking + unaware.map { records[$0]?.stated.vector ?? VersionVector() }
    let joined = stated.reduce(nil) { $0?.union($1) ?? $1 }
    return joined?.intersection(log.origins.vector)
  }
}
