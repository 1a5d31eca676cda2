import GodwitBase

// What a row was before the transactions that the log still has, as far as it matters to them: all of their authors held
// what is older. Merging them anew onto that gives the row as it is for whoever had to wait for none of them.
extension RowState {
  /// The row's state at the log's beginning.
  ///
  /// - Parameters:
  ///   - floor: What the log has forgotten.
  ///   - kept: Columns whose stamps stay, because rows compare them.
  ///   - isKnown: Whether the first of those transactions takes the row for one that is there.
  package func beginning(at floor: VersionVector, keeping kept: Set<Int>, isKnown: Bool) -> RowState {
    func isOld(_ stamp: CellStamp) -> Bool { floor.covers(stamp.dot) }
    var state = RowState()
    state.isSettled = isSettled || isKnown
    state.image = image
    state.masks = masks
    for column in kept {
      state.overrides[column] = writtenStamp(of: column).flatMap { isOld($0) ? $0 : nil }
      state.carried[column] = carried[column].flatMap { isOld($0) ? $0 : nil }
      let cells = (brought[column] ?? [:]).filter { isOld($0.key) && isOld($0.value.stamp) }
      if !cells.isEmpty { state.brought[column] = cells }
    }
    return state
  }

  /// A column's value at the log's beginning, where anything of that is left in the one that it has now.
  package func beginning(of column: Int, now value: Value, at floor: VersionVector, _ policy: MergePolicy) -> Value {
    guard let all = contributions[column] else { return value }
    switch (policy, value) {
    case (.counter, .integer(let count)):
      return .integer(count &- all.sum &+ all.filter { $0.isCovered(by: floor) }.sum)
    case (.addWinsSet, _):
      let left = SetElements.distinct(SetElements.parse(value) ?? [])
      return SetElements.value(of: left.subtracting(all.unseen(by: floor).map(\.value)))
    default: return value
    }
  }
}
