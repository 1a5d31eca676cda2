import GodwitBase

extension Optional: ColumnValue where Wrapped: ColumnValue {
  public static var storageType: StorageType { Wrapped.storageType }
  public static var isNullable: Bool { true }

  public func bind(to binder: borrowing ColumnBinder) throws {
    if let self { try self.bind(to: binder) } else { try binder.bindNull() }
  }

  public static func read(from reader: borrowing ColumnReader) throws -> Wrapped? {
    reader.isNull ? nil : try Wrapped.read(from: reader)
  }

  public func storedValue() throws -> Value { try self?.storedValue() ?? .null }

  public static func _access(atOffset offset: Int) -> ColumnAccess { Wrapped._optionalAccess(atOffset: offset) }
}
