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
    let isFollowedOld = followed.allSatisfy { isOld($0.key) && isOld($0.value.staying) && isOld($0.value.gone) }
    if !isAlive, deletes.allSatisfy(isOld), [inserts, updates, gone].allSatisfy(isOld), isFollowedOld { return false }
    forgetStamps(isOld, keeping: kept)
    // What still follows a move to this key has not seen here what its author saw elsewhere, so that it takes nothing back.
    if isOld(inserts) {
      for (column, all) in contributions {
        let left = all.unseen(by: frontier)
        contributions[column] = left.isEmpty ? nil : left
      }
    }
    guard isAlive else { return true }
    deletes = deletes.filter { !isOld($0) }
    moves = moves.filter { !isOld($0.stamp) }
    guard deletes.isEmpty else { return true }
    let (oldInserts, oldUpdates) = (inserts, updates)
    inserts = inserts.unseen(by: frontier)
    updates = updates.unseen(by: frontier)
    gone = gone.unseen(by: frontier)
    for (move, all) in followed where isOld(move) {
      let left = FollowedUpdates(staying: all.staying.unseen(by: frontier), gone: all.gone.unseen(by: frontier))
      if left.staying != all.staying { isSettled = true }
      followed[move] = left.isEmpty ? nil : left
    }
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
    for (column, all) in brought where !kept.contains(column) {
      let last = all.values.map(\.stamp).max()
      let left = all.filter { !isOld($0.key) || !isOld($0.value.stamp) }
      if left.values.map(\.stamp).max() == last {
        brought[column] = left
      } else {
        // Everyone has seen the last here, so that what is older goes nowhere.
        brought[column] = nil
        overrides[column] = nil
      }
    }
    overrides = overrides.filter { column, stamp in !isOld(stamp) || kept.contains(column) }
  }

  /// Whether the row would be the same to every write to come without its state.
  private var isTrivial: Bool {
    isSettled && base == nil && overrides.isEmpty && inserts.isEmpty && updates.isEmpty && deletes.isEmpty
      && gone.isEmpty && followed.isEmpty && brought.isEmpty && contributions.isEmpty && carried.isEmpty && moves.isEmpty
      && image == nil && masks.isEmpty
  }
}
