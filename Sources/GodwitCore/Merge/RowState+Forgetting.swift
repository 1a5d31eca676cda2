import GodwitBase

extension RowState {
  /// Drops what every member is known to hold: no write still to come can be concurrent with it (Specs/forgetting.md).
  ///
  /// - Parameters:
  ///   - frontier: What every active member holds.
  ///   - kept: Columns whose stamps stay, for they are ahead of the clocks.
  /// - Returns: Whether anything is left to remember; when nothing is, the row needs no state.
  package mutating func forget(_ frontier: VersionVector, keeping kept: Set<Int>, _ policy: DeletePolicy) -> Bool {
    let isAlive = isAlive(policy)
    func isOld(_ stamp: CellStamp) -> Bool { frontier.covers(stamp.dot) }
    func isOld(_ vector: VersionVector) -> Bool { frontier.covers(vector) }
    if !isAlive, deletes.allSatisfy(isOld), isOld(inserts), isOld(updates) { return false }
    forgetStamps(isOld, keeping: kept)
    for (column, all) in contributions {
      let left = all.unseen(by: frontier)
      contributions[column] = left.isEmpty ? nil : left
    }
    guard isAlive else { return true }
    deletes = deletes.filter { !isOld($0) }
    guard deletes.isEmpty else { return true }
    let (oldInserts, oldUpdates) = (inserts, updates)
    inserts = inserts.unseen(by: frontier)
    updates = updates.unseen(by: frontier)
    if inserts != oldInserts || updates != oldUpdates || inserts.isEmpty { isStable = true }
    removed = VersionVector()
    return !isTrivial
  }

  /// A column's stamp is the override or else the base, so the base goes first.
  private mutating func forgetStamps(_ isOld: (CellStamp) -> Bool, keeping kept: Set<Int>) {
    guard base.map(isOld) ?? true else { return }
    if let base {
      for column in kept where overrides[column] == nil { overrides[column] = base }
    }
    base = nil
    overrides = overrides.filter { column, stamp in !isOld(stamp) || kept.contains(column) }
  }

  /// Whether the row would be the same to every write to come without its state.
  private var isTrivial: Bool {
    isStable && base == nil && overrides.isEmpty && inserts.isEmpty && updates.isEmpty && deletes.isEmpty
      && contributions.isEmpty && hiddenCells == nil && hiddenReferences.isEmpty
  }
}
