/// A key that is another's equal when both are stored as the same bytes: Swift takes two texts for one where Unicode
/// does, and they are two keys.
struct StoredKey<Key: ColumnValue & Hashable>: Hashable {
  let key: Key

  init(_ key: Key) { self.key = key }

  /// Of numbers and bytes there are no two forms.
  private static var hasOneForm: Bool { Key.storageType == .integer || Key.storageType == .blob }

  static func == (left: Self, right: Self) -> Bool {
    left.key == right.key && (hasOneForm || (try? left.key.storedValue()) == (try? right.key.storedValue()))
  }

  func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
