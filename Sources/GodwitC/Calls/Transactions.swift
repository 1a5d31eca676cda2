import CGodwit
import Godwit
import GodwitEngine
import GodwitModel

/// As `godwit.h` says.
@_cdecl("godwit_begin")
public func begin(
  _ handle: OpaquePointer?, _ kind: Int32, _ transaction: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  call {
    let place = try Arguments.place(transaction, "transaction")
    let open: OpenReplica = try HandleTable.find(handle)
    guard kind == GODWIT_READ || kind == GODWIT_WRITE else {
      throw CallFailure.misuse("\(kind) is no kind of transaction", hint: "GODWIT_READ or GODWIT_WRITE")
    }
    place.pointee = HandleTable.add(try OpenTransaction.begin(in: open, isWriting: kind == GODWIT_WRITE))
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_commit")
public func commit(_ handle: OpaquePointer?) -> Int32 {
  call { try HandleTable.find(handle, OpenTransaction.self).commit() }
}

/// As `godwit.h` says.
@_cdecl("godwit_rollback")
public func rollback(_ handle: OpaquePointer?) -> Int32 {
  handle == nil ? GODWIT_OK : call { try HandleTable.find(handle, OpenTransaction.self).rollBack() }
}

/// As `godwit.h` says.
@_cdecl("godwit_execute")
public func execute(
  _ handle: OpaquePointer?, _ sql: UnsafePointer<CChar>?, _ values: UnsafePointer<godwit_value>?, _ count: Int,
  _ changed: UnsafeMutablePointer<Int64>?
) -> Int32 {
  call {
    changed?.pointee = 0
    let transaction: OpenTransaction = try HandleTable.find(handle)
    let sql = SQL(text: try Arguments.text(sql, "statement"), values: try Arguments.values(values, count))
    let count = try transaction.writing { writer in
      try requireEffect(sql.text, writer)
      return try writer.execute(sql)
    }
    changed?.pointee = Int64(count)
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_execute_many")
public func executeMany(
  _ handle: OpaquePointer?, _ sql: UnsafePointer<CChar>?, _ values: UnsafePointer<godwit_value>?, _ columns: Int,
  _ rows: Int, _ changed: UnsafeMutablePointer<Int64>?
) -> Int32 {
  call {
    changed?.pointee = 0
    let transaction: OpenTransaction = try HandleTable.find(handle)
    let text = try Arguments.text(sql, "statement")
    let size = MemoryLayout<godwit_value>.stride
    guard (0...Arguments.greatestCount).contains(columns), rows >= 0, columns > 0 || rows == 0,
      !(columns * size).multipliedReportingOverflow(by: rows).overflow
    else {
      throw CallFailure.misuse("\(rows) rows of \(columns) values are out of range")
    }
    let count = try transaction.writing { writer in
      try requireEffect(text, writer)
      return try writer.execute(text, times: rows) { row in
        try Arguments.values(values?.advanced(by: row * columns), columns)
      }
    }
    changed?.pointee = Int64(count)
  }
}

/// Throws `invalidArgument` for a statement that only finds rows, which nobody would get.
private func requireEffect(_ sql: String, _ writer: Transaction) throws {
  try writer.checkIsOpen()
  let onlyReads = try writer.connection.withStatement(sql, authority: .user) { $0.isReadOnly && $0.columnCount > 0 }
  guard onlyReads else { return }
  throw GodwitError(
    .invalidArgument, "the statement changes nothing, and its rows would be lost", hint: "run it as a query")
}

/// As `godwit.h` says.
@_cdecl("godwit_query")
public func query(
  _ handle: OpaquePointer?, _ sql: UnsafePointer<CChar>?, _ values: UnsafePointer<godwit_value>?, _ count: Int,
  _ rows: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  call {
    let place = try Arguments.place(rows, "rows")
    let transaction: OpenTransaction = try HandleTable.find(handle)
    let sql = SQL(text: try Arguments.text(sql, "statement"), values: try Arguments.values(values, count))
    place.pointee = try transaction.reading { reader in
      try reader.checkIsOpen()
      return transaction.add(OpenRows(try reader.connection.borrowReadOnly(sql), of: transaction))
    }
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_column_count")
public func columnCount(_ handle: OpaquePointer?) -> Int {
  var count = 0
  _ = call { count = try HandleTable.find(handle, OpenRows.self).columnCount() }
  return count
}

/// As `godwit.h` says.
@_cdecl("godwit_column_name")
public func columnName(_ handle: OpaquePointer?, _ column: Int) -> UnsafePointer<CChar>? {
  var name: UnsafePointer<CChar>?
  _ = call { name = try HandleTable.find(handle, OpenRows.self).columnName(column) }
  return name
}

/// As `godwit.h` says.
@_cdecl("godwit_next")
public func next(
  _ handle: OpaquePointer?, _ row: UnsafeMutablePointer<UnsafePointer<godwit_value>?>?
) -> Int32 {
  var hasRow = false
  let result = call {
    let place = try Arguments.place(row, "row")
    place.pointee = try HandleTable.find(handle, OpenRows.self).next()
    hasRow = place.pointee != nil
  }
  return result == GODWIT_OK ? (hasRow ? GODWIT_ROW : GODWIT_DONE) : result
}

/// As `godwit.h` says.
@_cdecl("godwit_rows_close")
public func closeRows(_ handle: OpaquePointer?) -> Int32 {
  guard let handle else { return GODWIT_OK }
  return call {
    let rows: OpenRows = try HandleTable.find(handle)
    try rows.transaction.close(rows)
  }
}
