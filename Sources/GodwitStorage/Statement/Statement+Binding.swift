import CSQLCipher
import GodwitBase

/// SQLITE_TRANSIENT: SQLite takes its one copy before the call returns.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension Statement {
  package func bindNull(at index: Int32) throws { try check(sqlite3_bind_null(handle, index)) }

  package func bind(_ value: Int64, at index: Int32) throws { try check(sqlite3_bind_int64(handle, index, value)) }

  /// Throws `valueNotStorable` for NaN, which SQLite would turn into NULL.
  package func bind(_ value: Double, at index: Int32) throws {
    guard !value.isNaN else {
      throw GodwitError(.valueNotStorable, "NaN cannot be stored", hint: "use an optional property and nil")
    }
    try check(sqlite3_bind_double(handle, index, value))
  }

  package func bind(_ value: String, at index: Int32) throws {
    var value = value
    let result = value.withUTF8 { buffer in
      buffer.withMemoryRebound(to: CChar.self) { characters in
        sqlite3_bind_text64(
          handle, index, characters.baseAddress, UInt64(characters.count), transient,
          UInt8(SQLITE_UTF8))
      }
    }
    try check(result)
  }

  /// Binds the bytes themselves; an empty buffer is an empty blob, not NULL.
  package func bind(blob: UnsafeRawBufferPointer, at index: Int32) throws {
    guard let start = blob.baseAddress, blob.count > 0 else {
      return try check(sqlite3_bind_zeroblob(handle, index, 0))
    }
    try check(sqlite3_bind_blob64(handle, index, start, UInt64(blob.count), transient))
  }

  package func bind(blob: [UInt8], at index: Int32) throws {
    try blob.withUnsafeBytes { try bind(blob: $0, at: index) }
  }

  package func bind(_ value: Value, at index: Int32) throws {
    switch value {
    case .null: try bindNull(at: index)
    case .integer(let number): try bind(number, at: index)
    case .real(let number): try bind(number, at: index)
    case .text(let text): try bind(text, at: index)
    case .blob(let bytes): try bind(blob: bytes, at: index)
    }
  }

  /// Binds parameters 1, 2, … and demands exactly as many as the statement has.
  package func bind(_ values: [Value]) throws {
    guard values.count == parameterCount else {
      throw GodwitError(.sql, "\(parameterCount) values are wanted, \(values.count) were given, in: \(sql)")
    }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
  }

  @inline(__always)
  private func check(_ result: Int32) throws {
    guard result == SQLITE_OK else { throw connection.failure(result, sql: sql) }
  }
}
