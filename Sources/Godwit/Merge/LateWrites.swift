import GodwitBase
import GodwitReplication

/// What has had to wait for a schema, and now has a place in the tables.
///
/// Moves and deletes of its rows may be here whose authors had seen it. Such rows, and those that moves connect them with,
/// are merged anew from the log, as if nothing had waited (Specs/migrations.md, "Quarantine").
final class LateWrites {
  private struct Late {
    let key: RowKey
    let write: RowWrite
    /// The schema version of its author.
    let version: UInt64
  }

  private let carried: CarriedLog
  private let places: RowPlaces
  /// The rows that a row went to or came from.
  private var neighbours: [RowKey: Set<RowKey>] = [:]
  /// Those that are merged anew.
  private var rows: Set<RowKey> = []
  private var late: [Late] = []
  /// The schema versions of the transactions that write to such rows, in their order.
  private var versions: [UInt64] = []

  var isEmpty: Bool { rows.isEmpty }

  init(_ carried: CarriedLog, _ places: RowPlaces) throws {
    self.carried = carried
    self.places = places
    try carried.forEach { _, key, write in
      guard let target = write.movedTo else { return }
      let other = RowKey(table: key.table, key: target[...])
      neighbours[key, default: []].insert(other)
      neighbours[other, default: []].insert(key)
    }
  }

  /// Takes a write that comes late when its row has to be merged anew. Any other may be merged as if it came now.
  func take(_ write: RowWrite, to key: RowKey, by author: TransactionRecord) throws -> Bool {
    if !rows.contains(key) {
      guard try isEntangled(key, write) else { return false }
      insert(key)
    }
    late.append(Late(key: key, write: write, version: author.schemaVersion))
    return true
  }

  private func isEntangled(_ key: RowKey, _ write: RowWrite) throws -> Bool {
    if neighbours[key] != nil { return true }
    guard let state = try places.states.load(key) else { return false }
    if !state.deletes.isEmpty { return true }
    // An insert takes back what it saw of counters, sets and choices. Stamps tell that of other cells.
    let rules = try places.tables[key.table].rules
    guard rules.insertsClaimAll, write.cells.contains(where: { rules.policy(of: $0.column).isContributed }) else {
      return false
    }
    return try state.isTakenBack(write.stamp.dot, context: carried.log.context(of:))
  }

  private func insert(_ key: RowKey) {
    var due = [key]
    while let next = due.popLast() {
      if rows.insert(next).inserted { due += neighbours[next] ?? [] }
    }
  }

  /// All that the log has of the rows that are merged anew.
  func writes() throws -> [RowKey: RowWrites] {
    var all: [RowKey: RowWrites] = [:]
    var last: Dot?
    try carried.forEach { record, key, write in
      guard rows.contains(key) else { return }
      if record.dot != last { versions.append(record.schemaVersion) }
      last = record.dot
      all[key, default: RowWrites(isAnew: true)].writes.append((versions.count - 1, write))
    }
    return all
  }

  // MARK: Conflicts

  /// What was written over, or carried away without, by holders whose programs were too old to show it.
  func overlooked(among all: [RowKey: RowWrites]) throws -> [(key: RowKey, lost: LostWrite)] {
    var found: [(key: RowKey, lost: LostWrite)] = []
    for late in late where late.write.kind != .delete {
      let rules = try places.tables[late.key.table].rules
      for cell in late.write.cells where rules.goesByStamp(cell.column, in: late.write) {
        var visited: Set<RowKey> = []
        overlooked(cell, late, at: late.key, by: [late.write.stamp.dot], rules, all, &visited, &found)
      }
    }
    return found
  }

  /// The cell stands, or followed the row, under this key; `path` is what its author's transaction is and the moves that it
  /// came by.
  private func overlooked(
    _ cell: Cell, _ late: Late, at key: RowKey, by path: [Dot], _ rules: RowRules, _ all: [RowKey: RowWrites],
    _ visited: inout Set<RowKey>, _ found: inout [(key: RowKey, lost: LostWrite)]
  ) {
    guard visited.insert(key).inserted, let writes = all[key]?.writes else { return }
    for (transaction, write) in writes where write.stamp.dot != late.write.stamp.dot {
      let target = write.movedTo.map { RowKey(table: key.table, key: $0[...]) }
      guard path.allSatisfy(write.context.covers) else {
        guard let target, !write.context.covers(late.write.stamp.dot) else { continue }
        overlooked(cell, late, at: target, by: path + [write.stamp.dot], rules, all, &visited, &found)
        continue
      }
      let isSuperseded = writes.contains { _, other in
        other.stamp > late.write.stamp && other.stamp != write.stamp && write.context.covers(other.stamp.dot)
          && other.value(of: cell.column) != nil && rules.goesByStamp(cell.column, in: other)
      }
      guard versions[transaction] < late.version, !isSuperseded else { continue }
      let arrival = target.flatMap { all[$0]?.writes.first { $0.write.stamp == write.stamp && $0.write.kind == .move } }
      let taking = arrival?.write ?? write
      guard let value = taking.value(of: cell.column), value != cell.value else { continue }
      let lost = LostWrite(
        .cell(cell.column), value: cell.value, winningValue: value, loser: late.write.stamp, winner: write.stamp)
      found.append((key, lost))
    }
  }
}
