import GodwitBase

/// Merges writes into one row: the rules of Specs/merge.md as a function of the row's state and cells.
///
/// Every part of the state is a join (greatest stamp, greatest touch, union of deletes and contributions), so the
/// outcome does not depend on the order of writes that had not seen each other.
package struct RowMerge {
  package private(set) var state: RowState
  /// Cells that were written, with their new values, by column number.
  package private(set) var written: [Int: Value] = [:]
  package private(set) var lost: [LostWrite] = []
  /// Of the deletes that are remembered, those that are not listed as lost: each is once, however many writes outlive
  /// it.
  private var unlistedDeletes: Set<CellStamp>
  /// The cells that are listed as lost to a delete: each is once, however many deletes had not seen it.
  private var listedCells: Set<LostCell> = []
  private struct LostCell: Hashable {
    let column: Int
    let stamp: CellStamp
  }
  private let rules: RowRules
  private let current: (Int) throws -> Value

  /// `current` gives the value a column has before this merge. It is asked only where the outcome needs it.
  package init(_ state: RowState, _ rules: RowRules, current: @escaping (Int) throws -> Value) {
    self.state = state
    unlistedDeletes = state.deletes
    self.rules = rules
    self.current = current
  }

  /// Takes in one write, of which all causes have been taken in before.
  package mutating func apply(_ write: RowWrite) throws {
    switch write.kind {
    case .delete: try applyDelete(write)
    case .insert:
      let claimsAll = claimsAll(write)
      try applyCells(write, claimingAll: claimsAll)
      if claimsAll, state.base.map({ $0 < write.stamp }) ?? true {
        state.base = write.stamp
        state.overrides = state.overrides.filter { $0.value > write.stamp }
      }
      try noteInsert(write)
    case .update:
      try applyCells(write, claimingAll: false)
      try recordUnseenDeletes(write)
      let dot = write.stamp.dot
      state.updates[dot.origin] = max(state.updates[dot.origin], dot.sequence)
    }
  }

  /// Of a row that nobody has inserted there is nothing to delete, but for what waits there for an insert.
  private mutating func applyDelete(_ write: RowWrite) throws {
    let isInserted = state.isInserted || rules.deletes == .deleteWins
    if isInserted {
      unlistedDeletes.insert(write.stamp)
      try recordDelete(write)
    }
    for touches in [state.inserts, state.updates] {
      for origin in touches.origins {
        state.removed[origin] = max(state.removed[origin], write.context[origin])
      }
    }
    guard isInserted else { return }
    state.isStable = false
    state.deletes.insert(write.stamp)
  }

  private mutating func noteInsert(_ write: RowWrite) throws {
    try recordUnseenDeletes(write)
    if rules.deletes == .deleteWins { state.deletes = state.deletes.filter { !write.context.covers($0.dot) } }
    let dot = write.stamp.dot
    state.inserts[dot.origin] = max(state.inserts[dot.origin], dot.sequence)
  }

  /// What has been lost since the last call.
  package mutating func takeLost() -> [LostWrite] {
    defer { lost.removeAll() }
    return lost
  }

  private func value(of column: Int) throws -> Value { try written[column] ?? current(column) }

  // MARK: Cells

  /// - Parameter claimsAll: Whether the write's stamp becomes that of all columns, once for all of its cells.
  private mutating func applyCells(_ write: RowWrite, claimingAll claimsAll: Bool) throws {
    for cell in write.cells {
      switch rules.policy(of: cell.column) {
      case .lastWriterWins: try applyStamped(cell, write, claimingAll: claimsAll)
      case .counter: try count(cell, write)
      case .addWinsSet: try changeSet(cell, write)
      case .maximum, .minimum, .custom: try choose(cell, write)
      }
    }
  }

  /// The greater stamp wins. Neither write saw the other exactly when the later to arrive had not seen the one that
  /// is here: causes arrive before their effects.
  private mutating func applyStamped(_ cell: Cell, _ write: RowWrite, claimingAll claimsAll: Bool) throws {
    let present = state.stamp(of: cell.column)
    let isShown = present.map { $0 <= write.stamp } ?? true
    if let present, !write.context.covers(present.dot) {
      let value = try value(of: cell.column)
      if value != cell.value { recordLoss(of: cell, write.stamp, present, value, isOutdone: !isShown) }
    }
    guard isShown else { return }
    written[cell.column] = cell.value
    if !claimsAll { state.overrides[cell.column] = write.stamp }
  }

  /// Whether its stamp stands for every column that has one. An insert that leaves such columns out writes only those
  /// that it names.
  private func claimsAll(_ write: RowWrite) -> Bool {
    write.kind == .insert && rules.insertsClaimAll
      && write.cells.count { rules.policies[$0.column] == nil } == rules.columns.count - rules.policies.count
  }

  /// An update adds; an insert takes back what it saw and starts from its own value.
  private mutating func count(_ cell: Cell, _ write: RowWrite) throws {
    var cell = cell
    if case .integer = cell.value {
    } else {
      // What comes to a counter and is none says nothing (``RelativeValue``).
      if write.kind == .update { return }
      cell = Cell(column: cell.column, value: .integer(0))
    }
    let all = state.contributions[cell.column] ?? []
    let new = try rules.contributions(all, and: cell.value, to: cell.column, by: write)
    state.contributions[cell.column] = new
    if write.kind != .update {
      written[cell.column] = .integer(new.sum)
    } else {
      let before = try value(of: cell.column)
      // A row that lacks the count has it once a default comes.
      if before == .null { return }
      // Nor does what stands there and is none: a member's state file has brought it.
      let start = if case .integer(let number) = before { number } else { Int64(0) }
      written[cell.column] = .integer(start &+ Array(new.dropFirst(all.count)).sum)
    }
  }

  /// A remove takes away what it saw of an element; an add that it had not seen stays.
  private mutating func changeSet(_ cell: Cell, _ write: RowWrite) throws {
    let change = write.kind == .update ? try? SetChange(cell.value) : nil
    // What comes to a set and is none, nor a change of one, says nothing (``RelativeValue``).
    guard write.kind != .update || change != nil else { return }
    let all = state.contributions[cell.column] ?? []
    let kept = try rules.contributions(all, and: cell.value, to: cell.column, by: write)
    state.contributions[cell.column] = kept
    guard let change else {
      written[cell.column] = SetElements.value(of: kept.compactMap(\.text))
      return
    }
    var elements = SetElements.distinct(SetElements.parse(try value(of: cell.column)) ?? [])
    elements.subtract(SetElements.distinct(change.removed).subtracting(kept.map(\.value)))
    elements.formUnion(SetElements.distinct(change.added))
    written[cell.column] = SetElements.value(of: elements)
  }

  /// Every write takes back what it saw; of what is left the policy chooses.
  private mutating func choose(_ cell: Cell, _ write: RowWrite) throws {
    let all = try rules.contributions(
      state.contributions[cell.column] ?? [], and: cell.value, to: cell.column, by: write)
    state.contributions[cell.column] = all
    written[cell.column] = try rules.choice(all, by: rules.policy(of: cell.column))
  }

  // MARK: Conflicts

  private mutating func recordLoss(
    of cell: Cell, _ incoming: CellStamp, _ present: CellStamp, _ here: Value, isOutdone: Bool
  ) {
    lost.append(
      isOutdone
        ? LostWrite(.cell(cell.column), value: cell.value, winningValue: here, loser: incoming, winner: present)
        : LostWrite(.cell(cell.column), value: here, winningValue: cell.value, loser: present, winner: incoming))
  }

  /// An insert or update, and a delete that had not seen it.
  private mutating func recordUnseenDeletes(_ write: RowWrite) throws {
    switch rules.deletes {
    case .editWins:
      for delete in unlistedDeletes.filter({ !write.context.covers($0.dot) }).sorted() {
        recordDelete(delete, losesTo: write.stamp)
      }
    case .deleteWins:
      guard let delete = state.deletes.filter({ !write.context.covers($0.dot) }).max() else { return }
      for cell in write.cells { try recordCell(cell.column, of: write.stamp, losesTo: delete) }
      if rules.columns.isEmpty { lost.append(LostWrite(.row, loser: write.stamp, winner: delete)) }
    }
  }

  /// A delete, and the inserts and updates it had not seen. Some may have left no stamp, when all they wrote lost or
  /// adds up: the touches name them all.
  private mutating func recordDelete(_ write: RowWrite) throws {
    guard rules.deletes == .editWins || rules.columns.isEmpty else { return try recordUnseenCells(write) }
    let unseen = [state.inserts, state.updates].flatMap { touches in
      touches.origins.map { Dot($0, touches[$0]) }.filter { !write.context.covers($0) }
    }
    guard let last = unseen.last else { return }
    switch rules.deletes {
    case .editWins:
      let stamps = ([state.base].compactMap { $0 } + state.overrides.values).filter { !write.context.covers($0.dot) }
      recordDelete(write.stamp, losesTo: stamps.max() ?? CellStamp(unknownTimeOf: last))
    case .deleteWins: lost.append(LostWrite(.row, loser: CellStamp(unknownTimeOf: last), winner: write.stamp))
    }
  }

  /// Where deletes win, what a delete had not seen is lost.
  private mutating func recordUnseenCells(_ delete: RowWrite) throws {
    let isAllSeen = [state.inserts, state.updates].allSatisfy(delete.context.covers)
    guard !isAllSeen || !state.contributions.isEmpty else { return }
    for column in rules.columns {
      if let stamp = state.stamp(of: column), !delete.context.covers(stamp.dot) {
        try recordCell(column, of: stamp, losesTo: delete.stamp)
      } else if let contribution = state.contributions[column]?.unseen(by: delete.context).last {
        try recordCell(column, of: CellStamp(unknownTimeOf: contribution.dot), losesTo: delete.stamp)
      }
    }
  }

  private mutating func recordDelete(_ delete: CellStamp, losesTo winner: CellStamp) {
    guard unlistedDeletes.remove(delete) != nil else { return }
    lost.append(LostWrite(.delete, loser: delete, winner: winner))
  }

  private mutating func recordCell(_ column: Int, of loser: CellStamp, losesTo delete: CellStamp) throws {
    guard listedCells.insert(LostCell(column: column, stamp: loser)).inserted else { return }
    let value = try value(of: column)
    lost.append(LostWrite(.cell(column), value: value, loser: loser, winner: delete))
  }
}

extension Contribution {
  var text: String? {
    guard case .text(let text) = value else { return nil }
    return text
  }
}
