/// Rows handed out to the keys they belong to.
struct KeyGroups<Key: ColumnValue & Hashable, Element> {
  private let places: [StoredKey<Key>: Int]
  private var elements: [[Element]]

  /// The keys of a query's rows, each once.
  init(_ keys: [Key]) {
    places = Dictionary(zip(keys.map(StoredKey.init), keys.indices), uniquingKeysWith: { first, _ in first })
    elements = Array(repeating: [], count: keys.count)
  }

  mutating func add(_ new: some Collection<Element>, to key: Key) {
    if let place = places[StoredKey(key)] { elements[place].append(contentsOf: new) }
  }

  /// What each key has, in the order of the keys.
  var all: [[Element]] { elements }
}
