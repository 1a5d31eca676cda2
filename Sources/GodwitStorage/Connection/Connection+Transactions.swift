extension Connection {
  /// Runs the body between ``beginWriting()`` and COMMIT; a throw rolls back what it did and is passed on.
  package func writing(_ body: () throws -> Void) throws {
    try beginWriting()
    do {
      try body()
      try execute("COMMIT")
    } catch {
      rollBack()
      throw error
    }
  }

  /// Runs a body of several reads in one read transaction, unless a transaction is running.
  package func reading<Output>(_ body: () throws -> Output) throws -> Output {
    guard !isInTransaction else { return try body() }
    try execute("BEGIN")
    defer { rollBack() }
    return try body()
  }

  /// Rolls the running transaction back, if there is one. An interrupt that comes as ROLLBACK begins takes effect
  /// there, and the transaction stays; it has been used up then.
  package func rollBack() {
    for _ in 0..<3 where isInTransaction { try? execute("ROLLBACK") }
  }
}
