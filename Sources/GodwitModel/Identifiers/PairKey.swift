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
extension PairKey: CompositeKey {
  /// Of no meaning: the key's columns each have their own.
  public static var storageType: StorageType { .blob }
  static var columnCount: Int { First.keyColumnCount + Second.keyColumnCount }
  func keyValues() throws -> [Value] { try first.valuesOfColumns() + second.valuesOfColumns() }
  /// Throws `invalidSchema`: a pair is no value of one column.
  public func bind(to binder: borrowing ColumnBinder) throws { throw GodwitError.keyOfSeveralColumns }
  /// Throws `invalidSchema`: a pair is no value of one column.
  public static func read(from reader: borrowing ColumnReader) throws -> Self { throw GodwitError.keyOfSeveralColumns }
  /// Throws `invalidSchema`: a pair is no value of one column.
  public func storedValue() throws -> Value { throw GodwitError.keyOfSeveralColumns }
}

extension GodwitError {
  static var keyOfSeveralColumns: GodwitError {
    GodwitError(
      .invalidSchema, "a key of several columns is used as the value of one",
      hint: "compare it with == or isIn, or use the columns that it is made of")
  }
}
