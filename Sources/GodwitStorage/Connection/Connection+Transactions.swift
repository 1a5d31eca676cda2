extension Connection {
  /// Runs the body between ``beginWriting()`` and COMMIT; a throw rolls back what it did and is passed on.
  package func writing(_ body: () throws -> Void) throws {
    try beginWriting()
    do {
      try body()
      try execute("COMMIT")
    } catch {
      if isInTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Runs a body of several reads in one read transaction, unless a transaction is running.
  package func reading<Output>(_ body: () throws -> Output) throws -> Output {
    guard !isInTransaction else { return try body() }
    try execute("BEGIN")
    defer { try? execute("ROLLBACK") }
    return try body()
  }
}
