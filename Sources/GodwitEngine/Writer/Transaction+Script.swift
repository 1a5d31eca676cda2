import GodwitBase
import GodwitModel
import GodwitStorage

/// What shows of a statement before it runs, to somebody who knows its text alone.
package struct StatementKind: Sendable {
  /// Whether it changes nothing, whatever the tables hold.
  package let isReading: Bool
  /// Whether it finds rows: a query, a PRAGMA, or what has RETURNING in it.
  package let findsRows: Bool
}

extension Transaction {
  /// Compiles a statement without running it. What it writes to may have been made earlier in this transaction.
  ///
  /// - Throws: `notAuthorized` and `sql`, as ``execute(_:)`` would.
  package func kind(of sql: SQL) throws -> StatementKind {
    try checkIsOpen()
    if let failure = sql.failure { throw failure }
    return try connection.withStatement(sql.text, authority: .user) { statement in
      StatementKind(isReading: statement.isReadOnly, findsRows: statement.columnCount > 0)
    }
  }
}

extension ReplicaWriter {
  /// Runs the body as ``write(_:)`` does, with all that is checked before a commit, and takes everything back.
  package func rehearse<Output: Sendable>(_ body: (Transaction) throws -> Output) throws -> Output {
    do {
      return try inTransaction { throw Rehearsed(output: try logged(body).output) }
    } catch let end as Rehearsed<Output> {
      return end.output
    }
  }
}

/// Ends a rehearsal.
private struct Rehearsed<Output: Sendable>: Error {
  let output: Output
}
