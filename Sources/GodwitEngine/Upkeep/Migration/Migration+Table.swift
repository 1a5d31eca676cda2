import Foundation
import GodwitModel
import GodwitCore

extension Migration {
  /// Collects what a migration changes of one table's columns and indexes.
  public struct Table {
    let name: String
    private(set) var steps: [@Sendable () throws -> SchemaStep] = []

    init(name: String) { self.name = name }

    private mutating func append(_ step: @escaping @Sendable () throws -> SchemaStep) { steps.append(step) }

    /// Adds a column that holds the same in every row there is: its default, or NULL.
    ///
    /// - Parameters:
    ///   - column: The column's name.
    ///   - type: The type of the property; an optional one, unless there is a default.
    ///   - value: What the rows there are hold.
    ///   - check: SQL over the column's own name that no value may make false.
    ///   - target: The table whose key it holds.
    ///   - onDelete: What becomes of the row when the one it refers to is deleted.
    ///   - acyclic: Whether rows that refer to each other may never form a circle.
    ///   - merge: What becomes of writes on several replicas that had not seen each other.
    public mutating func add<Content: ColumnValue>(
      _ column: String, _ type: Content.Type, default value: Content? = nil, check: String? = nil,
      references target: String? = nil, onDelete: DeleteAction = .restrict, acyclic: Bool = false,
      merge: ColumnMerge<Content> = .lastWriterWins
    ) {
      let (table, reference) = (name, target.map { Reference(table: $0, onDelete: onDelete, isAcyclic: acyclic) })
      append {
        let definition = try ColumnDefinition.of(
          column, type, default: value, check: check, reference: reference, merge: merge)
        return .addColumn(definition, table: table, from: nil)
      }
    }

    /// Adds a column that starts as what another column of its row says.
    ///
    /// Changes of that other column by replicas which have not got this far set the new column, too. In both the last
    /// write wins.
    ///
    /// - Parameters:
    ///   - column: The column's name.
    ///   - type: The type of the property.
    ///   - source: The other column.
    ///   - expression: SQL over that column's name, such as `lower(title)`; without it the value is taken as it is.
    ///   - value: What the row holds when NULL comes out and the type is not optional.
    ///   - check: SQL over the column's own name that no value may make false.
    public mutating func add<Content: ColumnValue>(
      _ column: String, _ type: Content.Type, from source: String, by expression: String? = nil,
      default value: Content? = nil, check: String? = nil
    ) {
      let table = name
      append {
        let derivation = SchemaStep.Derivation(column: source, rule: .of(expression, type))
        let definition = try ColumnDefinition.of(column, type, default: value, check: check)
        return .addColumn(definition, table: table, from: derivation)
      }
    }

    /// Takes a column away, with its values. What other replicas still write to it is passed on and shown nowhere.
    public mutating func drop(_ column: String) {
      let table = name
      append { .dropColumn(column, table: table) }
    }

    /// Gives a column another name.
    public mutating func rename(_ column: String, to newName: String) {
      let table = name
      append { .renameColumn(column, to: newName, table: table) }
    }

    /// Gives a column another type, another default or check, or makes it optional or not: says in full what it is from
    /// now on. What it refers to stays, and so do the values of a column that merges otherwise than by the last write.
    ///
    /// Without an expression values are widened: integers to `Double` and to text, reals to text, text to blobs. Every
    /// other change of type needs one.
    ///
    /// - Parameters:
    ///   - column: The column's name.
    ///   - type: The type of the property from now on.
    ///   - value: The default; it also takes the place of NULL when the type is not optional any more.
    ///   - check: SQL over the column's own name that no value may make false.
    ///   - expression: SQL over the column's name that makes the new value of the old one, such as
    ///     `CAST(price * 100 AS INTEGER)`. It names nothing else and gives the same every time.
    public mutating func change<Content: ColumnValue>(
      _ column: String, _ type: Content.Type, default value: Content? = nil, check: String? = nil,
      by expression: String? = nil
    ) {
      let table = name
      append {
        let definition = try ColumnDefinition.of(column, type, default: value, check: check)
        return .changeColumn(definition, table: table, rule: .of(expression, type))
      }
    }

    /// Makes an index of these columns; a unique one lets no two rows hold the same.
    public mutating func addIndex(_ columns: String..., unique: Bool = false) {
      let table = name
      append { .addIndex(IndexDefinition(columns: columns, isUnique: unique), table: table) }
    }

    /// Takes the index of exactly these columns away.
    public mutating func dropIndex(_ columns: String...) {
      let table = name
      append { .dropIndex(columns, table: table) }
    }
  }
}

extension SchemaStep.ValueRule {
  /// The expression, or widening to what values of the type are stored as.
  fileprivate static func of<Content: ColumnValue>(_ expression: String?, _ type: Content.Type) -> Self {
    if let expression { return .expression(expression) }
    let reals: [any ColumnValue.Type] = [
      Double.self, Double?.self, Float.self, Float?.self, Date.self, Date?.self,
    ]
    return .widen(to: reals.contains { $0 == type } ? .real : ColumnType(Content.storageType))
  }
}
