import GodwitBase
import GodwitStorage

/// Where a ``ColumnValue`` puts itself: one parameter of a statement, or the encoded form of a row.
public struct ColumnBinder: ~Copyable {
  let target: ColumnBinderTarget

  init(_ target: ColumnBinderTarget) { self.target = target }

  /// Binds NULL.
  public func bindNull() throws {
    switch target {
    case .parameter(let statement, let index): try statement.use { try $0.bindNull(at: index) }
    case .bytes(let writer): writer.pointee.byte(ValueTag.null)
    }
  }

  /// Binds an INTEGER.
  public func bind(_ value: Int64) throws {
    switch target {
    case .parameter(let statement, let index): try statement.use { try $0.bind(value, at: index) }
    case .bytes(let writer): writer.pointee.integerValue(value)
    }
  }

  /// Binds a REAL; throws `valueNotStorable` for NaN.
  public func bind(_ value: Double) throws {
    switch target {
    case .parameter(let statement, let index): try statement.use { try $0.bind(value, at: index) }
    case .bytes(let writer):
      guard !value.isNaN else { throw Value.notANumber }
      writer.pointee.realValue(value)
    }
  }

  /// Binds a TEXT.
  public func bind(_ value: String) throws {
    switch target {
    case .parameter(let statement, let index): try statement.use { try $0.bind(value, at: index) }
    case .bytes(let writer): writer.pointee.textValue(value)
    }
  }

  /// Binds a BLOB.
  public func bind(blob: UnsafeRawBufferPointer) throws {
    switch target {
    case .parameter(let statement, let index): try statement.use { try $0.bind(blob: blob, at: index) }
    case .bytes(let writer): writer.pointee.bytesValue(ValueTag.blob, blob)
    }
  }
}

/// What a ``ColumnBinder`` fills. It is passed down and never kept, so it does not retain.
package enum ColumnBinderTarget {
  case parameter(UnretainedStatement, Int32)
  case bytes(UnsafeMutablePointer<ByteWriter>)

  package init(_ statement: Statement, _ index: Int32) { self = .parameter(UnretainedStatement(statement), index) }
}

/// A statement that someone up the stack holds on to: counting references would cost as much as a column.
package struct UnretainedStatement {
  private let reference: Unmanaged<Statement>

  init(_ statement: Statement) { reference = .passUnretained(statement) }

  @inline(__always)
  func use<Output>(_ body: (Statement) throws -> Output) rethrows -> Output {
    try reference._withUnsafeGuaranteedRef(body)
  }
}
