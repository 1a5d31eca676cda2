import GodwitBase
import GodwitStorage

/// Where a ``ColumnValue`` is read from: one column of the current row.
public struct ColumnReader: ~Copyable {
  let source: ColumnReaderSource

  init(_ source: ColumnReaderSource) { self.source = source }

  /// Whether the column holds NULL.
  public var isNull: Bool { source.statement.use { $0.isNull(at: source.index) } }

  /// The INTEGER in the column; throws `valueMismatch` for anything else.
  public func integer() throws -> Int64 {
    try expect(.integer)
    return source.statement.use { $0.integer(at: source.index) }
  }

  /// The REAL in the column, or an INTEGER as one; throws `valueMismatch` for anything else.
  public func real() throws -> Double {
    let isNumber = source.statement.use { $0.holds(.real, at: source.index) || $0.holds(.integer, at: source.index) }
    guard isNumber else { throw mismatch("REAL") }
    return source.statement.use { $0.real(at: source.index) }
  }

  /// The TEXT in the column; throws `valueMismatch` for anything else, or when it is not UTF-8.
  public func text() throws -> String {
    try expect(.text)
    return try source.statement.use { try $0.text(at: source.index) }
  }

  /// Lends the bytes of a TEXT or BLOB for the length of the call.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    try source.statement.use { try $0.withBytes(at: source.index, body) }
  }

  /// The error for a value that is not what the type needs.
  public func mismatch(_ wanted: String) -> GodwitError {
    let found = source.statement.use { $0.storageClass(at: source.index).name }
    return GodwitError(
      .valueMismatch,
      "column \(source.statement.use { $0.columnName(Int(source.index)) }) holds \(found), not \(wanted)",
      hint: "the property's type does not fit what is stored")
  }

  package func expect(_ wanted: StorageClass) throws {
    guard source.statement.use({ $0.holds(wanted, at: source.index) }) else { throw mismatch(wanted.name) }
  }
}
