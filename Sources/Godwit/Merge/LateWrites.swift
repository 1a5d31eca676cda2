import GodwitBase
import GodwitReplication

/// What has had to wait for a schema, and now has a place in the tables.
///
/// Deletes of its rows may be here whose authors had seen it. Such rows are merged anew from the log, as if nothing had waited
/// (Specs/migrations.md, "Quarantine").
final class LateWrites {
  private let carried: CarriedLog
  private let places: RowPlaces
  private let forgotten: VersionVector
  /// What stays as the states have it: what has been forgotten, and the transactions in the log whose authors had not seen
  /// all of that. They were merged while it was remembered, and before anything had to wait: from then on nothing goes.
  private var beginning: VersionVector
  /// Those that are merged anew.
  private var rows: Set<RowKey> = []
  private var late: [OverlookedWrites.Late] = []
  /// The schema versions of the transactions that write to such rows, in their order.
  private var versions: [UInt64] = []

  var isEmpty: Bool { rows.isEmpty }

  init(_ carried: CarriedLog, _ places: RowPlaces) throws {
    self.carried = carried
    self.places = places
    forgotten = try ForgottenVector.load(carried.log, on: carried.connection)
    beginning = forgotten
    try carried.forEach { _, _, write in
      let dot = write.stamp.dot
      if !write.context.covers(forgotten) { beginning[dot.origin] = max(beginning[dot.origin], dot.sequence) }
    }
  }

  /// Takes a write that comes late when its row has to be merged anew. Any other may be merged as if it came now.
  func take(_ write: RowWrite, to key: RowKey, by author: TransactionRecord) throws -> Bool {
    if !rows.contains(key) {
      guard try isEntangled(key, write) else { return false }
      rows.insert(key)
    }
    late.append(OverlookedWrites.Late(key: key, write: write, version: author.schemaVersion))
    return true
  }

  private func isEntangled(_ key: RowKey, _ write: RowWrite) throws -> Bool {
    guard let state = try places.states.load(key) else { return false }
    if !state.deletes.isEmpty { return true }
    let rules = try places.tables[key.table].rules
    let policies = write.cells.map { rules.policy(of: $0.column) }
    return try policies.contains { try isTakenBack(write.stamp.dot, policy: $0, in: state) }
  }

  /// Whether somebody who had seen what a transaction brought to a column has taken it back since, or may have. Stamps tell
  /// that where the last writer wins.
  private func isTakenBack(_ dot: Dot, policy: MergePolicy, in state: RowState) throws -> Bool {
    let touches: [VersionVector] =
      switch policy {
      case .lastWriterWins: []
      case .counter: [state.inserts]
      case .addWinsSet, .maximum, .minimum, .custom: [state.inserts, state.updates]
      }
    return try touches.contains { touches in
      try touches.origins.contains { origin in
        let touch = Dot(origin, touches[origin])
        return try touch != dot && carried.log.context(of: touch).covers(dot)
      }
    }
  }

  /// What the log has of the rows that are merged anew.
  func writes() throws -> [RowKey: RowWrites] {
    var all = Dictionary(uniqueKeysWithValues: rows.map { ($0, RowWrites(beginning: RowBeginning(beginning))) })
    let waited = Set(late.map(\.write.stamp.dot))
    var last: Dot?
    try carried.forEach { record, key, write in
      guard rows.contains(key) else { return }
      if beginning.covers(write.stamp.dot), !waited.contains(write.stamp.dot) {
        if !forgotten.covers(write.stamp.dot) { all[key]?.beginning?.writes.append(write) }
        return
      }
      if record.dot != last { versions.append(record.schemaVersion) }
      last = record.dot
      all[key]?.writes.append((versions.count - 1, write))
    }
    return all
  }

  /// What was written over by holders whose programs were too old to show it; `all` is what
  /// ``writes()`` gave.
  func overlooked(among all: [RowKey: RowWrites]) throws -> [(key: RowKey, lost: LostWrite)] {
    try OverlookedWrites(late, among: all, versions, tables: places.tables).losses()
  }
}
