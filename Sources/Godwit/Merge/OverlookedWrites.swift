import GodwitBase
import GodwitReplication

/// Finds what was written over, or carried away without, by holders whose programs were too old to show it: they count as
/// having seen it, so that no merge lists it (Specs/migrations.md, "Quarantine").
struct OverlookedWrites {
  /// What comes late, and the schema version of its author.
  struct Late {
    let key: RowKey
    let write: RowWrite
    let version: UInt64
  }

  /// What is written to a cell.
  private struct Entry {
    let stamp: CellStamp
    let value: Value
    /// Whether that is what it does to the value that its author saw.
    let isRelative: Bool
    /// Its transaction, and the moves by which it came to this key.
    let path: [Dot]
    /// The schema version of its author, where it came late.
    let version: UInt64?
    /// What it takes back: all that its author had seen. Nil where the latest stamp shows alone.
    let taken: VersionVector?
  }

  private struct Cells: Hashable {
    let key: RowKey
    let column: Int
  }

  private let all: [RowKey: RowWrites]
  private let versions: [UInt64]
  private let tables: MergeTables
  /// The greatest version of what comes late.
  private let newest: UInt64
  /// The latest first.
  private var entries: [Cells: [Entry]] = [:]

  /// - Parameters:
  ///   - all: The writes of the rows that it came late to.
  ///   - versions: The schema versions of their transactions' authors.
  init(
    _ late: [Late], among all: [RowKey: RowWrites], _ versions: [UInt64], tables: MergeTables
  ) throws {
    self.all = all
    self.versions = versions
    self.tables = tables
    newest = late.map(\.version).max() ?? 0
    let waited = Set(late.map(\.write.stamp))
    for (key, writes) in all {
      for (_, write) in writes.writes where !waited.contains(write.stamp) {
        try add(write, to: key, path: [write.stamp.dot], version: nil)
      }
    }
    for late in late { try add(late) }
    entries = entries.mapValues { $0.sorted { $0.stamp > $1.stamp } }
  }

  /// Adds what comes late under each key that it has followed its row to.
  private mutating func add(_ late: Late) throws {
    var places: [(key: RowKey, path: [Dot])] = [(late.key, [late.write.stamp.dot])]
    var visited: Set<RowKey> = []
    while let place = places.popLast() {
      guard visited.insert(place.key).inserted, let writes = all[place.key] else { continue }
      try add(late.write, to: place.key, path: place.path, version: late.version)
      // What followed a row here goes on with who had seen that come, and not this.
      let arrivals = place.path.dropFirst()
      for (_, move) in writes.writes where !move.context.covers(late.write.stamp.dot) {
        guard let target = move.movedTo, arrivals.allSatisfy(move.context.covers) else { continue }
        places.append((RowKey(table: place.key.table, key: target[...]), place.path + [move.stamp.dot]))
      }
    }
  }

  private mutating func add(_ write: RowWrite, to key: RowKey, path: [Dot], version: UInt64?) throws {
    let rules = try tables[key.table].rules
    for cell in write.cells {
      let policy = rules.policy(of: cell.column)
      // What a move carried is no writing of its own.
      guard policy.isContributed || rules.goesByStamp(cell.column, in: write) else { continue }
      let takesBack = write.kind != .update || !policy.isRelative
      entries[Cells(key: key, column: cell.column), default: []].append(
        Entry(
          stamp: write.stamp, value: cell.value, isRelative: !takesBack, path: path, version: version,
          taken: policy.isContributed ? takesBack ? write.context : VersionVector() : nil))
    }
  }

  /// The losses, by the key that the row had.
  func losses() throws -> [(key: RowKey, lost: LostWrite)] {
    var losses: [(key: RowKey, lost: LostWrite)] = []
    for (key, writes) in all.sorted(by: { $0.key < $1.key }) {
      let rules = try tables[key.table].rules
      for (transaction, write) in writes.writes where versions[transaction] < newest {
        let target = write.movedTo.map { RowKey(table: key.table, key: $0[...]) }
        let taking = target.flatMap { all[$0]?.arrival(by: write.stamp) } ?? write
        for cell in taking.cells where taking.kind != .update || !rules.policy(of: cell.column).isRelative {
          losses += try self.losses(at: Cells(key: key, column: cell.column), to: taking, cell.value, versions[transaction], rules)
            .map { (key, $0) }
        }
      }
    }
    return losses
  }

  /// What a write of a program of some version took the place of. Where the latest stamp shows alone it takes time in
  /// proportion to what the author had not seen, else to all that was written to the cell.
  private func losses(
    at cells: Cells, to write: RowWrite, _ written: Value, _ version: UInt64, _ rules: RowRules
  ) throws -> [LostWrite] {
    guard let entries = entries[cells] else { return [] }
    let isCounter = rules.policy(of: cells.column) == .counter
    let value = isCounter ? CounterDefault.count(written).map(Value.integer) ?? written : written
    // What was held when this was written is older, by its stamp, too.
    let earlier = entries.drop { $0.stamp >= write.stamp }
    var losses: [LostWrite] = []
    var taken = VersionVector()
    for entry in earlier where entry.path.allSatisfy(write.context.covers) && !taken.covers(entry.path[0]) {
      if let late = entry.version, version < late {
        let before = try entry.isRelative ? rules.value(of: Cell(column: cells.column, value: entry.value), appliedTo: value) : entry.value
        if before != value {
          losses.append(
            LostWrite(.cell(cells.column), value: before, winningValue: value, loser: entry.stamp, winner: write.stamp))
        }
      }
      guard let earlier = entry.taken else { break }
      taken = taken.union(earlier)
    }
    return losses
  }
}

extension RowWrites {
  /// The write by which a move came here.
  fileprivate func arrival(by move: CellStamp) -> RowWrite? {
    writes.lazy.map(\.write).first { $0.stamp == move && $0.kind == .move }
  }
}
