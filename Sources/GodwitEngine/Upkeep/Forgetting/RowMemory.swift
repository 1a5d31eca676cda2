import GodwitCore
import GodwitStorage

/// Which stamps must stay although every member holds the writes (Specs/forgetting.md, "What stays").
struct RowMemory {
  private let connection: Connection
  private let latest: HLC

  init(_ writer: ReplicaWriter, _ frontier: Frontier) {
    connection = writer.connection
    // It may be the own clock that is wrong: then others are the ones to whom a stamp is ahead.
    let others = frontier.statedAt.map {
      HLC(milliseconds: min($0, HLC.limit.milliseconds) + HybridClock.reachMilliseconds + 1)
    }
    latest = min(writer.clock.latest, others ?? writer.clock.latest)
  }

  /// A stamp beyond the own clock stays, so that a later edit still wins; so does one out of reach for another
  /// member's, which may begin with a state file of what is here.
  func isAhead(_ hlc: HLC) -> Bool { latest < hlc }

  /// Whether no row has a state and none of the transactions to fold could leave one behind.
  func isEmpty(_ frontier: VersionVector, _ log: ChangeLog) throws -> Bool {
    guard try RowStates.areNone(on: connection) else { return false }
    return try frontier.origins.allSatisfy { origin in
      let head = try log.origins.head(of: origin)
      let greatest = try ChangeLog.latest(
        after: LogKey(origin: head.number, head.folded), through: LogKey(origin: head.number, frontier[origin]),
        on: connection)
      return greatest.map { !isAhead($0) } ?? true
    }
  }

  /// The columns whose stamps stay.
  func kept(_ state: RowState, in table: TableDefinition) -> Set<Int> {
    Set(
      (table.keyCount..<table.columns.count).filter { column in
        state.stamp(of: column).map { isAhead($0.hlc) } ?? false
      })
  }
}
