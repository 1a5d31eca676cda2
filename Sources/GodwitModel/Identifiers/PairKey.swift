import GodwitBase

/// A primary key of two columns; nested, of three and more: `PairKey<A, PairKey<B, C>>`. See ``Key``.
public struct PairKey<First: ModelKey, Second: ModelKey>: Hashable {
  /// What the first column holds.
  public var first: First
  /// What the second column holds.
  public var second: Second

  /// A key of both.
  public init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }
}

extension PairKey: Sendable where First: Sendable, Second: Sendable {}

/// It stands for several columns, so it is no value of one.
extension PairKey: ModelKey {
  public static var storageType: StorageType { .blob }
  public static var _columnCount: Int { First._columnCount + Second._columnCount }
  public func _keyValues() throws -> [Value] { try first._keyValues() + second._keyValues() }
  public func bind(to binder: borrowing ColumnBinder) throws { throw Self.severalColumns }
  public static func read(from reader: borrowing ColumnReader) throws -> Self { throw severalColumns }
  public func storedValue() throws -> Value { throw Self.severalColumns }

  private static var severalColumns: GodwitError {
    GodwitError(
      .invalidSchema, "a key of several columns is used as the value of one", hint: "use the columns it is made of")
  }
}
