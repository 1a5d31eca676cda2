import GodwitReplication

/// A table this replica has, and its number in row state and triggers.
struct CatalogTable: Sendable {
  let id: Int
  let definition: TableDefinition
}
