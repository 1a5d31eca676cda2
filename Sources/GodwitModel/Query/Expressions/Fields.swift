import GodwitBase

/// Names a model's columns by property: the `$0` of `where { … }`.
@dynamicMemberLookup
public struct Fields<Root: Model>: Sendable {
  /// The table's name in the statement; another one only when a table is joined to itself.
  let alias: String?

  init(alias: String? = nil) { self.alias = alias }

  /// The key. One of several columns is compared with `==`, `!=` and `isIn`, counted, and sorted by; anything else is
  /// `invalidSchema` when the query runs.
  public var id: SQLExpression<Root.ID> { SQLExpression([keyPart]) }

  var keyPart: SQLPart {
    let columns = keyColumns
    return columns.count == 1 ? columns[0] : .key(columns)
  }

  var keyColumns: [SQLPart] {
    Root.schema.columns.prefix(Root.schema.keyCount).map { .column(table: alias ?? Root.schema.table, name: $0.name) }
  }

  /// The column that stores the property. A property that is no column is a `notInSchema` error when the query runs.
  public subscript<Property: ColumnValue>(
    dynamicMember keyPath: KeyPath<Root, Property>
  ) -> SQLExpression<Property> {
    SQLExpression([part(keyPath)])
  }

  func part(_ keyPath: PartialKeyPath<Root>) -> SQLPart {
    let schema = Root.schema
    do throws(GodwitError) {
      return .column(table: alias ?? schema.table, name: schema.columns[try schema.column(for: keyPath)].name)
    } catch {
      return .failure(error)
    }
  }
}

/// The fields of a row that a join may not have found: each is optional, and nil where there is no row.
///
/// ```swift
/// let lonely = Note.leftJoin(Folder.self) { $0.folder == $1.id }.where { _, folder in folder.id.isNull() }
/// ```
@dynamicMemberLookup
public struct MaybeFields<Root: Model>: Sendable {
  private let fields: Fields<Root>

  init(_ fields: Fields<Root>) { self.fields = fields }

  /// The key, nil where there is no row.
  public var id: SQLExpression<Root.ID._Present?> { SQLExpression([fields.keyPart]) }

  /// The column that stores the property, nil where there is no row. What is optional already is so once. As with
  /// ``Fields``, a property that is no column is a `notInSchema` error when the query runs.
  public subscript<Property: ColumnValue>(
    dynamicMember keyPath: KeyPath<Root, Property>
  ) -> SQLExpression<Property._Present?> {
    SQLExpression([fields.part(keyPath)])
  }
}
