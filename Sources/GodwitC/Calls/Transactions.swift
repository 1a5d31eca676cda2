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
public func commit(_ handle: OpaquePointer?) -> Int32 { call { try end(handle, committing: true) } }

/// As `godwit.h` says.
@_cdecl("godwit_rollback")
public func rollback(_ handle: OpaquePointer?) -> Int32 {
  handle == nil ? GODWIT_OK : call { try end(handle, committing: false) }
}

private func end(_ handle: OpaquePointer?, committing: Bool) throws {
  let transaction: OpenTransaction = try HandleTable.find(handle)
  _ = try transaction.reader()
  if let handle { HandleTable.remove(handle) }
  try transaction.end(committing: committing)
}

/// As `godwit.h` says.
@_cdecl("godwit_execute")
public func execute(
  _ handle: OpaquePointer?, _ sql: UnsafePointer<CChar>?, _ values: UnsafePointer<godwit_value>?, _ count: Int,
  _ changed: UnsafeMutablePointer<Int64>?
) -> Int32 {
  call {
    changed?.pointee = 0
    let transaction = try HandleTable.find(handle, OpenTransaction.self).writer()
    let sql = SQL(text: try Arguments.text(sql, "statement"), values: try Arguments.values(values, count))
    let count = try transaction.execute(sql)
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
    let transaction = try HandleTable.find(handle, OpenTransaction.self).writer()
    let text = try Arguments.text(sql, "statement")
    let size = MemoryLayout<godwit_value>.stride
    guard (0...Arguments.greatestCount).contains(columns), rows >= 0, columns > 0 || rows == 0,
      !(columns * size).multipliedReportingOverflow(by: rows).overflow
    else {
      throw CallFailure.misuse("\(rows) rows of \(columns) values are out of range")
    }
    let count = try transaction.execute(text, times: rows) { row in
      try Arguments.values(values?.advanced(by: row * columns), columns)
    }
    changed?.pointee = Int64(count)
  }
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
    let reader = try transaction.reader()
    let sql = SQL(text: try Arguments.text(sql, "statement"), values: try Arguments.values(values, count))
    try reader.checkIsOpen()
    place.pointee = transaction.add(OpenRows(try reader.connection.borrowReadOnly(sql), of: transaction))
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_column_count")
public func columnCount(_ handle: OpaquePointer?) -> Int {
  var count = 0
  _ = call { count = try HandleTable.find(handle, OpenRows.self).columnCount }
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
    _ = try rows.transaction.reader()
    HandleTable.remove(handle)
    rows.transaction.remove(rows)
    rows.close()
  }
}
