extension Connection {
  /// Runs the body and hashes every row its statements step through. Linear in the bytes of the rows.
  package func fingerprint<Result>(
    _ body: () throws -> Result
  ) rethrows -> (result: Result, fingerprint: RowFingerprint) {
    let hasher = RowHasher()
    let outer = rowHasher
    rowHasher = hasher
    defer { rowHasher = outer }
    return (try body(), hasher.fingerprint)
  }

  /// The tables that statements run since the last call may have written, and from here on those of later ones.
  ///
  /// SQLite names them while it compiles a statement: triggers, foreign key actions, REPLACE and the deletion of a
  /// whole table included, and tables without rowids. So it costs nothing per row, and may name a table in which
  /// nothing was written in the end. A change of the schema is ``TableSet/all``.
  package func takeWrittenTables() -> TableSet {
    defer {
      writtenTables = .none
      writtenTablesNumber += 1
    }
    return writtenTables
  }
}
