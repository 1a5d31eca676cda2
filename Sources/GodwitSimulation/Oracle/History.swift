import Godwit
import GodwitCore

/// Names a row: the place of its table in ``TableShape/all``, and its key.
struct RowName: Hashable, Sendable {
  let table: Int
  let key: [Value]
}

/// What one transaction did to one row.
struct HistoricOperation: Sendable {
  enum Change: Hashable, Sendable {
    case value(Value)
    case sum(Int64)
    case elements(added: Set<String>, removed: Set<String>)
  }

  enum Kind: Sendable {
    /// The whole row, key first.
    case insert([Value])
    case update([Int: Change])
    case delete
  }

  let row: RowName
  let kind: Kind
}

/// One transaction as its author saw it: found by comparing the tables before and after, not by asking the log.
struct HistoricTransaction: Sendable {
  let dot: Dot
  let hlc: HLC
  /// What its author held with it.
  let context: VersionVector
  /// The version of its author's schema.
  let version: Int
  let operations: [HistoricOperation]
}

/// Every transaction that ever was committed in a world.
struct History: Sendable {
  private(set) var transactions: [Dot: HistoricTransaction] = [:]

  /// Everything there is.
  var vector: VersionVector {
    transactions.keys.reduce(into: VersionVector()) { $0[$1.origin] = max($0[$1.origin], $1.sequence) }
  }

  mutating func add(_ transaction: HistoricTransaction) { transactions[transaction.dot] = transaction }

  /// What the vector covers, causes first.
  func transactions(in vector: VersionVector) -> [HistoricTransaction] {
    transactions.values.filter { vector.covers($0.dot) }
      .sorted { ($0.hlc, $0.dot.origin, $0.dot.sequence) < ($1.hlc, $1.dot.origin, $1.dot.sequence) }
  }
}

/// The rows of the synced tables, by key.
struct Tables: Hashable, Sendable {
  var rows: [[[Value]: [Value]]]

  init() { rows = Array(repeating: [:], count: TableShape.all.count) }

  /// What a replica shows; a column that it does not have shows what a row without it gets.
  init(reading stateFile: Reader, at version: Int) throws {
    rows = try TableShape.all.map { shape in
      guard let table = shape.name(at: version) else { return [:] }
      let names = shape.columns.indices.map { column in
        shape.name(of: column, at: version).map { "\"\($0)\"" } ?? shape.columns[column].defaultValue.text
      }.joined(separator: ", ")
      let found = try stateFile.rows(SQL(text: "SELECT \(names) FROM \(table)"))
      return Dictionary(uniqueKeysWithValues: found.map { (Array($0.values.prefix(shape.keyCount)), $0.values) })
    }
  }

  /// The least operations that make these rows of the others.
  func operations(since before: Tables) -> [HistoricOperation] {
    var found: [HistoricOperation] = []
    for (table, shape) in TableShape.all.enumerated() {
      for key in before.rows[table].keys where rows[table][key] == nil {
        let name = RowName(table: table, key: key)
        found.append(HistoricOperation(row: name, kind: .delete))
      }
      for (key, new) in rows[table] {
        let name = RowName(table: table, key: key)
        if let old = before.rows[table][key] {
          let changes = Self.changes(from: old, to: new, shape)
          if !changes.isEmpty { found.append(HistoricOperation(row: name, kind: .update(changes))) }
        } else {
          found.append(HistoricOperation(row: name, kind: .insert(new)))
        }
      }
    }
    return found
  }

  /// The same without what a schema version does not have.
  func shown(at version: Int) -> Tables {
    var shown = self
    for (table, shape) in TableShape.all.enumerated() {
      guard shape.versions.contains(version) else {
        shown.rows[table] = [:]
        continue
      }
      for column in shape.columns.indices where !shape.columns[column].versions.contains(version) {
        shown.rows[table] = shown.rows[table].mapValues { row in
          var row = row
          row[column] = shape.columns[column].defaultValue
          return row
        }
      }
    }
    return shown
  }

  subscript(name: RowName) -> [Value]? { rows[name.table][name.key] }

  var names: Set<RowName> {
    Set(rows.enumerated().flatMap { table, rows in rows.keys.map { RowName(table: table, key: $0) } })
  }

  private static func changes(
    from old: [Value], to new: [Value], _ shape: TableShape
  ) -> [Int: HistoricOperation.Change] {
    var changes: [Int: HistoricOperation.Change] = [:]
    for column in old.indices where old[column] != new[column] {
      switch (shape.columns[column].policy, old[column], new[column]) {
      case (.counter, .integer(let before), .integer(let after)): changes[column] = .sum(after &- before)
      case (.set, let before, let after):
        let (before, after) = (SetText.elements(before), SetText.elements(after))
        changes[column] = .elements(added: after.subtracting(before), removed: before.subtracting(after))
      default: changes[column] = .value(new[column])
      }
    }
    return changes
  }
}
