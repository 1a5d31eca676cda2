import GodwitBase
import GodwitStorage

/// Where a ``ColumnValue`` puts itself: one parameter of a statement.
public struct ColumnBinder: ~Copyable {
  let target: ColumnBinderTarget

  init(_ target: ColumnBinderTarget) { self.target = target }

  /// Binds NULL.
  public func bindNull() throws { try target.statement.bindNull(at: target.index) }
  /// Binds an INTEGER.
  public func bind(_ value: Int64) throws { try target.statement.bind(value, at: target.index) }
  /// Binds a REAL; throws `valueNotStorable` for NaN.
  public func bind(_ value: Double) throws { try target.statement.bind(value, at: target.index) }
  /// Binds a TEXT.
  public func bind(_ value: String) throws { try target.statement.bind(value, at: target.index) }
  /// Binds a BLOB.
  public func bind(blob: UnsafeRawBufferPointer) throws { try target.statement.bind(blob: blob, at: target.index) }
}
