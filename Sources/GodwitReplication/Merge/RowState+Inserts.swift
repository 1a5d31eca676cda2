import GodwitBase

// What is asked when a column comes to a table whose rows were inserted without it.
extension RowState {
  /// The remembered inserts that no other had seen. The last of each origin says it for the origin: it had seen those
  /// before.
  package func heads(context: (Dot) throws -> VersionVector) rethrows -> [Dot] {
    let last = inserts.origins.map { Dot($0, inserts[$0]) }
    return try last.filter { dot in
      try !last.contains { other in try other != dot && context(other).covers(dot) }
    }
  }
}
