import GodwitBase
import GodwitCore
import GodwitStorage

/// A struct whose values are rows of a table.
///
/// ```swift
/// struct Note: Model {
///   static let schema = Schema<Self>("note") {
///     Column("title", \.title)
///     Column("views", \.views)
///   }
///   var id = RecordID<Note>()
///   var title = ""
///   var views = 0
/// }
/// ```
///
/// Properties that the schema does not list are not stored; a fetched value has them as `init()` made them.
public protocol Model: Sendable, Identifiable where ID: ModelKey {
  /// The table, its columns and indexes.
  static var schema: Schema<Self> { get }
  /// The primary key.
  var id: ID { get set }
  /// A value with every property at its default; fetched rows are read into a copy of it.
  init()
}

/// A type that can be a primary key, compared by its stored bytes: one column, or several as a ``PairKey``.
///
/// Types of your own need nothing more than the conformance: `enum Kind: String, ModelKey`.
public protocol ModelKey: ColumnValue, Hashable {}

/// A key of several columns.
protocol CompositeKey: ModelKey {
  static var columnCount: Int { get }
  /// What is stored in each column.
  func keyValues() throws -> [Value]
}

extension ModelKey {
  /// How many columns it takes.
  static var keyColumnCount: Int { (Self.self as? any CompositeKey.Type)?.columnCount ?? 1 }

  /// What is stored in each of its columns.
  package func valuesOfColumns() throws -> [Value] {
    try (self as? any CompositeKey)?.keyValues() ?? [storedValue()]
  }

  /// Binds the key of a table whose key has that many columns to parameters 1, 2, …
  func bind(to statement: Statement, columns: Int) throws {
    if columns == 1 { return try bind(to: ColumnBinder(ColumnBinderTarget(statement, 1))) }
    for (index, value) in try valuesOfColumns().enumerated() { try statement.bind(value, at: Int32(index + 1)) }
  }
}

extension [any Model.Type] {
  /// The tables of the models a replica is opened with. Throws `invalidSchema` when two of the models have one table,
  /// or what ``Schema/definition()`` throws. A model may refer to one that is not in the list: its table may be there
  /// already.
  package func tableDefinitions() throws -> [TableDefinition] {
    var owners: [String: any Model.Type] = [:]
    return try map { model in
      let definition = try model.tableDefinition()
      if let other = owners.updateValue(model, forKey: definition.name.lowercased()), other != model {
        throw GodwitError(
          .invalidSchema, "table \(definition.name) belongs to two models, \(other) and \(model)",
          hint: "open the replica with one of them, or give the other's schema another name")
      }
      return definition
    }
  }
}

extension Model {
  /// The table as data, for a list of models of different types.
  fileprivate static func tableDefinition() throws -> TableDefinition { try schema.definition() }
}
