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
      throw GodwitError(.valueNotStorable, "NaN cannot be stored", hint: "store NULL in its place")
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

  /// Binds parameters 1, 2, … from encoded values without copying text and blobs: the bytes must stay where they are
  /// until the statement has run and is reset. The bytes are Godwit's own, so their form is known.
  package func bindBorrowed(encoded row: UnsafeRawBufferPointer) throws {
    var position = 0
    var index: Int32 = 0
    func varint() -> UInt64 {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while true {
        let byte = row[position]
        position += 1
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
    }
    while position < row.count {
      let tag = row[position]
      position += 1
      index += 1
      switch tag {
      case ValueTag.integer:
        let bits = varint()
        try bind(Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1), at: index)
      case ValueTag.real:
        let bits = UInt64(bigEndian: row.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        position += 8
        try bind(Double(bitPattern: bits), at: index)
      case ValueTag.text, ValueTag.blob:
        let count = Int(varint())
        let bytes = UnsafeRawBufferPointer(rebasing: row[position..<position + count])
        position += count
        try bindBorrowed(tag, bytes, at: index)
      default: try bindNull(at: index)
      }
    }
  }

  private func bindBorrowed(_ tag: UInt8, _ bytes: UnsafeRawBufferPointer, at index: Int32) throws {
    let start = bytes.baseAddress
    guard tag == ValueTag.text else { return try bindBorrowed(blob: bytes, at: index) }
    let text = start?.assumingMemoryBound(to: CChar.self)
    try check(sqlite3_bind_text64(handle, index, text, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8)))
  }

  /// Binds a blob without a copy, on the same condition.
  package func bindBorrowed(blob: UnsafeRawBufferPointer, at index: Int32) throws {
    guard blob.count > 0 else { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
    try check(sqlite3_bind_blob64(handle, index, blob.baseAddress, UInt64(blob.count), nil))
  }

  /// Binds parameters 1, 2, … and demands exactly as many as the statement has.
  package func bind(_ values: [Value]) throws {
    guard values.count == parameterCount else {
      throw GodwitError(
        .sql, "\(parameterCount) values are wanted, \(values.count) were given, in: \(GodwitError.excerpt(of: sql))")
    }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
  }

  /// Binds parameters 1, 2, … to the values of another statement's row, each as it is stored there.
  package func bindColumns(of row: Statement) throws {
    for index in 0..<Int32(row.columnCount) {
      try check(sqlite3_bind_value(handle, index + 1, sqlite3_column_value(row.handle, index)))
    }
  }

  @inline(__always)
  private func check(_ result: Int32) throws {
    guard result == SQLITE_OK else { throw connection.failure(result, sql: sql) }
  }
}
