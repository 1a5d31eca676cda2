import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// The tables as a merge needs them, each made when first used.
package final class MergeTables {
  package let catalog: Catalog
  private let connection: Connection
  private let functions: [String: CustomMerge]
  private var tables: [Int: MergeTable] = [:]
  private var referring: [String: [(table: Int, column: Int)]]?

  /// Tables whose rows are elsewhere for the time being: whether what refers to them dangles is judged afterwards.
  let aside: Set<Int>
  /// Keeps the sums of the tables' rows in step with what is written to them here; nil where another does.
  let tally: StateTally?

  init(
    _ connection: Connection, catalog: Catalog, functions: [CustomMerge], tally: StateTally? = nil,
    aside: Set<Int> = []
  ) {
    self.tally = tally
    self.aside = aside
    self.connection = connection
    self.catalog = catalog
    self.functions = functions.byName
  }

  subscript(number: Int) -> MergeTable {
    get throws {
      if let table = tables[number] { return table }
      guard let entry = catalog.tables.first(where: { $0.id == number }) else {
        throw GodwitError(.damagedLog, "the change log names table \(number), which the catalog does not have")
      }
      let table = MergeTable(entry, functions: functions, on: connection, tally: tally?[number])
      tables[number] = table
      return table
    }
  }

  /// The table of this name, also one that stays on this replica.
  func any(named name: String) throws -> MergeTable? { try catalog[name].map { try self[$0.id] } }

  /// The table of this name, when it is synced.
  package func named(_ name: String) throws -> MergeTable? {
    guard let entry = catalog[name], entry.definition.isSynced else { return nil }
    return try self[entry.id]
  }

  /// The columns of all tables that refer to this one: rows that stay on this replica must not dangle either.
  func references(to table: MergeTable) throws -> [(table: MergeTable, reference: MergeTable.Reference)] {
    if referring == nil {
      var found: [String: [(table: Int, column: Int)]] = [:]
      for entry in catalog.tables {
        for (number, column) in entry.definition.columns.enumerated() {
          guard let target = column.reference?.table else { continue }
          found[target.lowercased(), default: []].append((entry.id, number))
        }
      }
      referring = found
    }
    return try (referring?[table.definition.name.lowercased()] ?? []).compactMap { place in
      let other = try self[place.table]
      return other.references.first { $0.column == place.column }.map { (other, $0) }
    }
  }
}

extension [CustomMerge] {
  var byName: [String: CustomMerge] { Dictionary(map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
}

/// One synced table as a merge needs it: its rows, rules, unique indexes and references.
package final class MergeTable {
  struct UniqueIndex {
    let name: String
    let columns: [Int]
  }

  struct Reference {
    let column: Int
    let target: String
    let onDelete: DeleteAction
    let isAcyclic: Bool
  }

  let number: Int
  let definition: TableDefinition
  let rows: TableRows
  let rules: RowRules
  let uniqueIndexes: [UniqueIndex]
  let uniqueColumns: Set<Int>
  let references: [Reference]
  let referenceColumns: Set<Int>
  let hasAcyclicReferences: Bool
  /// By column, whether it takes no NULL.
  let required: [Bool]
  /// By column, the tags of values (as bits) that it may keep in another form or not take.
  private let suspectTags: [UInt8]
  /// What columns beside the key hold in rows that were written without them.
  let defaults: [Value]
  private var hasRefusals: Bool?

  init(
    _ entry: CatalogTable, functions: [String: CustomMerge], on connection: Connection, tally: TableTally? = nil
  ) {
    number = entry.id
    let definition = entry.definition
    self.definition = definition
    rows = TableRows(definition, on: connection, tally: tally)
    rules = RowRules(definition, functions: functions)
    func position(_ name: String) -> Int? {
      definition.columns.firstIndex { $0.name.lowercased() == name.lowercased() }
    }
    uniqueIndexes = definition.indexes.filter(\.isUnique).map { index in
      UniqueIndex(name: definition.indexName(index), columns: index.columns.compactMap(position))
    }
    uniqueColumns = Set(uniqueIndexes.flatMap(\.columns))
    references = definition.columns.enumerated().compactMap { number, column in
      column.reference.map {
        Reference(column: number, target: $0.table, onDelete: $0.onDelete, isAcyclic: $0.isAcyclic)
      }
    }
    referenceColumns = Set(references.map(\.column))
    hasAcyclicReferences = references.contains(where: \.isAcyclic)
    required = definition.columns.map { !$0.isNullable }
    suspectTags = zip(definition.convertibleTags, required).map { $1 ? $0 | 1 << ValueTag.null : $0 }
    defaults = definition.columns.dropFirst(definition.keyCount).map(\.beginning)
  }

  /// Whether a row that its author could write may break a constraint here. A savepoint pays for every page it touches,
  /// so tables without checks and unique indexes, the program's own among them, are written without one;
  /// values that are missing are looked for.
  func mayRefuse() throws -> Bool {
    if let known = hasRefusals { return known }
    let refuses = try definition.columns.contains { $0.check != nil } || rows.hasUniqueIndex()
    hasRefusals = refuses
    return refuses
  }

  /// Whether it is plain that the table takes a whole row, key first, and keeps all values in the form that they have.
  func plainlyTakes(_ row: ArraySlice<UInt8>) -> Bool {
    row.withUnsafeBytes { !EncodedRow.needsLook(suspectTags, $0) }
  }

  /// Whether rows are found by this column without looking through all of them.
  func hasIndex(on column: Int) -> Bool {
    let name = definition.columns[column].name.lowercased()
    return column == 0 || definition.indexes.contains { $0.columns.first?.lowercased() == name }
  }

  /// Hidden cells from before columns were added, with what they hold in old rows.
  func completed(_ hiddenCells: [Value]) -> [Value] { hiddenCells + defaults.dropFirst(hiddenCells.count) }

  /// The whole row, key first.
  func row(_ key: RowKey, _ values: [Value]) throws -> [Value] {
    var reader = ByteReader(key.key)
    return try (0..<definition.keyCount).map { _ in try reader.value() } + values
  }
}
