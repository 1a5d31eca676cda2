import CSQLCipher
import Foundation
import GodwitBase

/// A prepared statement. Columns count from 0, parameters from 1, as in SQLite.
package final class Statement {
  package let sql: String
  let handle: OpaquePointer
  let authority: Authority
  /// Unsafe only in name: every holder of a statement holds its connection too, and a counted reference would cost
  /// each row as much as a column does.
  unowned(unsafe) let connection: Connection
  package let isReadOnly: Bool
  private var isRunning = false
  private var mark = 0
  /// Tables it may write; grows when SQLite compiles it anew.
  private var writes: TableSet
  /// When they were last added to the connection's.
  private var writesNumber = -1
  private var isHashed = false

  init(sql: String, connection: Connection, authority: Authority) throws {
    self.sql = sql
    self.connection = connection
    self.authority = authority
    var sqlCopy = sql
    let compiled = Result { try sqlCopy.withUTF8 { try Self.compile($0, sql: sql, connection: connection) } }
    writes = connection.authorizer.takeWrites()
    handle = try compiled.mapError { authority == .trusted ? Self.explain($0) : $0 }.get()
    isReadOnly = sqlite3_stmt_readonly(handle) != 0
    if authority == .user { try connection.authorizer.requireForeign(sql) }
  }

  deinit { sqlite3_finalize(handle) }

  private static func compile(
    _ text: UnsafeBufferPointer<UInt8>, sql: String, connection: Connection
  ) throws -> OpaquePointer {
    var statement: OpaquePointer?
    var tail: UnsafePointer<CChar>?
    // SQLite refuses a text of over 1 GB, whatever of it is counted here.
    let length = Int32(clamping: text.count)
    let (result, rest) = text.withMemoryRebound(to: CChar.self) { buffer in
      let result = sqlite3_prepare_v2(connection.handle, buffer.baseAddress, length, &statement, &tail)
      return (result, tail.flatMap { tail in buffer.baseAddress.map { buffer.count - (tail - $0) } } ?? 0)
    }
    guard result == SQLITE_OK else { throw connection.failure(result, sql: sql) }
    guard let statement else { throw GodwitError(.sql, "there is no statement in: \(GodwitError.excerpt(of: sql))") }
    guard text.suffix(rest).allSatisfy({ $0 == 0x3B || $0 <= 0x20 }) else {
      sqlite3_finalize(statement)
      throw GodwitError(.sql, "more than one statement", hint: "run them one by one")
    }
    return statement
  }

  /// Statements that Godwit wrote are right but for models that the database has no table of, or has no more when a
  /// statement is compiled anew.
  package static func explain(_ error: any Error) -> any Error {
    let start = "no such table: "
    guard let error = error as? GodwitError, error.code == .sql, error.message.hasPrefix(start) else { return error }
    let table = error.message.dropFirst(start.count).prefix { $0 != "," }
    return GodwitError(
      .notInSchema, "the database has no table \(table)", hint: "name its model when opening the replica",
      underlying: error)
  }

  // MARK: Running

  /// Moves to the next row; false at the end.
  package func step() throws -> Bool {
    // The first step compiles anew what was compiled for another schema.
    let isFirst = !isRunning
    if isFirst {
      isRunning = true
      if !isReadOnly { startWriting() }
      connection.rowHasher?.start()
      isHashed = connection.rowHasher != nil
      try connection.checkCancellation()
    }
    let code = isFirst ? connection.authorizer.withAuthority(authority) { sqlite3_step(handle) } : sqlite3_step(handle)
    if !isReadOnly, connection.authorizer.hasWrites { takeNewWrites() }
    switch code {
    case SQLITE_ROW:
      if isHashed { connection.rowHasher?.row(of: self) }
      return true
    case SQLITE_DONE:
      isRunning = false
      if isHashed { connection.rowHasher?.end() }
      return false
    default: throw fail(code)
    }
  }

  private func startWriting() {
    mark = connection.journal?.mark() ?? 0
    if writesNumber != connection.writtenTablesNumber { noteWrites() }
  }

  private func noteWrites() {
    writesNumber = connection.writtenTablesNumber
    connection.writtenTables.formUnion(writes)
  }

  /// SQLite has just compiled the statement anew, and with triggers, say, it writes more than before.
  private func takeNewWrites() {
    writes.formUnion(connection.authorizer.takeWrites())
    noteWrites()
  }

  /// Runs to the end and makes the statement ready for the next values.
  package func run() throws {
    defer { reset() }
    while try step() {}
  }

  /// A failed statement has no effect, so what was captured since its start is taken back. `OR FAIL` statements of
  /// Godwit's own write one row and fail before the capture; what could stop half way runs in a savepoint.
  private func fail(_ code: Int32) -> any Error {
    var failure = connection.runningFailure(code, sql: sql, authority, isReading: isReadOnly)
    if !isReadOnly, code & 0xFF == SQLITE_MISMATCH {
      failure = GodwitError(.constraint, "a key that numbers its table's rows is no integer")
    }
    let error = authority == .trusted ? Self.explain(failure) : failure
    reset()
    if !isReadOnly { connection.journal?.rewind(to: mark) }
    return error
  }

  package func reset() {
    sqlite3_reset(handle)
    isRunning = false
  }

  /// Ends what its borrower does with it.
  package func giveBack() { connection.giveBack(self) }

  package func clearBindings() { sqlite3_clear_bindings(handle) }

  /// How many parameters it has.
  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }
  /// How many columns its rows have, once it has been stepped. Before that those of the schema it was compiled for,
  /// which another connection may have changed since: the first step compiles it anew.
  package var columnCount: Int { Int(sqlite3_column_count(handle)) }
  /// The names of the columns, once it has been stepped.
  package var columnNames: [String] { (0..<columnCount).map(columnName) }
  package func columnName(_ index: Int) -> String {
    sqlite3_column_name(handle, Int32(index)).map { String(cString: $0) } ?? ""
  }

  /// Whether a column has this name, without making a string of it.
  package func isColumn(_ index: Int, named name: String) -> Bool {
    guard let stored = sqlite3_column_name(handle, Int32(index)) else { return false }
    return name.withCString { strcmp($0, stored) == 0 }
  }
}
