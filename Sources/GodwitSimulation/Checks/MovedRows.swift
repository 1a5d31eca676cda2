import Godwit
import GodwitReplication

/// The keys that rows went between, and all that was written under them: what is written under one may follow to another.
struct MovedRows {
  let names: Set<RowName>
  private let histories: [RowHistory]

  var shape: TableShape { histories[0].shape }

  /// Keys that are connected by moves are one family.
  static func families(of model: MergeModel) -> [MovedRows] {
    var neighbours: [RowName: Set<RowName>] = [:]
    for history in model.histories.values {
      for write in history.writes {
        guard case .leave(let target) = write.kind else { continue }
        neighbours[history.name, default: []].insert(target)
        neighbours[target, default: []].insert(history.name)
      }
    }
    var families: [MovedRows] = []
    var seen: Set<RowName> = []
    for start in neighbours.keys where seen.insert(start).inserted {
      var names: Set<RowName> = [start]
      var rest = [start]
      while let name = rest.popLast() {
        for next in neighbours[name] ?? [] where seen.insert(next).inserted {
          names.insert(next)
          rest.append(next)
        }
      }
      let histories = names.compactMap { model.histories[$0] }
      if !histories.isEmpty { families.append(MovedRows(names: names, histories: histories)) }
    }
    return families
  }

  /// Whether one of some replicas wrote under one of the keys.
  func isWritten(by isOne: (ReplicaID) -> Bool) -> Bool {
    histories.contains { $0.writes.contains { isOne($0.dot.origin.replica) } }
  }

  /// What a column holds, by key.
  func standing(in column: Int) -> Set<Value> { Set(histories.filter(\.isAlive).map { $0.values[column] }) }

  /// What was written to a column, stands in it under none of the keys, and was replaced by nobody who had seen it.
  func unseenValues(of column: Int) -> [(RowName, Value)] {
    let standing = standing(in: column)
    let writes = histories.flatMap { history in history.writes.map { (history.name, $0) } }
    return writes.compactMap { name, write in
      guard write.path == nil, !write.carries(column), case .value(let value)? = write.change(of: column),
        !standing.contains(value), !isReplaced(write, value, column, by: writes.map(\.1))
      else { return nil }
      return (name, value)
    }
  }

  /// Whether somebody who saw the value written wrote another, or deleted a row. Equal values are one.
  private func isReplaced(_ write: RowHistory.Write, _ value: Value, _ column: Int, by writes: [RowHistory.Write]) -> Bool {
    let same = writes.filter { $0.change(of: column) == .value(value) }
    return writes.contains { later in
      guard later.kind.isDelete || later.change(of: column).map({ $0 != .value(value) }) == true else { return false }
      return same.contains { later.saw($0) }
    }
  }
}

extension HistoricOperation.Kind {
  /// Not that a row leaves its key.
  var isDelete: Bool { if case .delete = self { true } else { false } }
}
