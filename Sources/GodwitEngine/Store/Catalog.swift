import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// The tables of a database as Godwit knows them: declared by models or adopted from a sync file.
package struct Catalog: Sendable {
  package private(set) var tables: [CatalogTable] = []
  /// The stored sums of their rows (Specs/state-hash.md, "Keeping").
  private(set) var sums: [Int: StateSum] = [:]
  private var numbers: [String: Int] = [:]

  init() {}

  package init(_ connection: Connection) throws {
    for entry in try StoredTables(connection).all() {
      sums[entry.id] = entry.sum
      add(CatalogTable(id: entry.id, definition: entry.definition))
    }
    connection.protectTables(Set(synced.map { $0.definition.name.lowercased() }))
  }

  /// Of tables that are in no database.
  init(_ definitions: [TableDefinition]) {
    for definition in definitions { add(CatalogTable(id: 0, definition: definition)) }
  }

  mutating func add(_ table: CatalogTable) {
    numbers[table.definition.name.lowercased()] = tables.count
    tables.append(table)
  }

  package subscript(name: String) -> CatalogTable? { numbers[name.lowercased()].map { tables[$0] } }

  package var synced: [CatalogTable] { tables.filter(\.definition.isSynced) }

  /// Whether every table is here with at least these columns.
  func holds(_ definitions: [TableDefinition]) -> Bool {
    definitions.allSatisfy { definition in
      guard let known = self[definition.name]?.definition else { return false }
      return known == definition || known.columns(missingOf: definition).isEmpty
    }
  }

  /// The columns and indexes of all tables together that may come from others. Each has triggers, which SQLite reads
  /// whenever a database is opened: 10,000 columns take some 40 MiB and half a second.
  private static let (columnLimit, indexLimit) = (10_000, 2_048)

  /// How many more columns may come.
  var columnRoom: Int { max(0, Self.columnLimit - tables.reduce(0) { $0 + $1.definition.columns.count }) }

  /// Whether so many more are few enough.
  func hasRoom(for columnCount: Int, indexes indexCount: Int = 0) -> Bool {
    columnCount <= columnRoom
      && tables.reduce(indexCount) { $0 + $1.definition.indexes.count } <= Self.indexLimit
  }

  static func exists(_ name: String, on connection: Connection) throws -> Bool {
    try connection.scalar("SELECT count(*) FROM sqlite_master WHERE lower(name) = lower(?)", [.text(name)])
      != .integer(0)
  }
}

extension TableDefinition {
  /// The columns of the other that this one has none of the same name as.
  func columns(missingOf other: TableDefinition) -> [ColumnDefinition] {
    let names = Set(columns.map { $0.name.lowercased() })
    return other.columns.filter { !names.contains($0.name.lowercased()) }
  }
}
