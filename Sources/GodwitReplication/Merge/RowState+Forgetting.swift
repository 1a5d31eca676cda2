import GodwitBase

extension RowState {
  /// Drops what every member is known to hold: no write still to come can be concurrent with it (Specs/forgetting.md).
  ///
  /// - Parameters:
  ///   - frontier: What every active member holds.
  ///   - kept: Columns whose stamps stay, because rows compare them.
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
    moves = moves.filter { !isOld($0.stamp) }
    guard deletes.isEmpty else { return true }
    let (oldInserts, oldUpdates) = (inserts, updates)
    inserts = inserts.above(frontier)
    updates = updates.above(frontier)
    if inserts != oldInserts || updates != oldUpdates { isSettled = true }
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
    carried = carried.filter { !isOld($0.value) || kept.contains($0.key) }
    overrides = overrides.filter { column, stamp in
      !isOld(stamp) || kept.contains(column) || brought[column].map { !isOld($0) } ?? false
    }
    brought = brought.filter { overrides[$0.key] != nil }
  }

  /// Whether the row would be the same to every write to come without its state.
  private var isTrivial: Bool {
    isSettled && base == nil && overrides.isEmpty && inserts.isEmpty && updates.isEmpty && deletes.isEmpty
      && contributions.isEmpty && carried.isEmpty && moves.isEmpty && image == nil && masks.isEmpty
  }
}

extension VersionVector {
  /// The entries that are greater than in `other`.
  fileprivate func above(_ other: VersionVector) -> VersionVector {
    VersionVector(entries.filter { other[$0.key] < $0.value })
  }
}
