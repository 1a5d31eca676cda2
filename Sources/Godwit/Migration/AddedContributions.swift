import GodwitBase
import GodwitReplication
import GodwitStorage

/// Gives rows that were inserted without a column what their inserts brought to it: the default, each that no
/// other had seen (Specs/migrations.md, "Running"). So do replicas that had the column when the inserts came. What the rows
/// show does not change: a counter has the default once.
struct AddedContributions {
  private let log: ChangeLog
  private let states: RowStates
  private let table: MergeTable
  /// Which transactions are of authors who had the columns.
  private let isNewer: (TransactionRecord) -> Bool

  /// Own transactions have been folded, and the catalog has the columns.
  init(_ writer: ReplicaWriter, to table: MergeTable, isNewer: @escaping (TransactionRecord) -> Bool) {
    log = writer.log
    states = RowStates(connection: writer.connection, origins: writer.log.origins)
    self.table = table
    self.isNewer = isNewer
  }

  /// Columns where the last writer wins need none: an insert's stamp stands for all of them.
  func add(to names: [String]) throws {
    let columns = names.compactMap(table.definition.number(of:)).filter {
      table.rules.policy(of: $0) != .lastWriterWins
    }
    guard !columns.isEmpty else { return }
    try states.forEach(of: table.number) { key, old in
      let inserts = try old.heads(context: log.context(of:)).filter { try lacksColumns($0) }
      guard !inserts.isEmpty else { return }
      var state = old
      for column in columns { contribute(inserts, to: column, &state) }
      try states.save(state, for: key)
    }
  }

  private func lacksColumns(_ insert: Dot) throws -> Bool {
    let key = LogKey(origin: try log.origins.number(of: insert.origin), insert.sequence)
    // What has been forgotten waited for nothing.
    return try log.record(at: key).map { !isNewer($0) } ?? true
  }

  private func contribute(_ inserts: [Dot], to column: Int, _ state: inout RowState) {
    let value = table.definition.columns[column].defaultValue ?? .null
    let parts: [Value] =
      switch (table.rules.policy(of: column), value) {
      case (.addWinsSet, _): (SetElements.parse(value) ?? []).map { .text($0) }
      case (.counter, .integer(let count)): [CounterDefault.value(count)]
      default: [value]
      }
    state.contributions[column] = inserts.flatMap { dot in parts.map { Contribution(dot: dot, value: $0) } }
  }
}
