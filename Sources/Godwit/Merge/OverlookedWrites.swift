import GodwitBase
import GodwitReplication

/// Finds what was written over by holders whose programs were too old to show it: they count as
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
        try add(write, to: key, version: nil)
      }
    }
    for late in late { try add(late.write, to: late.key, version: late.version) }
    entries = entries.mapValues { $0.sorted { $0.stamp > $1.stamp } }
  }

  private mutating func add(_ write: RowWrite, to key: RowKey, version: UInt64?) throws {
    let rules = try tables[key.table].rules
    for cell in write.cells {
      let policy = rules.policy(of: cell.column)
      let takesBack = write.kind != .update || !policy.isRelative
      entries[Cells(key: key, column: cell.column), default: []].append(
        Entry(
          stamp: write.stamp, value: cell.value, isRelative: !takesBack, version: version,
          taken: policy.isContributed ? takesBack ? write.context : VersionVector() : nil))
    }
  }

  /// The losses, by the key that the row had.
  func losses() throws -> [(key: RowKey, lost: LostWrite)] {
    var losses: [(key: RowKey, lost: LostWrite)] = []
    for (key, writes) in all.sorted(by: { $0.key < $1.key }) {
      let rules = try tables[key.table].rules
      for (transaction, write) in writes.writes where versions[transaction] < newest {
        for cell in write.cells where write.kind != .update || !rules.policy(of: cell.column).isRelative {
          losses += try self.losses(at: Cells(key: key, column: cell.column), to: write, cell.value, versions[transaction], rules)
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
    for entry in earlier where write.context.covers(entry.stamp.dot) && !taken.covers(entry.stamp.dot) {
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
