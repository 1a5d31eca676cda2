import Godwit
import GodwitCore

/// What a replica that holds certain transactions must show: worked out from all of them at once, by the definitions.
/// It shares no code with the merge of the product.
struct MergeModel {
  /// The schema version of who shows it.
  let version: Int
  enum Reason: Hashable {
    case unique
    case reference
  }

  private(set) var histories: [RowName: RowHistory] = [:]
  private(set) var tables = Tables()
  /// Living rows that are not shown.
  private(set) var limbo: [RowName: Reason] = [:]
  /// Cells that show NULL in the place of what they hold.
  private(set) var hiddenReferences: [RowName: Set<Int>] = [:]
  private var living: [RowName: [Value]] = [:]

  init(_ transactions: [HistoricTransaction], at version: Int) {
    self.version = version
    for transaction in transactions.map({ $0.carried(to: version) }) {
      for operation in transaction.operations where TableShape.all[operation.row.table].versions.contains(version) {
        histories[operation.row, default: RowHistory(name: operation.row, version: version)].writes
          .append(RowHistory.Write(transaction: transaction, kind: operation.kind))
      }
    }
    living = histories.filter { $0.value.isAlive }.mapValues(\.values)
    judgeUnique()
    let closing = closings()
    judgeReferences(closing)
  }

  // MARK: Unique values

  /// Each index alone, among all living rows: the least key holds the value.
  private mutating func judgeUnique() {
    for (table, shape) in TableShape.all.enumerated() {
      for index in shape.unique where index.versions.contains(version) {
        let columns = index.columns
        var claims: [[Value]: [RowName]] = [:]
        for (name, row) in living where name.table == table {
          let values = columns.map { row[$0] }
          if !values.contains(.null) { claims[values, default: []].append(name) }
        }
        for claimants in claims.values {
          guard let winner = claimants.min(by: Self.keyPrecedes) else { continue }
          for loser in claimants where loser != winner { limbo[loser] = .unique }
        }
      }
    }
  }

  // MARK: References

  private func parent(_ reference: TableShape.Reference, _ value: Value) -> RowName? {
    guard value != .null, let table = TableShape.numbers[reference.table] else { return nil }
    return RowName(table: table, key: [value])
  }

  /// Of each circle of an acyclic reference the row with the greatest key, among all living rows.
  private func closings() -> Set<RowName> {
    var found: Set<RowName> = []
    for (table, shape) in TableShape.all.enumerated() {
      for (column, reference) in shape.references(at: version) where reference.isAcyclic {
        for start in living.keys where start.table == table {
          var circle: [RowName] = []
          var next: RowName? = start
          while let name = next, let row = living[name], !circle.contains(name) {
            circle.append(name)
            next = parent(reference, row[column])
          }
          // Only a walk that comes back to where it began is a circle; others lead into one.
          guard next == start, !circle.isEmpty else { continue }
          if let last = circle.max(by: Self.keyPrecedes) { found.insert(last) }
        }
      }
    }
    return found
  }

  /// For rows whose keys are single texts of one length.
  private static func keyPrecedes(_ left: RowName, _ right: RowName) -> Bool {
    guard case .text(let a)? = left.key.first, case .text(let b)? = right.key.first else { return false }
    return a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  /// The most rows that can be shown together: what lacks a parent it cannot be without goes, until none does.
  private mutating func judgeReferences(_ closing: Set<RowName>) {
    var shown = living.filter { limbo[$0.key] == nil }
    func isMissing(_ reference: TableShape.Reference, _ value: Value) -> Bool {
      guard value != .null else { return false }
      return parent(reference, value).map { shown[$0] == nil } ?? true
    }
    var isChanging = true
    while isChanging {
      isChanging = false
      for (name, row) in shown {
        for (column, reference) in TableShape.all[name.table].references(at: version) where reference.action != .setNull
        {
          let closes = reference.isAcyclic && closing.contains(name)
          guard !closes, isMissing(reference, row[column]) else { continue }
          shown[name] = nil
          limbo[name] = .reference
          isChanging = true
        }
      }
    }
    for (name, row) in shown {
      var visible = row
      for (column, reference) in TableShape.all[name.table].references(at: version) {
        let closes = reference.isAcyclic && closing.contains(name)
        guard closes || reference.action == .setNull && isMissing(reference, row[column]) else { continue }
        visible[column] = .null
        hiddenReferences[name, default: []].insert(column)
      }
      tables.rows[name.table][name.key] = visible
    }
  }
}
