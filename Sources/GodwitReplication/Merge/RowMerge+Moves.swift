import GodwitBase

/// A key change is a move: the row goes on under its new key, and writes that had not seen that follow it
/// (Specs/merge.md, "Moves"). Whether the write or the move comes first makes no difference: what wins at the old key goes
/// on, and an update keeps nothing alive there.
extension RowMerge {
  /// The row leaves this key: what its author had not seen goes along.
  mutating func move(to target: [UInt8], _ write: RowWrite) throws {
    // A delete follows nowhere: the row goes on under its new key.
    for delete in pureDeletes.sorted() where !write.context.covers(delete.dot) { recordOnce(delete, losesTo: write.stamp) }
    let stamped = rules.columns.filter { !rules.policy(of: $0).isContributed }
    var seen = VersionVector()
    for origin in state.inserts.origins { seen[origin] = write.context[origin] }
    let move = RowMove(
      stamp: write.stamp, target: target,
      cells: Dictionary(
        uniqueKeysWithValues: stamped.compactMap { column in
          state.seenStamp(of: column, by: write.context).map { (column, $0) }
        }), seen: seen)
    state.moves.insert(move)
    var edits = FollowingEdits(move)
    edits.updates = takeUnseenUpdates(write.context)
    for column in stamped { edits.cells[column] = try unseenCell(column, write.context, by: move) }
    for (column, all) in state.contributions {
      let unseen = try all.filter { contribution in
        guard !write.context.covers(contribution.dot), contribution.move.map({ write.context.covers($0.dot) }) ?? true else {
          return false
        }
        // A default is the row's, under whatever key. Asked last, for it is read from the log.
        return try !isDefault(contribution.value, of: column, by: contribution.dot)
      }
      if !unseen.isEmpty { edits.contributions[column] = unseen }
    }
    if rules.deletes == .deleteWins { try recordUnseenCells(write, leaving: edits) }
    following.append(edits)
  }

  /// Those that are no moves.
  private var pureDeletes: Set<CellStamp> { state.deletes.subtracting(state.moves.map(\.stamp)) }

  /// The updates that go along keep nothing alive here.
  private mutating func takeUnseenUpdates(_ context: VersionVector) -> VersionVector {
    let leaving = state.updates.unseen(by: context)
    for origin in leaving.origins { state.updates[origin] = .none }
    state.gone = state.gone.union(leaving)
    var taken = state.gone.unseen(by: context)
    for (arrival, updates) in state.followed where context.covers(arrival.dot) {
      let leaving = updates.staying.unseen(by: context)
      let gone = updates.gone.union(leaving)
      let staying = updates.staying.without(leaving)
      state.followed[arrival] = FollowedUpdates(staying: staying, gone: gone)
      taken = taken.union(gone.unseen(by: context))
    }
    return taken
  }

  /// The last write to a column that goes along, also from beneath one that stays.
  private func unseenCell(_ column: Int, _ context: VersionVector, by move: RowMove) throws -> StampedValue? {
    func goes(_ stamp: CellStamp) -> Bool { !context.covers(stamp.dot) && move.isFollowed(by: stamp, to: column) }
    let brought = (state.brought[column] ?? [:]).filter { context.covers($0.key.dot) && goes($0.value.stamp) }
    let last = brought.values.max { $0.isOutdone(by: $1) }
    guard let stamp = state.writtenStamp(of: column), goes(stamp), last.map({ $0.stamp <= stamp }) ?? true else {
      return last
    }
    let written = StampedValue(value: try writtenValue(of: column, stamp), stamp: stamp)
    return [last, written].compactMap { $0 }.max { $0.isOutdone(by: $1) }
  }

  /// What the last write under this key wrote, also when something else covers it.
  private func writtenValue(of column: Int, _ stamp: CellStamp) throws -> Value {
    let isCovered = state.carried[column] != nil || state.brought[column] != nil
    return try isCovered ? recall(column, stamp.dot) : value(of: column)
  }

