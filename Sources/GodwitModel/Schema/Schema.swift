import GodwitBase
import GodwitCore

/// Whether a model's rows travel to other replicas.
public enum SyncScope: Sendable {
  /// Every replica of the group holds them.
  case group
  /// They stay in this database and are never captured.
  case local
}

/// A model's table: its name, columns and indexes.
///
/// A schema is checked when a replica opens with it; one that no database could have is `invalidSchema`.
public struct Schema<Root: Model>: Sendable {
  /// The table's name.
  public let table: String
  /// The columns, the key first, then in the order declared.
  package let columns: [Column<Root>]
  package let layout: ModelLayout
  package let validator: Validator<Root>
  package let keyCount: Int
  package let timestamps: Timestamps<Root>?
  private let indexes: [Index<Root>]
  private let scope: SyncScope
  private let numbersKeys: Bool
  private let deletes: DeletePolicy
  private let declaredKeys: Int
  private let declaredTimestamps: Int
  private let columnNumbers: KeyPathNumbers
  /// Whether a column that was listed under the key's name stores another property.
  private let hidesKey: Bool

  /// Declares a table. Unless a ``Key`` says otherwise, one key column holds ``Model/id`` and is called `key`.
  ///
  /// - Parameters:
  ///   - table: The table's name.
  ///   - key: The name of the key column.
  ///   - scope: Whether the rows travel.
  ///   - autoIncrement: Lets the database number new rows: `id` is an integer, and 0 means not yet numbered.
  ///     Numbers are never used again. For tables that are `.local`, since replicas would give the same numbers.
  ///   - deletes: What becomes of a row that is deleted on one replica and edited on another, neither having seen the
  ///     other.
  ///   - content: Columns, indexes, key and timestamps.
  public init(
    _ table: String, key: String = "id", sync scope: SyncScope = .group, autoIncrement: Bool = false,
    deletes: DeletePolicy = .editWins, @SchemaBuilder<Root> _ content: () -> [SchemaBuilder<Root>.Element]
  ) {
    var columns: [Column<Root>] = []
    var indexes: [Index<Root>] = []
    var rules: [Validate<Root>] = []
    var keys: [Key<Root>] = []
    var timestamps: [Timestamps<Root>] = []
    for element in content() {
      switch element {
      case .column(let column): columns.append(column)
      case .index(let index): indexes.append(index)
      case .validation(let rule): rules.append(rule)
      case .key(let key): keys.append(key)
      case .timestamps(let times):
        columns += times.columns
        timestamps.append(times)
      }
    }
    let keyOffset = Root.keyOffset
    let keyPaths = KeyPathNumbers([\Root.id], keyOffset: keyOffset, keyType: Root.ID.self)
    if let declared = keys.first {
      columns = declared.columns + columns
      keyCount = declared.columns.count
      hidesKey = false
    } else {
      let listed = columns.firstIndex { $0.name == key || keyPaths.number(of: $0.keyPath) != nil }
        .map { columns.remove(at: $0) }
      columns.insert(listed ?? Column(key: key), at: 0)
      keyCount = 1
      hidesKey = keyOffset != nil && listed.map { keyPaths.number(of: $0.keyPath) == nil } ?? false
    }
    self.table = table
    self.columns = columns
    self.indexes = indexes
    self.scope = scope
    numbersKeys = autoIncrement
    self.deletes = deletes
    declaredKeys = keys.count
    declaredTimestamps = timestamps.count
    self.timestamps = timestamps.first
    let ownKeyOffset = keyCount == 1 ? keyOffset : nil
    let columnNumbers = KeyPathNumbers(columns.map(\.keyPath), keyOffset: ownKeyOffset, keyType: Root.ID.self)
    self.columnNumbers = columnNumbers
    let timestampColumns = (timestamps.first?.columns ?? []).compactMap { column in
      columns.firstIndex { $0.name == column.name }
    }
    validator = Validator(rules, table: table, columns: columns, keyCount: keyCount, number: columnNumbers.number)
    layout = ModelLayout(
      table: table, columns: columns.map(\.name), accesses: columns.map(\.access), keyCount: keyCount,
      numbersKeys: autoIncrement, timestamps: timestampColumns, loadHook: Root.self as? any LoadHook.Type)
  }

  /// The column that stores the property, or a `notInSchema` error.
  package func column(for keyPath: PartialKeyPath<Root>) throws(GodwitError) -> Int {
    guard let number = columnNumbers.number(of: keyPath) else {
      throw GodwitError(
        .notInSchema, "a property of \(Root.self) is no column of table \(table)",
        hint: "list it in the schema, or use a property that is listed; of a key, the columns it is made of")
    }
    return number
  }

