import GodwitBase

// What a row was when no more was held than some transactions that everyone had seen who has written since. So of what is
// remembered of them nothing matters to the later ones, which are then merged onto that.
extension RowState {
  /// The stamps stay by which rows are compared with each other.
  package func back(to held: VersionVector) -> RowState {
    func isHeld(_ stamp: CellStamp) -> Bool { held.covers(stamp.dot) }
    var state = RowState()
    state.image = image
    state.masks = masks
    state.isSettled = isSettled
    state.base = base.flatMap { isHeld($0) ? $0 : nil }
    state.overrides = overrides.filter { isHeld($0.value) }
    state.carried = carried.filter { isHeld($0.value) }
    state.brought = brought.compactMapValues { all in
      let left = all.filter { isHeld($0.key) && isHeld($0.value.stamp) }
      return left.isEmpty ? nil : left
    }
    return state
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
