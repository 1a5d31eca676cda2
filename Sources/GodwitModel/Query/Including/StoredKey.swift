/// A key that is another's equal when both are stored as the same bytes: Swift takes two texts for one where Unicode
/// does, and they are two keys.
struct StoredKey<Key: ColumnValue & Hashable>: Hashable {
  let key: Key

  init(_ key: Key) { self.key = key }

  /// Of numbers and bytes there are no two forms.
  private static var hasOneForm: Bool { Key.storageType == .integer || Key.storageType == .blob }

  static func == (left: Self, right: Self) -> Bool { areSame(left.key, right.key) }

  /// Whether both are stored as the same bytes, or there is none. Called for every row that is grouped, and so without
  /// a value of this type, whose making costs code that is not specialized as much as the comparison.
  static func areSame(_ left: Key?, _ right: Key?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left == right && (hasOneForm || (try? left.storedValue()) == (try? right.storedValue()))
  }

  func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
