import GodwitBase

/// Merges writes into one row: the rules of Specs/merge.md as a function of the row's state and cells.
///
/// Every part of the state is a join (greatest stamp, greatest touch, union of deletes and contributions), so the
/// outcome does not depend on the order of writes that had not seen each other.
package struct RowMerge {
  package internal(set) var state: RowState
  /// Cells that were written, with their new values, by column number.
  package internal(set) var written: [Int: Value] = [:]
  package internal(set) var lost: [LostWrite] = []
  /// What goes on to where the row went.
  package internal(set) var following: [FollowingEdits] = []
  let rules: RowRules
  private let current: (Int) throws -> Value
  /// What a transaction that is remembered wrote to a column under this key.
  let recall: (Int, Dot) throws -> Value
  private let isAdded: (Int, Dot) throws -> Bool

  /// `current` gives the value a column has before this merge. It is asked only where the outcome needs it; `recall` for
  /// what stands beneath what followed or came with a move, and `isAdded` whether a transaction's author had not got a column,
  /// where a row has moved.
  package init(
    _ state: RowState, _ rules: RowRules, recall: @escaping (Int, Dot) throws -> Value = RowMerge.noRecall,
    isAdded: @escaping (Int, Dot) throws -> Bool = { _, _ in false }, current: @escaping (Int) throws -> Value
  ) {
    self.state = state
    self.rules = rules
    self.recall = recall
    self.isAdded = isAdded
    self.current = current
  }

  /// Where every author had seen all there is, nothing that is covered goes on.
  package static func noRecall(_ column: Int, _ dot: Dot) throws -> Value {
    throw GodwitError(.damagedLog, "a row's state asks for what transaction \(dot.sequence) wrote to it")
  }

  /// Takes in one write, of which all causes have been taken in before.
  package mutating func apply(_ write: RowWrite) throws {
    switch write.kind {
    case .delete: try applyDelete(write)
    case .insert:
      try applyCells(write)
      if rules.insertsClaimAll, state.base.map({ $0 < write.stamp }) ?? true {
        state.base = write.stamp
        state.overrides = state.overrides.filter { $0.value > write.stamp }
      }
      try noteInsert(write)
      try follow(unseenMoves(write), write)
    case .move:
      try applyCells(write)
      try noteInsert(write)
      try follow(unseenMoves(write), write)
    case .update:
      try applyCells(write)
      let unseen = unseenMoves(write)
      let dot = write.stamp.dot
      guard unseen.isEmpty else {
        state.gone[dot.origin] = max(state.gone[dot.origin], dot.sequence)
        return try follow(unseen, write)
      }
      try recordUnseenDeletes(write)
      state.updates[dot.origin] = max(state.updates[dot.origin], dot.sequence)
    }
  }

  private mutating func applyDelete(_ write: RowWrite) throws {
    if let target = write.movedTo {
      try move(to: target, write)
    } else {
      try recordDelete(write)
    }
    for touches in [state.inserts, state.updates] {
      for origin in touches.origins {
        state.removed[origin] = max(state.removed[origin], write.context[origin])
      }
    }
    for (move, updates) in state.followed where write.context.covers(move.dot) {
      let staying = updates.staying.unseen(by: write.context)
      state.followed[move] = staying.isEmpty && updates.gone.isEmpty ? nil : .init(staying: staying, gone: updates.gone)
    }
    state.isSettled = false
    state.deletes.insert(write.stamp)
  }

  private mutating func noteInsert(_ write: RowWrite) throws {
    try recordUnseenDeletes(write)
    if rules.deletes == .deleteWins { state.deletes = state.deletes.filter { !write.context.covers($0.dot) } }
    let dot = write.stamp.dot
    state.inserts[dot.origin] = max(state.inserts[dot.origin], dot.sequence)
  }

  /// Whether what a transaction brought to a column is its default.
  func isDefault(_ value: Value, of column: Int, by dot: Dot) throws -> Bool {
    try rules.isDefault(value, of: column, by: dot, isAdded)
  }

  func value(of column: Int) throws -> Value { try written[column] ?? current(column) }

  // MARK: Cells

  private mutating func applyCells(_ write: RowWrite) throws {
    for cell in write.cells {
      switch rules.policy(of: cell.column) {
      case .lastWriterWins where write.kind == .move && !write.changed.contains(cell.column): try carry(cell, write)
      case .lastWriterWins: try applyStamped(cell, write)
      case .counter: try count(cell, write)
      case .addWinsSet: try changeSet(cell, write)
      case .maximum, .minimum, .custom: try choose(cell, write)
      }
    }
  }

  /// What a move only carried takes the place of what was here and the move had seen, as if it had been written when that
  /// was: so it gives way to every other write that does, and to no other.
  private mutating func carry(_ cell: Cell, _ write: RowWrite) throws {
    let carried = state.carried[cell.column]
    let isSeen = state.isSeen(cell.column, by: write.context)
    let isShown = isSeen && carried.map { $0 < write.stamp } ?? true
    let unseenCarried = carried.flatMap { write.context.covers($0.dot) ? nil : $0 }
    let hasFollowed = state.brought[cell.column]?[write.stamp] != nil
    if let here = isSeen ? unseenCarried : state.stamp(of: cell.column), !hasFollowed {
      let value = try value(of: cell.column)
      if value != cell.value { recordLoss(of: cell, write.stamp, here, value, isOutdone: !isShown) }
    }
    guard isShown else { return }
    written[cell.column] = cell.value
    state.carried[cell.column] = write.stamp
  }

  /// The greater stamp wins. Neither write saw the other exactly when the later to arrive had not seen the one that
  /// is here: causes arrive before their effects.
  private mutating func applyStamped(_ cell: Cell, _ write: RowWrite) throws {
    let present = state.stamp(of: cell.column)
    let isLater = present.map { $0 <= write.stamp } ?? true
    // What a move carried here is lost by the move, however old it is.
    let carried = isLater ? state.carried[cell.column] : nil
    let isSeen = carried.map { write.context.covers($0.dot) } ?? state.isSeen(cell.column, by: write.context)
    let new = StampedValue(value: cell.value, stamp: write.stamp)
    let isShown = isLater && state.brought[cell.column]?.values.allSatisfy { !new.isOutdone(by: $0) } ?? true
    if let here = carried ?? present, !isSeen {
      let value = try value(of: cell.column)
      if value != cell.value { recordLoss(of: cell, write.stamp, here, value, isOutdone: !isShown) }
    }
    if isShown {
      set(cell, write)
    } else if state.brought[cell.column] != nil, state.writtenStamp(of: cell.column).map({ $0 < write.stamp }) ?? true {
      note(cell, write)
    }
  }

  private mutating func set(_ cell: Cell, _ write: RowWrite) {
    written[cell.column] = cell.value
    state.carried[cell.column] = nil
    note(cell, write)
  }

  /// What followed a move and is older goes nowhere any more.
  private mutating func note(_ cell: Cell, _ write: RowWrite) {
    let new = StampedValue(value: cell.value, stamp: write.stamp)
    if let left = state.brought[cell.column]?.filter({ new.isOutdone(by: $0.value) }) {
      state.brought[cell.column] = left.isEmpty ? nil : left
    }
    if write.kind != .insert || !rules.insertsClaimAll { state.overrides[cell.column] = write.stamp }
  }

  /// An update adds; an insert takes back what it saw and starts from its own value.
  private mutating func count(_ cell: Cell, _ write: RowWrite) throws {
    var cell = cell
    switch cell.value {
    case .integer: break
    case .text where write.kind != .update && CounterDefault.count(cell.value) != nil: break
    // What comes to a counter and is none says nothing (``RelativeValue``).
    default:
      if write.kind == .update { return }
      cell = Cell(column: cell.column, value: .integer(0))
    }
    let all = state.contributions[cell.column] ?? []
    #if DEBUG || GODWIT_PLANT
      if PlantedFault.loseCounterDelta.isPlanted, !all.unseen(by: write.context).isEmpty { return }
    #endif
    let new = try rules.contributions(all, and: cell.value, to: cell.column, by: write)
    state.contributions[cell.column] = new
    if write.kind != .update {
      written[cell.column] = .integer(new.sum)
    } else {
      let before = try value(of: cell.column)
      // A row that lacks the count has it once a default comes.
      if before == .null { return }
      guard case .integer(let before) = before else { throw Self.noInteger }
      written[cell.column] = .integer(before &+ Array(new.dropFirst(all.count)).sum)
    }
  }

  private static var noInteger: GodwitError { GodwitError(.damagedLog, "a column that counts holds no integer") }

  /// A remove takes away what it saw of an element; an add that it had not seen stays.
  private mutating func changeSet(_ cell: Cell, _ write: RowWrite) throws {
    let all = state.contributions[cell.column] ?? []
    let kept = try rules.contributions(all, and: cell.value, to: cell.column, by: write)
    state.contributions[cell.column] = kept
    if write.kind != .update {
      written[cell.column] = SetElements.value(of: kept.compactMap(\.text))
      return
    }
    let change = try SetChange(cell.value)
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
    for delete in state.deletes.sorted() where !write.context.covers(delete.dot) {
      switch rules.deletes {
      case .editWins: recordOnce(delete, losesTo: write.stamp)
      case .deleteWins:
        for cell in write.cells { try recordCell(cell.column, of: write.stamp, losesTo: delete) }
        if rules.columns.isEmpty { lost.append(LostWrite(.row, loser: write.stamp, winner: delete)) }
      }
    }
  }

  /// A delete, and the inserts and updates it had not seen. Some may have left no stamp, when all they wrote lost or
  /// adds up: the touches tell of them all.
  private mutating func recordDelete(_ write: RowWrite) throws {
    if let move = unseenMoves(write).last { recordOnce(write.stamp, losesTo: move.stamp) }
    guard rules.deletes == .editWins || rules.columns.isEmpty else { return try recordUnseenCells(write) }
    let followed = state.followed.filter { write.context.covers($0.key.dot) }.sorted { $0.key < $1.key }.map(\.value.staying)
    let unseen = ([state.inserts, state.updates] + followed).flatMap { touches in
      touches.origins.map { Dot($0, touches[$0]) }.filter { !write.context.covers($0) }
    }
    guard let last = unseen.last else { return }
    switch rules.deletes {
    case .editWins:
      let brought = state.brought.values.joined().map(\.value.stamp)
      let stamps = ([state.base].compactMap { $0 } + state.overrides.values + brought).filter { !write.context.covers($0.dot) }
      recordOnce(write.stamp, losesTo: stamps.max() ?? CellStamp(unknownTimeOf: last))
    case .deleteWins: lost.append(LostWrite(.row, loser: CellStamp(unknownTimeOf: last), winner: write.stamp))
    }
  }

  /// Where deletes win, what a delete had not seen is lost, but for what goes on with a move.
  mutating func recordUnseenCells(_ delete: RowWrite, leaving edits: FollowingEdits? = nil) throws {
    let isAllSeen = [state.inserts, state.updates, state.gone].allSatisfy(delete.context.covers)
    guard !isAllSeen || !state.brought.isEmpty || !state.followed.isEmpty || !state.contributions.isEmpty else { return }
    for column in rules.columns {
      let isSeen = state.carried[column].map { delete.context.covers($0.dot) } ?? state.isSeen(column, by: delete.context)
      if !isSeen, let stamp = state.claimStamp(of: column) {
        guard edits?.cells[column] != StampedValue(value: try value(of: column), stamp: stamp) else { continue }
        try recordCell(column, of: stamp, losesTo: delete.stamp)
      } else if let contribution = state.contributions[column]?.unseen(by: delete.context).last {
        guard edits?.contributions[column] == nil else { continue }
        try recordCell(column, of: CellStamp(unknownTimeOf: contribution.dot), losesTo: delete.stamp)
      }
    }
  }

  /// A delete is listed once per merge however many writes outlive it.
  mutating func recordOnce(_ delete: CellStamp, losesTo winner: CellStamp) {
    guard !lost.contains(where: { $0.part == .delete && $0.loser == delete }) else { return }
    lost.append(LostWrite(.delete, loser: delete, winner: winner))
  }

  mutating func recordCell(_ column: Int, of loser: CellStamp, losesTo delete: CellStamp) throws {
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
