import Foundation
import GodwitModel
import GodwitCore

/// Adds a column.
public struct AddColumn: MigrationStep {
  private let column: NewColumn
  private let table: String
  private let derivation: SchemaStep.Derivation?

  /// Adds a column that holds the same in every row there is: its default, or NULL.
  ///
  /// - Parameters:
  ///   - name: The column's name.
  ///   - type: The type of the property; an optional one, unless there is a default.
  ///   - value: What the rows there are hold.
  ///   - table: The table.
  ///   - check: SQL over the column's own name that no value may make false.
  ///   - target: The table whose key it holds.
  ///   - onDelete: What becomes of the row when the one it refers to is deleted.
  ///   - acyclic: Whether rows that refer to each other may never form a circle.
  ///   - merge: What becomes of writes on several replicas that had not seen each other.
  public init<Content: ColumnValue>(
    _ name: String, _ type: Content.Type, default value: Content? = nil, to table: String, check: String? = nil,
    references target: String? = nil, onDelete: DeleteAction = .restrict, acyclic: Bool = false,
    merge: ColumnMerge<Content> = .lastWriterWins
  ) {
    column = NewColumn(
      name, type, default: value, check: check, references: target, onDelete: onDelete, acyclic: acyclic, merge: merge)
    self.table = table
    derivation = nil
  }

  /// Adds a column that starts as what another column of its row says.
  ///
  /// Changes of that other column by replicas which have not got this far set the new column, too. In both the last
  /// write wins.
  ///
  /// - Parameters:
  ///   - name: The column's name.
  ///   - type: The type of the property.
  ///   - source: The other column.
  ///   - expression: SQL over that column's name, such as `lower(title)`; without it the value is taken as it is.
  ///   - value: What the row holds when NULL comes out and the type is not optional.
  ///   - table: The table.
  ///   - check: SQL over the column's own name that no value may make false.
  public init<Content: ColumnValue>(
    _ name: String, _ type: Content.Type, from source: String, by expression: String? = nil,
    default value: Content? = nil, to table: String, check: String? = nil
  ) {
    column = NewColumn(name, type, default: value, check: check)
    self.table = table
    derivation = SchemaStep.Derivation(column: source, rule: .of(expression, type))
  }

  /// The step as data.
  public func _draft() throws -> MigrationStepDraft {
    MigrationStepDraft(.addColumn(try column.definition(), table: table, from: derivation))
  }
}

/// Takes a column away, with its values. What other replicas still write to it is passed on and shown nowhere.
public struct DropColumn: MigrationStep {
  private let name: String
  private let table: String
  /// The column and its table.
  public init(_ name: String, from table: String) { (self.name, self.table) = (name, table) }
  /// The step as data.
  public func _draft() throws -> MigrationStepDraft { MigrationStepDraft(.dropColumn(name, table: table)) }
}

/// Gives a column another name.
public struct RenameColumn: MigrationStep {
  private let name: String
  private let newName: String
  private let table: String

  /// The column, its new name and its table.
  public init(_ name: String, to newName: String, in table: String) {
    (self.name, self.newName, self.table) = (name, newName, table)
  }

  /// The step as data.
  public func _draft() throws -> MigrationStepDraft {
    MigrationStepDraft(.renameColumn(name, to: newName, table: table))
  }
}

/// Gives a column another type, another default or check, or makes it optional or not. What it refers to stays, and so
/// do the values of a column that merges otherwise than by the last write.
public struct ChangeColumn: MigrationStep {
  private let column: NewColumn
  private let table: String
  private let rule: SchemaStep.ValueRule

  /// Says in full what the column is from now on.
  ///
  /// Without an expression values are widened: integers to `Double` and to text, reals to text, text to blobs. Every
  /// other change of type needs one.
  ///
  /// - Parameters:
  ///   - name: The column's name.
  ///   - type: The type of the property from now on.
  ///   - table: The table.
  ///   - value: The default; it also takes the place of NULL when the type is not optional any more.
  ///   - check: SQL over the column's own name that no value may make false.
  ///   - expression: SQL over the column's name that makes the new value of the old one, such as
  ///     `CAST(price * 100 AS INTEGER)`. It names nothing else and gives the same every time.
  public init<Content: ColumnValue>(
    _ name: String, _ type: Content.Type, in table: String, default value: Content? = nil, check: String? = nil,
    by expression: String? = nil
  ) {
    column = NewColumn(name, type, default: value, check: check)
    self.table = table
    rule = .of(expression, type)
  }

  /// The step as data.
  public func _draft() throws -> MigrationStepDraft {
    MigrationStepDraft(.changeColumn(try column.definition(), table: table, rule: rule))
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
