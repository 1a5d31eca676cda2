import GodwitBase
import GodwitCore
import GodwitStorage

/// Which stamps must stay although every member holds the writes, because rows are still compared by them
/// (Specs/forgetting.md, "What stays").
final class RowMemory {
  private let connection: Connection
  private let places: RowPlaces
  private let latest: HLC
  private var hiddenRows: [Int: [(key: RowKey, state: RowState)]?] = [:]
  private var hiddenClaims: [Int: Set<Limbo.Reason>?] = [:]
  private var circles: [Int: Set<Int>] = [:]

  /// With more hidden rows than this in a table all stamps of its unique columns and acyclic references stay.
  private static let hiddenLimit = 10_000

  init(_ writer: ReplicaWriter, _ frontier: Frontier, tables: MergeTables) throws {
    connection = writer.connection
    // It may be the own clock that is wrong: then others are the ones to whom a stamp is ahead.
    let others = frontier.heard.map {
      HLC(milliseconds: min($0, HLC.limit.milliseconds) + HybridClock.reachMilliseconds + 1)
    }
    latest = min(writer.clock.latest, others ?? writer.clock.latest)
    places = try RowPlaces(writer.connection, tables: tables, origins: writer.log.origins)
  }

  /// A stamp beyond the own clock stays, so that a later edit still wins; so does one out of reach for another
  /// member's, which may begin with a state file of what is here.
  func isAhead(_ hlc: HLC) -> Bool { latest < hlc }

  /// Whether no row has a state and none of the transactions to fold could leave one behind.
  func isEmpty(_ frontier: VersionVector, _ log: ChangeLog) throws -> Bool {
    guard places.limbo.isEmpty, try RowStates.areNone(on: connection) else {
      return false
    }
    return try frontier.origins.allSatisfy { origin in
      let head = try log.origins.head(of: origin)
      let greatest = try ChangeLog.latest(
        after: LogKey(origin: head.number, head.folded), through: LogKey(origin: head.number, frontier[origin]),
        on: connection)
      return greatest.map { !isAhead($0) } ?? true
    }
  }

  /// Whether rows of the table may be compared by stamps that are as old as the frontier.
  func mayBeCompared(_ table: MergeTable) throws -> Bool {
    if !table.uniqueIndexes.isEmpty, try claims(in: table)?.isEmpty != true { return true }
    return try !circleColumns(of: table).isEmpty
  }

  /// The columns whose stamps stay.
  func kept(_ key: RowKey, _ state: RowState, in table: MergeTable) throws -> Set<Int> {
    var kept = try circleColumns(of: table)
    if try isContested(key, state, in: table) { kept.formUnion(table.uniqueColumns) }
    for column in table.definition.keyCount..<table.definition.columns.count {
      if let stamp = state.stamp(of: column), isAhead(stamp.hlc) { kept.insert(column) }
    }
    return kept.filter { $0 >= table.definition.keyCount }
  }

  private func isContested(_ key: RowKey, _ state: RowState, in table: MergeTable) throws -> Bool {
    guard !table.uniqueIndexes.isEmpty else { return false }
    if state.hiddenCells != nil { return true }
    guard let hidden = try claims(in: table) else { return true }
    guard !hidden.isEmpty, let row = try places.load(key) else { return false }
    return try places.claims(of: row).contains { hidden.contains($0) }
  }

  /// The rows that the table does not show: in limbo, or dead; nil when there are too many to list.
  private func hiddenRows(of table: MergeTable) throws -> [(key: RowKey, state: RowState)]? {
    if let known = hiddenRows[table.number] { return known }
    let hidden = try places.states.hidden(in: table.number, limit: Self.hiddenLimit + 1)
    let rows = hidden.count > Self.hiddenLimit ? nil : hidden
    hiddenRows[table.number] = .some(rows)
    return rows
  }

  /// The claims of the rows that the table does not show, dead but revivable ones included; nil when there are too
  /// many to list.
  private func claims(in table: MergeTable) throws -> Set<Limbo.Reason>? {
    if let known = hiddenClaims[table.number] { return known }
    let claims = try hiddenRows(of: table).map { rows in
      try rows.reduce(into: Set<Limbo.Reason>()) { claims, row in
        guard let hiddenCells = row.state.hiddenCells else { return }
        let row = LivingRow(key: row.key, state: row.state, values: table.completed(hiddenCells), isShown: false)
        claims.formUnion(try places.claims(of: row))
      }
    }
    hiddenClaims[table.number] = .some(claims)
    return claims
  }

  /// Acyclic references of a table in which rows on a circle are compared: one is hidden to break it, or has died and
  /// may be revived by an edit that is not here yet.
  private func circleColumns(of table: MergeTable) throws -> Set<Int> {
    if let known = circles[table.number] { return known }
    var columns: Set<Int> = []
    for reference in table.references where reference.isAcyclic {
      let target = Limbo.Reason(circlesOf: reference.column, table: table.number)
      if try !places.limbo.keys(waitingFor: target).isEmpty || mayRevive(in: table) { columns.insert(reference.column) }
    }
    circles[table.number] = columns
    return columns
  }

  private func mayRevive(in table: MergeTable) throws -> Bool {
    try hiddenRows(of: table)?.contains { !$0.state.isAlive(table.definition.deletes) } ?? true
  }
}
