import GodwitBase

extension Optional: ColumnValue where Wrapped: ColumnValue {
  /// What it wraps; never named by programs.
  public typealias _Present = Wrapped

  /// That of the wrapped type.
  public static var storageType: StorageType { Wrapped.storageType }
  /// Yes: nil is NULL.
  public static var isNullable: Bool { true }

  /// Binds the value, or NULL for nil.
  public func bind(to binder: borrowing ColumnBinder) throws {
    if let self { try self.bind(to: binder) } else { try binder.bindNull() }
  }

  /// Reads the value, or nil for NULL.
  public static func read(from reader: borrowing ColumnReader) throws -> Wrapped? {
    reader.isNull ? nil : try Wrapped.read(from: reader)
  }

  /// The value as it is stored, or NULL.
  public func storedValue() throws -> Value { try self?.storedValue() ?? .null }

  /// That of the wrapped type's optional; never called by programs.
  public static func _access(atOffset offset: Int) -> ColumnAccess { Wrapped._optionalAccess(atOffset: offset) }
}
