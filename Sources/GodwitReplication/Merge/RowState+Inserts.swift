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

  /// Whether some insert had seen the transaction, and so took back what it brought.
  package func isTakenBack(_ dot: Dot, context: (Dot) throws -> VersionVector) rethrows -> Bool {
    try inserts.origins.contains { origin in
      let insert = Dot(origin, inserts[origin])
      return try insert != dot && context(insert).covers(dot)
    }
  }
}
