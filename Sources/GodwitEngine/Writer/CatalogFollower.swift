import GodwitStorage

/// Keeps what it has prepared for the tables as a writer knows them, on the writer's thread.
package protocol CatalogFollower: AnyObject {
  init(_ writer: ReplicaWriter)

  /// Drops what depends on the tables.
  func catalogHasChanged()
}

/// Is called with the tables that a commit has written.
package protocol CommitListener: AnyObject, Sendable {
  func announce(_ tables: TableSet)
}