  /// A write to a row that has gone, by an author who had not seen that.
  mutating func follow(_ moves: [RowMove], _ write: RowWrite) throws {
    guard !moves.isEmpty else { return }
    let contributed = try write.cells.filter { cell in
      try rules.policy(of: cell.column).isContributed && !isDefault(cell.value, of: cell.column, by: write.stamp.dot)
    }
    for move in moves {
      var edits = FollowingEdits(move)
      // An insert stays where it was made; its cells go along all the same.
      if write.kind == .update { edits.updates[write.stamp.dot.origin] = write.stamp.dot.sequence }
      for cell in write.cells
      where rules.goesByStamp(cell.column, in: write) && move.isFollowed(by: write.stamp, to: cell.column) {
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
    for (column, cell) in edits.cells.sorted(by: { $0.key < $1.key }) { try bring(cell, to: column, by: edits.move) }
    for (column, all) in edits.contributions.sorted(by: { $0.key < $1.key }) {
      try contribute(all.map { $0.going(by: edits.move) }, instead: [], to: column)
    }
    let path = edits.path + [edits.move]
    if let write = edits.write { try contribute(write, by: path) }
    // None of the moves that are here has seen these edits: they came only now.
    let onward = state.moves.filter { $0.isFollowed(byWhatCame: edits.move) }.sorted { $0.stamp < $1.stamp }
    for move in onward {
      var next = FollowingEdits(move)
      next.updates = edits.updates
      next.cells = edits.cells.filter { move.isFollowed(by: $0.value.stamp, to: $0.key) }
      next.contributions = edits.contributions.mapValues { all in all.map { $0.going(by: edits.move) } }
      next.write = edits.write
      next.path = path
      following.append(next)
    }
    if onward.isEmpty { try recordDeletes(meeting: edits) }
    guard !edits.updates.isEmpty else { return }
    var updates = state.followed[edits.move] ?? FollowedUpdates()
    if onward.isEmpty {
      updates.staying = updates.staying.union(edits.updates)
    } else {
      updates.gone = updates.gone.union(edits.updates)
    }
    state.followed[edits.move] = updates
  }

  /// The last write wins, as everywhere, and gives way to a cell that a move carried over one as late.
  private mutating func bring(_ cell: StampedValue, to column: Int, by move: CellStamp) throws {
    var isLast = state.brought[column]?.values.allSatisfy { $0.isOutdone(by: cell) } ?? true
    if let stamp = state.writtenStamp(of: column), stamp >= cell.stamp {
      let isEqual = stamp == cell.stamp
      let present = StampedValue(value: isEqual ? try writtenValue(of: column, stamp) : .null, stamp: stamp)
      guard isEqual, present.isOutdone(by: cell) else {
        return try isEqual ? recordEqual(column, cell, present) : recordFollowed(column, cell)
      }
    }
    if let present = state.brought[column]?[move], !present.isOutdone(by: cell) { return }
    if state.carried[column] != nil, state.stamp(of: column) == cell.stamp { isLast = false }
    if isLast {
      try recordOvertaken(column, cell, by: move)
      written[column] = cell.value
      state.carried[column] = nil
    } else {
      try recordFollowed(column, cell)
    }
    state.brought[column, default: [:]][move] = cell
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
          let changed = change.changed
          try contribute(
            change.added.map { brought(.text($0)) }, instead: seen.filter { changed.contains($0.value) },
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
      written[column] = .integer(before &+ all.sum &- (rest + gone).sum)
    case .addWinsSet:
      let left = Set(all.map(\.value))
      let elements = SetElements.distinct(SetElements.parse(try value(of: column)) ?? [])
      let lost = Set(gone.map(\.value)).subtracting(left)
      written[column] = SetElements.value(of: elements.subtracting(lost).union(left))
    case .maximum, .minimum, .custom: written[column] = try rules.choice(all, by: rules.policy(of: column))
    case .lastWriterWins: break
    }
  }

  /// What the same move carried or brought met the cell under the key that both were written under. What the move changed
  /// besides was never there.
  private mutating func recordOvertaken(_ column: Int, _ cell: StampedValue, by move: CellStamp) throws {
    guard let present = state.claimStamp(of: column), state.carried[column] != move else { return }
    let here = StampedValue(value: try value(of: column), stamp: present)
    guard here.value != cell.value, here != state.brought[column]?[move] else { return }
    lost.append(
      LostWrite(.cell(column), value: here.value, winningValue: cell.value, loser: present, winner: cell.stamp))
  }

  /// What comes to a row that is gone outlives the deletes that had seen the move and not this, or is lost with the row where
  /// deletes win.
  private mutating func recordDeletes(meeting edits: FollowingEdits) throws {
    switch rules.deletes {
    case .editWins:
      guard let last = edits.updates.origins.last else { return }
      let winner = edits.write?.stamp ?? edits.cells.values.map(\.stamp).max()
      // Whoever had seen the move is later. A later one that had not is outlived by the move itself.
      for delete in pureDeletes.sorted() where edits.move < delete {
        recordOnce(delete, losesTo: winner ?? CellStamp(unknownTimeOf: Dot(last, edits.updates[last])))
      }
    case .deleteWins:
      if let delete = state.deletes.max() { try recordCells(edits, losingTo: delete) }
    }
  }

  private mutating func recordCells(_ edits: FollowingEdits, losingTo delete: CellStamp) throws {
    for (column, cell) in edits.cells.sorted(by: { $0.key < $1.key }) {
      // What gave way here is listed by that.
      let isShown = state.carried[column] == nil && state.stamp(of: column) == cell.stamp
      guard isShown, try value(of: column) == cell.value else { continue }
      try recordCell(column, of: cell.stamp, losesTo: delete)
    }
    var contributed = edits.contributions.compactMapValues { $0.last.map { CellStamp(unknownTimeOf: $0.dot) } }
    for cell in edits.write?.cells ?? [] { contributed[cell.column] = edits.write?.stamp }
    for (column, loser) in contributed.sorted(by: { $0.key < $1.key }) { try recordCell(column, of: loser, losesTo: delete) }
  }

  /// One transaction wrote to the row under both keys.
  private mutating func recordEqual(_ column: Int, _ cell: StampedValue, _ present: StampedValue) {
    guard cell.value != present.value else { return }
    lost.append(
      LostWrite(
        .cell(column), value: cell.value, winningValue: present.value, loser: cell.stamp, winner: present.stamp))
  }

  /// A move that carried something over a write as late had seen that very write.
  private mutating func recordFollowed(_ column: Int, _ cell: StampedValue) throws {
    let here = try value(of: column)
    guard let present = state.claimStamp(of: column), here != cell.value,
      state.carried[column] == nil || state.stamp(of: column) != cell.stamp
    else { return }
    lost.append(
      LostWrite(.cell(column), value: cell.value, winningValue: here, loser: cell.stamp, winner: present))
  }
}