  /// The table as data; throws `invalidSchema` when no database could have it.
  package func definition() throws -> TableDefinition {
    try validator.check()
    // Rows are read into copies of one value, and a class has no copies.
    guard !(Root.self is AnyClass) else { throw invalid("is of a class, and models are structs") }
    let prototype = Root()
    guard declaredTimestamps <= 1 else { throw invalid("declares its timestamps twice") }
    try checkKey(prototype)
    try checkProperties()
    let names = columns.map(\.name)
    let definitions = try columns.enumerated().map { number, column in
      ColumnDefinition(
        name: column.name, type: column.type, isNullable: column.isNullable,
        defaultValue: number < keyCount
          ? nil : try defaultValue(of: column, in: prototype)?.stored(as: column.type, isKey: false),
        reference: try reference(of: column), check: column.check, merge: column.merge)
    }
    let unique = columns.filter(\.isUnique).map { IndexDefinition(columns: [$0.name], isUnique: true) }
    let declared = try indexes.map { index in
      IndexDefinition(columns: try index.keyPaths.map { names[try column(for: $0)] }, isUnique: index.isUnique)
    }
    return try TableDefinition(
      name: table, keyCount: keyCount, columns: definitions, indexes: unique + declared, isSynced: scope == .group,
      numbersKeys: numbersKeys, deletes: deletes)
  }

  /// The functions of its `.custom` columns.
  package var customMerges: [CustomMergeFactory] { columns.compactMap(\.customMerge) }

  private func defaultValue(of column: Column<Root>, in prototype: Root) throws -> Value? {
    guard let declared = column.declaredDefault else { return column.defaultValue(prototype) }
    guard declared.type == column.type else {
      throw invalid("gives column \(column.name) of type \(column.type) a default of type \(declared.type)")
    }
    let value = try declared.value.get()
    return value == .null ? nil : value
  }

  /// The key must be made of its columns, in their order: rows are found by the one and stored by the other.
  private func checkKey(_ prototype: Root) throws {
    guard declaredKeys <= 1 else { throw invalid("declares its key twice") }
    guard keyCount == Root.ID.keyColumnCount else {
      throw invalid(
        "has a key of \(keyCount) columns, and an id of \(Root.ID.keyColumnCount)",
        hint: "declare Key(Column(…), Column(…)) and an id that is a PairKey of the same properties")
    }
    guard !hidesKey else {
      throw invalid(
        "has a column \(columns[0].name) under the name of the key, which stores another property than id",
        hint: "give that column another name, or the key's with Schema(…, key: …)")
    }
    guard declaredKeys == 1 || Root.keyOffset == nil else { return }
    let stored = try withUnsafeBytes(of: prototype) { bytes in
      try bytes.baseAddress.map { start in
        try layout.accesses.prefix(keyCount).map { try $0.storedValue(start + $0.offset) }
      }
    }
    guard try stored == prototype.id.valuesOfColumns() else {
      throw invalid(
        "has an id that is not made of its key columns",
        hint: "make id a PairKey of the properties in Key, in the same order")
    }
  }

  /// Of two columns that store one property, the one read last would win.
  private func checkProperties() throws {
    var names: [AnyKeyPath: String] = [:]
    for column in columns {
      guard let other = names.updateValue(column.name, forKey: column.keyPath) else { continue }
      throw invalid(
        "stores one property in two columns, \(other) and \(column.name)", hint: "leave one of the columns out")
    }
  }

  private func reference(of column: Column<Root>) throws -> Reference? {
    guard let reference = try column.reference?() else { return nil }
    guard reference.onDelete != .setNull || column.isNullable else {
      throw invalid(
        "has a column \(column.name) that becomes NULL when the row it refers to is deleted, and is not optional",
        hint: "make the property optional, or declare the reference with onDelete: .cascade or .restrict")
    }
    return reference
  }

  private func invalid(_ what: String, hint: String? = nil) -> GodwitError {
    GodwitError(.invalidSchema, "table \(table) \(what)", hint: hint)
  }
}

/// Key paths and their column numbers.
///
/// Unchecked Sendable: key paths are immutable, those of a schema capture nothing, and the table never changes.
private struct KeyPathNumbers: @unchecked Sendable {
  private let numbers: [AnyKeyPath: Int]
  private let keyOffset: Int?
  private let keyType: Any.Type

  init(_ keyPaths: [AnyKeyPath], keyOffset: Int?, keyType: Any.Type) {
    numbers = Dictionary(keyPaths.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    self.keyOffset = keyOffset
    self.keyType = keyType
  }

  /// A program's own key path to the key differs from the one made through the protocol; both are column 0.
  func number<Root>(of keyPath: PartialKeyPath<Root>) -> Int? {
    if let number = numbers[keyPath] { return number }
    let isKey = keyOffset != nil && MemoryLayout<Root>.offset(of: keyPath) == keyOffset
    return isKey && type(of: keyPath).valueType == keyType ? 0 : nil
  }
}
