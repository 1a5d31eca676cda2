import GodwitBase

/// What a row was when no more was held than some transactions, as far as it matters to those that are then merged onto that.
///
/// A state remembers the greatest stamp of a cell and the last touch of an origin. What these hide of forgotten
/// transactions is less than what comes again, and decides nothing.
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
    for column in rules.policies.keys {
      let left = try contributions(to: column, now, rules, isAdded)
      if !left.isEmpty { state.contributions[column] = left }
    }
    state.deletes = now.deletes.filter(isHeld)
    state.inserts = now.inserts.covered(by: held)
    state.updates = now.updates.covered(by: held)
    state.removed = now.removed.intersection(held)
    state.isSettled = now.isSettled
    return state
  }

  /// Where a later insert hides it that is the last there was.
  private func base(_ now: RowState) -> CellStamp? {
    guard let last = now.base, !isHeld(last) else { return now.base }
    return writes.filter { $0.kind == .insert }.map(\.stamp).max()
  }

  /// What a later write hides, the log tells.
  private func overrides(_ now: RowState, _ rules: RowRules) -> [Int: CellStamp] {
    var stamps = now.overrides.filter { isHeld($0.value) }
    for write in writes where write.kind != .insert || !rules.insertsClaimAll {
      for cell in write.cells where !rules.policy(of: cell.column).isContributed {
        guard let last = now.stamp(of: cell.column), !isHeld(last) else { continue }
        stamps[cell.column] = max(stamps[cell.column] ?? write.stamp, write.stamp)
      }
    }
    return stamps
  }

  /// With what has been taken back since, but for defaults, which nobody wrote.
  private func contributions(
    to column: Int, _ now: RowState, _ rules: RowRules, _ isAdded: (Int, Dot) throws -> Bool
  ) throws -> [Contribution] {
    let own = Set(writes.map(\.stamp.dot))
    let here = (now.contributions[column] ?? []).filter { held.covers($0.dot) }
    let known = Set(here)
    let all = try writes.reduce(here.filter { !own.contains($0.dot) }) { all, write in
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
      guard let stamp = then.stamp(of: column), stamp != now.state.stamp(of: column),
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
