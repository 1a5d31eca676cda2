import GodwitBase

/// A key change is a move: the row goes on under its new key, and edits that had not seen that follow it
/// (Specs/merge.md, "Moves"). Whether the edit or the move comes first makes no difference: the edit counts at the old
/// key for its cells alone, and what of it wins there goes on.
extension RowMerge {
  /// The row leaves this key: what its author had not seen goes along.
  mutating func move(to target: [UInt8], _ write: RowWrite) {
    let move = RowMove(stamp: write.stamp, target: target)
    state.moves.insert(move)
    var edits = FollowingEdits(move)
    for (origin, sequence) in state.updates.entries where write.context[origin] < sequence {
      edits.updates[origin] = sequence
    }
    for (column, stamp) in state.overrides where !write.context.covers(stamp.dot) && rules.columns.contains(column) {
      guard let value = try? value(of: column) else { continue }
      edits.cells[column] = .init(value: value, stamp: stamp)
    }
    for (column, all) in state.contributions {
      let unseen = all.filter { !write.context.covers($0.dot) && state.updates.covers($0.dot) }
      if !unseen.isEmpty { edits.contributions[column] = unseen }
    }
    for origin in edits.updates.entries.keys { state.updates[origin] = .none }
    following.append(edits)
  }

  /// An update of a row that has gone: what it brought goes on; it keeps nothing alive here.
  mutating func follow(_ moves: Set<RowMove>, _ write: RowWrite, _ before: RowState) {
    for move in moves.sorted(by: { $0.stamp < $1.stamp }) {
      var edits = FollowingEdits(move)
      edits.updates[write.stamp.dot.origin] = write.stamp.dot.sequence
      for cell in write.cells {
        if rules.policy(of: cell.column).isContributed {
          let known = Set(before.contributions[cell.column] ?? [])
          edits.contributions[cell.column] = (state.contributions[cell.column] ?? []).filter { !known.contains($0) }
        } else if state.overrides[cell.column] == write.stamp {
          edits.cells[cell.column] = .init(value: cell.value, stamp: write.stamp)
        }
      }
      following.append(edits)
    }
  }

  /// Takes in what was written under a key that the row had before.
  package mutating func apply(_ edits: FollowingEdits) throws {
    for (column, cell) in edits.cells {
      if let present = state.stamp(of: column), present >= cell.stamp {
        try recordFollowed(column, cell, losesTo: present)
        continue
      }
      written[column] = cell.value
      state.overrides[column] = cell.stamp
    }
    for (column, all) in edits.contributions { try contribute(all, to: column) }
    // None of the moves that are here has seen these edits: they came only now.
    let onward = state.moves.filter { $0.stamp > edits.move }.sorted { $0.stamp < $1.stamp }
    for move in onward {
      var next = FollowingEdits(move)
      next.updates = edits.updates
      next.cells = edits.cells.filter { state.overrides[$0.key] == $0.value.stamp }
      next.contributions = edits.contributions
      following.append(next)
    }
    guard onward.isEmpty else { return }
    state.updates = state.updates.union(edits.updates)
  }

  private mutating func contribute(_ all: [Contribution], to column: Int) throws {
    let known = state.contributions[column] ?? []
    let new = all.filter { !known.contains($0) }
    guard !new.isEmpty else { return }
    state.contributions[column] = known + new
    switch rules.policy(of: column) {
    case .counter:
      guard case .integer(let before) = try value(of: column) else { return }
      written[column] = .integer(before &+ new.sum)
    case .addWinsSet:
      let elements = Set(SetElements.parse(try value(of: column)) ?? [])
      written[column] = SetElements.value(of: elements.union(new.compactMap(\.text)))
    case .maximum, .minimum, .custom:
      written[column] = try rules.choice(known + new, by: rules.policy(of: column))
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
