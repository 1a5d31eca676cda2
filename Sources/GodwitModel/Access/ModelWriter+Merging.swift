import GodwitBase
import GodwitStorage

extension ModelWriter {
  /// Whether a row has the model's key.
  package func contains<Root: Model>(_ model: Root) throws -> Bool {
    let layout = Root.schema.layout
    return try storedValues(Root.self, like: layout.values(of: model, in: Array(0..<layout.keyCount))) != nil
  }

  /// Writes these columns where they differ from the stored ones and leaves the others as they are stored, whatever
  /// the model makes of them. Returns whether any differed, or nil when no row has the key.
  package func update<Root: Model>(_ model: Root, columns: [Int]) throws -> Bool? {
    try endRun()
    let layout = Root.schema.layout
    let values = try layout.values(of: model, in: Array(0..<layout.keyCount) + columns)
    guard let stored = try storedValues(Root.self, like: values) else { return nil }
    var merged = stored
    for (column, value) in zip(columns, values.dropFirst(layout.keyCount)) { merged[column] = value }
    return try write(Root.self, merged, replacing: stored) != nil
  }
}

extension ModelLayout {
  /// The stored values of some of the model's columns.
  package func values<Root: Model>(of model: Root, in columns: [Int]) throws -> [Value] {
    try withUnsafeBytes(of: model) { bytes in
      guard let start = bytes.baseAddress else { return [] }
      return try columns.map { try accesses[$0].storedValue(start + accesses[$0].offset) }
    }
  }
}

extension Column {
  /// Whether two stored texts are of one value. Sets and dictionaries inside one that is stored as JSON have no order,
  /// and a program that knows fewer members than another gives none of the others up until it changes one.
  func areSame(_ one: Value, _ other: Value) -> Bool {
    guard case .text(let one) = one, case .text(let other) = other,
      let property = Swift.type(of: keyPath).valueType as? any ColumnValue.Type,
      let type = Self.present(property) as? any JSONColumnValue.Type
    else { return false }
    return JSONText.areSame(one, other, as: type)
  }

  private static func present<Property: ColumnValue>(_ type: Property.Type) -> Any.Type { Property._Present.self }

  /// Copies the column's property from one model to another.
  package func copy(from source: Root, to target: inout Root) {
    guard let property = Swift.type(of: keyPath).valueType as? any ColumnValue.Type else { return }
    copy(property, from: source, to: &target)
  }

  private func copy<Property: ColumnValue>(_ type: Property.Type, from source: Root, to target: inout Root) {
    guard let keyPath = keyPath as? WritableKeyPath<Root, Property> else { return }
    target[keyPath: keyPath] = source[keyPath: keyPath]
  }
}
