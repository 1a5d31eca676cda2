import GodwitBase

/// What a row was when no more was held than some transactions, as far as it matters to those that are then merged onto that.
///
/// A state remembers the greatest stamp of a cell and the last touch of an origin. What these hide of forgotten
/// transactions is less than what comes again, and decides nothing: what a move had seen of it the move tells.
package struct RowBeginning {
  /// What was held, and with each transaction all that its author had seen.
  package let held: VersionVector
  /// What the log still has of that for this row, causes first.
  package var writes: [RowWrite] = []

  package init(_ held: VersionVector) { self.held = held }

  private func isHeld(_ stamp: CellStamp) -> Bool { held.covers(stamp.dot) }

  /// The row's state then; `now` is what it is now. `isAdded` tells whether a transaction's author had not got a column.
  package func state(
    _ now: RowState, _ rules: RowRules, isAdded: (Int, Dot) throws -> Bool
  ) throws -> RowState {
    var state = RowState()
    state.image = now.image
    state.masks = now.masks
    state.base = base(now)
    state.overrides = overrides(now, rules).filter { stamp in state.base.map { $0 < stamp.value } ?? true }
    state.carried = now.carried.filter { isHeld($0.value) }
    state.brought = now.brought.compactMapValues { all in
      let left = all.filter { isHeld($0.key) && isHeld($0.value.stamp) }
      return left.isEmpty ? nil : left
    }
    for column in rules.policies.keys {
      let left = try contributions(to: column, now, rules, isAdded)
      if !left.isEmpty { state.contributions[column] = left }
    }
    state.moves = now.moves.filter { isHeld($0.stamp) }
    state.deletes = now.deletes.filter(isHeld)
    // An origin that has inserted the row since may have done so before, of which only moves have to know.
    let hasMovedSince = state.moves.count < now.moves.count
    state.inserts = hasMovedSince ? now.inserts.intersection(held) : now.inserts.covered(by: held)
    state.updates = now.updates.covered(by: held)
    state.gone = now.gone.covered(by: held)
    for (move, all) in now.followed where isHeld(move) {
      let left = FollowedUpdates(staying: all.staying.covered(by: held), gone: all.gone.covered(by: held))
      if !left.isEmpty { state.followed[move] = left }
    }
    state.removed = now.removed.intersection(held)
    state.isSettled = now.isSettled
    return state
  }

  /// Where a later insert hides it that is the last there was.
  private func base(_ now: RowState) -> CellStamp? {
    guard let last = now.base, !isHeld(last) else { return now.base }
    return writes.filter { $0.kind == .insert }.map(\.stamp).max()
  }

  /// What a later write hides, the log tells, and what later moves had seen of it. Where there is nothing now, something that
  /// is forgotten had won.
  private func overrides(_ now: RowState, _ rules: RowRules) -> [Int: CellStamp] {
    var stamps = now.overrides.filter { isHeld($0.value) }
    func find(_ stamp: CellStamp, _ column: Int) { stamps[column] = max(stamps[column] ?? stamp, stamp) }
    for move in now.moves {
      for (column, stamp) in move.cells where isHeld(stamp) { find(stamp, column) }
    }
    for write in writes where write.kind != .insert || !rules.insertsClaimAll {
      for cell in write.cells where rules.goesByStamp(cell.column, in: write) {
        if let last = now.writtenStamp(of: cell.column), !isHeld(last) { find(write.stamp, cell.column) }
      }
    }
    return stamps
  }

  /// With what has been taken back since. What came by a move is as it is now, and so are defaults, which go nowhere.
  private func contributions(
    to column: Int, _ now: RowState, _ rules: RowRules, _ isAdded: (Int, Dot) throws -> Bool
  ) throws -> [Contribution] {
    let own = Set(writes.map(\.stamp.dot))
    let here = (now.contributions[column] ?? []).filter { $0.isCovered(by: held) }
    let known = Set(here)
    let all = try writes.reduce(here.filter { $0.move != nil || !own.contains($0.dot) }) { all, write in
      try write.value(of: column).map { try rules.contributions(all, and: $0, to: column, by: write) } ?? all
    }
    return try all.filter { contribution in
      if known.contains(contribution) { return true }
      return try !rules.isDefault(contribution.value, of: column, by: contribution.dot, isAdded)
    }
  }

  /// A column's value then, as far as it can be told: where nothing has written to it since it is what it is now, and of a
  /// counter or set what is left without what came since.
  package func value(
    of column: Int, _ then: RowState, now: (state: RowState, value: Value), _ policy: MergePolicy,
    _ recall: (Int, Dot) throws -> Value
  ) throws -> Value {
    let (before, after) = (then.contributions[column] ?? [], now.state.contributions[column] ?? [])
    switch (policy, now.value) {
    case (.lastWriterWins, _):
      guard then.carried[column] == nil, then.brought[column] == nil, let stamp = then.writtenStamp(of: column),
        stamp != now.state.stamp(of: column) || now.state.carried[column] != nil,
        let write = writes.last(where: { $0.stamp == stamp })
      else { return now.value }
      return try write.value(of: column) ?? recall(column, stamp.dot)
    case (.counter, .integer(let count)): return .integer(count &- after.sum &+ before.sum)
    case (.addWinsSet, _):
      let elements = SetElements.distinct(SetElements.parse(now.value) ?? [])
      return SetElements.value(of: elements.subtracting(after.map(\.value)).union(before.map(\.value)))
    default: return now.value
    }
  }
}
