import GodwitBase

// What a row was when no more was held than some transactions, as far as it matters to those that are then merged onto that.
// Only what is remembered can be told: the greatest stamp of a cell hides those before it, the last touch of an origin the
// ones before. What is hidden so is less than what comes again, and decides nothing but what later moves had seen.
extension RowState {
  /// - Parameters:
  ///   - held: What was held, and with each transaction all that its author had seen.
  ///   - isKnown: Whether the first transaction that comes onto it takes the row for one that is there.
  package func back(to held: VersionVector, isKnown: Bool) -> RowState {
    func isHeld(_ stamp: CellStamp) -> Bool { held.covers(stamp.dot) }
    var state = RowState()
    state.image = image
    state.masks = masks
    state.base = base.flatMap { isHeld($0) ? $0 : nil }
    state.overrides = heldOverrides(isHeld).filter { stamp in state.base.map { $0 < stamp.value } ?? true }
    state.carried = carried.filter { isHeld($0.value) }
    state.brought = brought.compactMapValues { all in
      let left = all.filter { isHeld($0.key) && isHeld($0.value.stamp) }
      return left.isEmpty ? nil : left
    }
    state.contributions = contributions.compactMapValues { all in
      let left = all.filter { $0.isCovered(by: held) }
      return left.isEmpty ? nil : left
    }
    state.moves = moves.filter { isHeld($0.stamp) }
    state.deletes = deletes.filter(isHeld)
    // An origin that has inserted the row since may have done so before, of which only moves have to know.
    let hasMovedSince = state.moves.count < moves.count
    state.inserts = hasMovedSince ? inserts.intersection(held) : inserts.covered(by: held)
    state.updates = updates.covered(by: held)
    state.gone = gone.covered(by: held)
    for (move, all) in followed where isHeld(move) {
      let left = FollowedUpdates(staying: all.staying.covered(by: held), gone: all.gone.covered(by: held))
      if !left.isEmpty { state.followed[move] = left }
    }
    state.removed = removed.intersection(held)
    let hasHistory = !state.deletes.isEmpty || !state.inserts.isEmpty || !state.updates.isEmpty
    state.isSettled = isSettled || isKnown && !hasHistory
    return state
  }

  /// What later moves had seen of a cell tells of a stamp that another hides now.
  private func heldOverrides(_ isHeld: (CellStamp) -> Bool) -> [Int: CellStamp] {
    var stamps = overrides.filter { isHeld($0.value) }
    for move in moves {
      for (column, stamp) in move.cells where isHeld(stamp) { stamps[column] = max(stamps[column] ?? stamp, stamp) }
    }
    return stamps
  }

  /// What is left of a column's value without what its contributions since have brought to it. Of another it is the value
  /// now: where nothing since has written to it that is its value then, too.
  package func value(of column: Int, now value: Value, backTo held: VersionVector, _ policy: MergePolicy) -> Value {
    guard let all = contributions[column] else { return value }
    switch (policy, value) {
    case (.counter, .integer(let count)):
      return .integer(count &- all.sum &+ all.filter { $0.isCovered(by: held) }.sum)
    case (.addWinsSet, _):
      let elements = SetElements.distinct(SetElements.parse(value) ?? [])
      return SetElements.value(of: elements.subtracting(all.unseen(by: held).map(\.value)))
    default: return value
    }
  }
}
