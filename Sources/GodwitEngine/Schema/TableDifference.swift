import GodwitModel
import GodwitCore

/// One way in which a table of the database is not what its model declares.
enum TableDifference {
  case missingColumn(ColumnDefinition)
  case extraColumn(ColumnDefinition)
  /// One that is unique, of a table that travels, is added by a migration alone.
  case missingIndex(IndexDefinition, name: String, mayBeAdded: Bool)
  case extraIndex(IndexDefinition, name: String)
  /// In words what differs, which one step of a migration may mend.
  case changedColumn(ColumnDefinition, from: ColumnDefinition, String)
  /// What cannot be mended by adding something.
  case changed(String)
  /// The rows travel by the one and stay by the other.
  case otherScope(isSyncedInModel: Bool)

  /// Whether adding what is missing mends it, or it may stay.
  var isAdditive: Bool {
    switch self {
    case .missingColumn, .extraColumn, .extraIndex: true
    case .missingIndex(_, _, let mayBeAdded): mayBeAdded
    case .changed, .changedColumn, .otherScope: false
    }
  }

  /// Whether the program continues without knowing of it: a column that new rows have a value of, and an index that
  /// refuses nothing (Specs/migrations.md, "Additions travel").
  var mayStand: Bool {
    switch self {
    case .extraColumn(let column): column.isNullable || column.defaultValue != nil
    case .extraIndex(let index, _): !index.isUnique
    case .missingColumn, .missingIndex, .changed, .changedColumn, .otherScope: false
    }
  }

  var isOfScope: Bool {
    if case .otherScope = self { true } else { false }
  }

  var description: String {
    switch self {
    case .missingColumn(let column): "column \(column.name) is missing in the database"
    case .extraColumn(let column): "column \(column.name) is not in the model"
    case .missingIndex(_, let name, let mayBeAdded):
      "\(mayBeAdded ? "" : "unique ")index \(name) is missing in the database"
    case .extraIndex(_, let name): "index \(name) is not in the model"
    case .changed(let text), .changedColumn(_, _, let text): text
    case .otherScope(let isSyncedInModel): "the table is synced only in the \(isSyncedInModel ? "model" : "database")"
    }
  }
}
