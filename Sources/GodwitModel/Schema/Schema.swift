import GodwitBase
import GodwitReplication

/// Whether a model's rows travel to other replicas.
public enum SyncScope: Sendable {
  /// Every replica of the group holds them.
  case group
  /// They stay in this database and are never captured.
  case local
}

/// A model's table: its name, columns and indexes.
///
/// A schema is checked when a replica opens with it; see ``GodwitError/Code/invalidSchema``.
public struct Schema<Root: Model>: Sendable {
  /// The table's name.
  public let table: String
  /// The columns, the key first, then in the order declared.
  package let columns: [Column<Root>]
  package let layout: ModelLayout
  package let validator: Validator<Root>
  private let indexes: [Index<Root>]
  private let scope: SyncScope
  private let columnNumbers: KeyPathNumbers

  /// Declares a table. The key column holds ``Model/id`` and is called `key`.
  public init(
    _ table: String, key: String = "id", sync scope: SyncScope = .group,
    @SchemaBuilder<Root> _ content: () -> [SchemaElement<Root>]
  ) {
    var columns: [Column<Root>] = []
    var indexes: [Index<Root>] = []
    var rules: [Validate<Root>] = []
    for element in content() {
      switch element {
      case .column(let column): columns.append(column)
      case .index(let index): indexes.append(index)
      case .validation(let rule): rules.append(rule)
      }
    }
    let keyOffset = Root.keyOffset
    let keyPaths = KeyPathNumbers([\Root.id], keyOffset: keyOffset, keyType: Root.ID.self)
    let declaredKey = columns.firstIndex { $0.name == key || keyPaths.number(of: $0.keyPath) != nil }
      .map { columns.remove(at: $0) }
    columns.insert(declaredKey ?? Column(key: key), at: 0)
    self.table = table
    self.columns = columns
    self.indexes = indexes
    self.scope = scope
    let columnNumbers = KeyPathNumbers(columns.map(\.keyPath), keyOffset: keyOffset, keyType: Root.ID.self)
    self.columnNumbers = columnNumbers
    validator = Validator(rules, table: table, columns: columns, number: columnNumbers.number)
    layout = ModelLayout(
      table: table, columns: columns.map(\.name), accesses: columns.map(\.access),
      loadHook: Root.self as? any LoadHook.Type)
  }

  /// The column that stores the property, or a `notInSchema` error.
  package func column(for keyPath: PartialKeyPath<Root>) throws(GodwitError) -> Int {
    guard let number = columnNumbers.number(of: keyPath) else {
      throw GodwitError(
        .notInSchema, "a property of \(Root.self) is no column of table \(table)",
        hint: "list it in the schema, or use a property that is listed")
    }
    return number
  }

  /// The table as data; throws `invalidSchema` when no database could have it.
  package func definition() throws -> TableDefinition {
    try validator.check()
    let prototype = Root()
    let names = columns.map(\.name)
    let definitions = columns.enumerated().map { number, column in
      ColumnDefinition(
        name: column.name, type: column.type, isNullable: column.isNullable,
        defaultValue: number == 0 ? nil : column.defaultValue(prototype), reference: column.reference?())
    }
    let unique = columns.filter(\.isUnique).map { IndexDefinition(columns: [$0.name], isUnique: true) }
    let declared = try indexes.map { index in
      IndexDefinition(columns: try index.keyPaths.map { names[try column(for: $0)] }, isUnique: index.isUnique)
    }
    return try TableDefinition(
      name: table, keyCount: 1, columns: definitions, indexes: unique + declared, isSynced: scope == .group)
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
