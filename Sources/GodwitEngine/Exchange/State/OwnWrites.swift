import GodwitBase
import GodwitCore

/// What a replica's own transactions that are made anew have written to one row so far.
///
/// Those of a machine and of its copy may not have seen each other. What the rules made of them where the two met, they
/// make of them again; what lost then has been listed then.
struct OwnWrites {
  /// The row's cells beside the key in the new state; nil when it is not there.
  let before: [Value]?
  /// Of the latest to come.
  private(set) var stamp: CellStamp
  /// By column, the greatest.
  private var stamps: [Int: CellStamp] = [:]
  private var inserts: [Dot] = []
  /// By column for which a policy chooses a value, the values of which none has seen another.
  private var choices: [Int: [Contribution]] = [:]

  init(on before: [Value]?, stamp: CellStamp) {
    self.before = before
    self.stamp = stamp
  }

  /// What one more write says to the row as it has become.
  ///
  /// - Parameter current: The row's cells beside the key; nil when it is not there.
  mutating func take(_ write: RowWrite, on current: [Value]?, in table: MergeTable) throws -> [Cell] {
    let isUnseen = write.kind == .insert && inserts.contains { !write.context.covers($0) }
    stamp = write.stamp
    if write.kind == .insert { inserts.append(write.stamp.dot) }
    let cells = try write.cells.compactMap { cell in
      try take(cell, of: write, on: current?[cell.column - table.definition.keyCount], isUnseen, table.rules)
    }
    // A row that is not there can come only whole.
    return current == nil ? write.cells : cells
  }

  /// Nil for what loses. Under a policy that makes one value of several, an insert that has not seen another one adds
  /// to it.
  private mutating func take(
    _ cell: Cell, of write: RowWrite, on current: Value?, _ isUnseen: Bool, _ rules: RowRules
  ) throws -> Cell? {
    let column = cell.column
    switch rules.policy(of: column) {
    case .lastWriterWins:
      if let latest = stamps[column], latest > write.stamp { return nil }
      stamps[column] = write.stamp
    case .counter:
      guard isUnseen, case .integer(let here)? = current, case .integer(let own) = cell.value else { break }
      return Cell(column: column, value: .integer(here &+ own))
    case .addWinsSet:
      guard isUnseen, let current, let here = SetElements.parse(current), let own = SetElements.parse(cell.value)
      else { break }
      return Cell(column: column, value: SetElements.value(of: here + own))
    case .maximum, .minimum, .custom:
      let all = try rules.contributions(choices[column] ?? [], and: cell.value, to: column, by: write)
      choices[column] = all
      return Cell(column: column, value: try rules.choice(all, by: rules.policy(of: column)))
    }
    return cell
  }
}
