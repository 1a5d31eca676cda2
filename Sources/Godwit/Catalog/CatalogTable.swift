import GodwitReplication

/// A table this replica has, and its number in row state and triggers.
struct CatalogTable: Sendable {
  let id: Int
  let definition: TableDefinition
  /// The columns whose updates are logged as what they do to the value.
  let relativeColumns: [Int]

  init(id: Int, definition: TableDefinition) {
    self.id = id
    self.definition = definition
    relativeColumns = definition.columns.indices.filter { definition.columns[$0].merge.isRelative }
  }
}
