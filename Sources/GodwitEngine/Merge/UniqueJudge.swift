import GodwitBase
import GodwitCore

/// Decides which of several rows with one unique value its table shows (Specs/merge.md, "Unique values"): per index
/// that of the least key. Every index is judged alone, and a row in limbo keeps its other claims, so nothing cascades
/// and there is one answer.
final class UniqueJudge {
  private let places: RowPlaces
  private let limbo: LimboJournal
  /// Claims whose claimants have changed.
  private var contested: Set<Limbo.Reason> = []
  /// Rows that have been kept out of their tables since ``resolve()`` was last done, and are to be listed.
  private var parked: Set<RowKey> = []
  /// Whose the claims are that have been asked for since living rows last came, went or changed: showing and hiding
  /// rows changes no claim, and a claim may have thousands of claimants.
  private var leastClaimants: [Limbo.Reason: RowKey] = [:]

  init(_ places: RowPlaces, limbo: LimboJournal) {
    self.places = places
    self.limbo = limbo
  }

  /// A living row's claims begin or end. They need judging only where a row in limbo or a hidden reference has one too.
  func changed(_ row: LivingRow) throws {
    forgetClaimants()
    guard !places.limbo.isEmpty else { return }
    for claim in try places.claims(of: row) where try places.limbo.isAwaited(claim) { contested.insert(claim) }
  }

  /// Living rows have come, gone or changed their values.
  func forgetClaimants() { leastClaimants = [:] }

  /// The claims of the table's rows are others than before.
  func changedSomewhere(in table: Int) throws {
    forgetClaimants()
    contested.formUnion(try places.limbo.claims(in: table))
  }

  /// Rows of the table have gone, or have given up claims that are not known: those that no row there has can be had.
  func freedSomewhere(in table: Int) throws {
    forgetClaimants()
    for claim in try places.limbo.claims(in: table) where !contested.contains(claim) {
      if try tableRow(claiming: claim) == nil { contested.insert(claim) }
    }
  }

  /// Puts rows into their tables as far as their claims are free; the others wait for ``resolve()``.
  func place(_ rows: [LivingRow]) throws {
    forgetClaimants()
    for row in rows {
      let claims = try places.claims(of: row)
      let isContested = try !places.limbo.isEmpty && claims.contains(where: places.limbo.isAwaited)
      if !isContested, try show(row, claims) { continue }
      try places.park(row)
      parked.insert(row.key)
      contested.formUnion(claims)
    }
  }

  /// Whether the row could be put in. What else than a unique value keeps it out is another constraint, which no
  /// other row will lift: it stays in limbo until it is edited.
  private func show(_ row: LivingRow, _ claims: [Limbo.Reason]) throws -> Bool {
    do {
      try places.show(row)
      limbo.left(row.key)
      return true
    } catch let error as GodwitError where error.code == .constraint {
      if try !claims.contains(where: { try tableRow(claiming: $0) != nil }) { limbo.entered(row.key, .constraint) }
      return false
    }
  }

  /// Shows the winners of all contested claims and parks the losers.
  func resolve() throws {
    var candidates: Set<RowKey> = []
    for claim in contested { candidates.formUnion(try claimants(of: claim)) }
    contested = []
    forgetClaimants()
    var winners: [LivingRow] = []
    for key in candidates.sorted() {
      guard let row = try places.load(key) else { continue }
      let lost = try places.claims(of: row).first { try leastClaimant(of: $0) != key }
      if let lost, let winner = try leastClaimant(of: lost) {
        if row.isShown { try places.park(row) }
        if row.isShown || parked.contains(key) { limbo.entered(key, .unique(lost, winner: winner)) }
      } else if !row.isShown {
        winners.append(row)
      }
    }
    for row in winners { _ = try show(row, places.claims(of: row)) }
    parked = []
  }

  /// Shows a row that waited for something else, unless one of its claims or another constraint keeps it out.
  func admit(_ row: LivingRow) throws -> Bool {
    let claims = try places.claims(of: row)
    return try claims.allSatisfy { try leastClaimant(of: $0) == row.key } && show(row, claims)
  }

  private func claimants(of claim: Limbo.Reason) throws -> [RowKey] {
    var keys = try places.limbo.keys(waitingFor: claim)
    if let shown = try tableRow(claiming: claim), !keys.contains(shown) { keys.append(shown) }
    return keys
  }

  private func tableRow(claiming claim: Limbo.Reason) throws -> RowKey? {
    let (number, name, values) = try claim.claim()
    let table = try places.tables[number]
    // A member's state file may have brought a claim that fits no index.
    guard let index = table.uniqueIndexes.first(where: { $0.name == name }), index.columns.count == values.count else {
      return nil
    }
    return try table.rows.keys(where: index.columns, are: values).first.map { RowKey(table: number, key: $0[...]) }
  }

  /// Whose the claim is. Ages are not compared: one replica may have forgotten them, another not, and a third never
  /// have known that they matter.
  func leastClaimant(of claim: Limbo.Reason) throws -> RowKey? {
    if let known = leastClaimants[claim] { return known }
    let least = try claimants(of: claim).min { try $0.precedes($1) }
    leastClaimants[claim] = least
    return least
  }
}
