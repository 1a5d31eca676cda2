import GodwitBase
import GodwitCore

/// A table of the group, as the replica has it.
public struct TableDescription: Sendable {
  /// The storage class that a column's values have.
  public enum Storage: String, Sendable {
    /// INTEGER.
    case integer
    /// REAL.
    case real
    /// TEXT.
    case text
    /// BLOB.
    case blob
    /// Each value its own.
    case any
  }

  /// A column.
  public struct Column: Sendable {
    /// Its name.
    public let name: String
    /// Its values' storage class.
    public let storage: Storage
  }

  /// The table's name.
  public let name: String
  /// The columns of its primary key, in order.
  public let key: [Column]
  /// The other columns, in order.
  public let columns: [Column]

  package init(_ definition: TableDefinition) {
    name = definition.name
    let all = definition.columns.map { column in
      let storage: Storage =
        switch column.type {
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .blob: .blob
        case .any: .any
        }
      return Column(name: column.name, storage: storage)
    }
    key = Array(all.prefix(definition.keyCount))
    columns = Array(all.dropFirst(definition.keyCount))
  }
}
