import GodwitBase

/// A key change is a move: the row goes on under its new key, and writes that had not seen that follow it
/// (Specs/merge.md, "Moves"). Whether the write or the move comes first makes no difference: what wins at the old key goes
/// on, and an update keeps nothing alive there.
extension RowMerge {
  /// The row leaves this key: what its author had not seen goes along.
  mutating func move(to target: [UInt8], _ write: RowWrite) {
    var stamps: [Int: CellStamp] = [:]
    for column in rules.columns where !rules.policy(of: column).isContributed {
      stamps[column] = state.stamp(of: column)
    }
    let move = RowMove(stamp: write.stamp, target: target, cells: stamps)
    state.moves.insert(move)
    var edits = FollowingEdits(move)
    for (origin, sequence) in state.updates.entries where write.context[origin] < sequence {
      edits.updates[origin] = sequence
    }
    /// What came by one move goes on by a later one.
    func goesOn(_ other: CellStamp?) -> Bool { other.map { $0 < write.stamp } ?? true }
    for (column, stamp) in stamps
    where !state.isSeen(column, by: write.context) && state.carried[column] == nil && goesOn(state.brought[column]) {
      guard let value = try? value(of: column) else { continue }
      edits.cells[column] = .init(value: value, stamp: stamp)
    }
    for (column, all) in state.contributions {
      let unseen = all.unseen(by: write.context).filter { goesOn($0.move) }
      if !unseen.isEmpty { edits.contributions[column] = unseen }
    }
    for origin in edits.updates.entries.keys { state.updates[origin] = .none }
    following.append(edits)
  }

  /// A write to a row that has gone, by an author who had not seen that.
  mutating func follow(_ moves: [RowMove], _ write: RowWrite) {
    let contributed = write.cells.filter { rules.policy(of: $0.column).isContributed }
    for move in moves {
      var edits = FollowingEdits(move)
      // An insert stays where it was made; its cells go along all the same.
      if write.kind == .update { edits.updates[write.stamp.dot.origin] = write.stamp.dot.sequence }
      for cell in write.cells {
        guard !rules.policy(of: cell.column).isContributed, write.kind != .move || write.changed.contains(cell.column),
          move.isFollowed(by: write.stamp, to: cell.column)
        else { continue }
        edits.cells[cell.column] = .init(value: cell.value, stamp: write.stamp)
      }
      if !contributed.isEmpty { edits.write = write.with(contributed) }
      following.append(edits)
    }
  }

  /// The moves from here that a write had not seen, the first first.
  func unseenMoves(_ write: RowWrite) -> [RowMove] {
    guard !state.moves.isEmpty else { return [] }
    return state.moves.filter { !write.context.covers($0.stamp.dot) }.sorted { $0.stamp < $1.stamp }
  }

  /// Takes in what was written under a key that the row had before.
  package mutating func apply(_ edits: FollowingEdits) throws {
    for (column, cell) in edits.cells.sorted(by: { $0.key < $1.key }) {
      if let present = state.stamp(of: column), present >= cell.stamp {
        try recordFollowed(column, cell, losesTo: present)
        continue
      }
      written[column] = cell.value
      state.overrides[column] = cell.stamp
      state.carried[column] = nil
      state.brought[column] = edits.move
    }
    for (column, all) in edits.contributions.sorted(by: { $0.key < $1.key }) {
      try contribute(all.map { $0.going(by: edits.move) }, instead: [], to: column)
    }
    let path = edits.path + [edits.move]
    if let write = edits.write { try contribute(write, by: path) }
    // None of the moves that are here has seen these edits: they came only now.
    let onward = state.moves.filter { $0.stamp > edits.move }.sorted { $0.stamp < $1.stamp }
    for move in onward {
      var next = FollowingEdits(move)
      next.updates = edits.updates
      next.cells = edits.cells.filter { move.isFollowed(by: $0.value.stamp, to: $0.key) }
      // A move does not follow itself, and whoever had seen one wrote to what it left behind.
      next.contributions = edits.contributions.mapValues { all in
        all.filter { $0.dot != move.stamp.dot }.map { $0.going(by: edits.move) }
      }
      next.write = edits.write.flatMap { $0.context.covers(move.stamp.dot) ? nil : $0 }
      next.path = path
      following.append(next)
    }
    guard onward.isEmpty else { return }
    state.updates = state.updates.union(edits.updates)
  }

  /// A write that follows takes back what it had seen where it was made.
  private mutating func contribute(_ write: RowWrite, by path: [CellStamp]) throws {
    for cell in write.cells {
      let seen = (state.contributions[cell.column] ?? []).filter { $0.isSeen(by: write, of: path) }
      let isWhole = write.kind != .update
      func brought(_ value: Value) -> Contribution { Contribution(dot: write.stamp.dot, value: value, path: path) }
      switch rules.policy(of: cell.column) {
      case .counter: try contribute([brought(cell.value)], instead: isWhole ? seen : [], to: cell.column)
      case .addWinsSet:
        if isWhole {
          let elements = (SetElements.parse(cell.value) ?? []).map { brought(.text($0)) }
          try contribute(elements, instead: seen, to: cell.column)
        } else {
          let change = try SetChange(cell.value)
          let changed = Set(change.added + change.removed)
          try contribute(
            change.added.map { brought(.text($0)) }, instead: seen.filter { changed.contains($0.text ?? "") },
            to: cell.column)
        }
      case .maximum, .minimum, .custom: try contribute([brought(cell.value)], instead: seen, to: cell.column)
      case .lastWriterWins: break
      }
    }
  }

  private mutating func contribute(
    _ new: [Contribution], instead gone: [Contribution], to column: Int
  ) throws {
    guard !gone.isEmpty || !new.isEmpty else { return }
    let rest = (state.contributions[column] ?? []).subtracting(gone)
    let all = rest + new
    state.contributions[column] = all
    switch rules.policy(of: column) {
    case .counter:
      guard case .integer(let before) = try value(of: column) else { return }
      written[column] = .integer(before &+ new.sum &- gone.sum)
    case .addWinsSet:
      let left = Set(all.compactMap(\.text))
      let elements = Set(SetElements.parse(try value(of: column)) ?? [])
      let lost = Set(gone.compactMap(\.text)).subtracting(left)
      written[column] = SetElements.value(of: elements.subtracting(lost).union(left))
    case .maximum, .minimum, .custom: written[column] = try rules.choice(all, by: rules.policy(of: column))
    case .lastWriterWins: break
    }
  }

  private mutating func recordFollowed(
    _ column: Int, _ cell: FollowingEdits.StampedValue, losesTo present: CellStamp
  ) throws {
    let here = try value(of: column)
    guard here != cell.value, present != cell.stamp else { return }
    lost.append(
      LostWrite(column: column, value: cell.value, winningValue: here, loser: cell.stamp, winner: present))
  }
}
