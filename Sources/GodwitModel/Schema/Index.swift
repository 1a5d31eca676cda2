/// An index over one or several columns, named `index_TABLE_on_COLUMN_and_COLUMN`; `index_TABLE.COLUMN.COLUMN` where a
/// name has one of these words.
public struct Index<Root: Model>: Sendable {
  package let keyPaths: [PartialKeyPath<Root> & Sendable]
  package private(set) var isUnique = false

  /// An index in the order given.
  public init(_ keyPaths: (PartialKeyPath<Root> & Sendable)...) {
    self.keyPaths = keyPaths
  }

  /// Lets no two rows hold the same values.
  public func unique() -> Self {
    var copy = self
    copy.isUnique = true
    return copy
  }
}
