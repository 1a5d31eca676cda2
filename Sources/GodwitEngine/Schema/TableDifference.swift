import GodwitModel
import GodwitCore

/// One way in which a table of the database is not what its model declares.
enum TableDifference {
  case missingColumn(ColumnDefinition)
  case extraColumn(ColumnDefinition)
  case missingIndex(IndexDefinition, name: String)
  case extraIndex(name: String, isUnique: Bool)
  /// What cannot be mended by adding something.
  case changed(String)
  /// The rows travel by the one and stay by the other.
  case otherScope(isSyncedInModel: Bool)

  /// Whether adding what is missing mends it, or it may stay.
  var isAdditive: Bool {
    switch self {
    case .missingColumn, .extraColumn, .missingIndex, .extraIndex: true
    case .changed, .otherScope: false
    }
  }

  /// Whether the program continues without knowing of it: a column that new rows have a value of, and an index that
  /// refuses nothing (Specs/migrations.md, "Additions travel").
  var mayStand: Bool {
    switch self {
    case .extraColumn(let column): column.isNullable || column.defaultValue != nil
    case .extraIndex(_, let isUnique): !isUnique
    case .missingColumn, .missingIndex, .changed, .otherScope: false
    }
  }

  var isOfScope: Bool {
    if case .otherScope = self { true } else { false }
  }

  var description: String {
    switch self {
    case .missingColumn(let column): "column \(column.name) is missing in the database"
    case .extraColumn(let column): "column \(column.name) is not in the model"
    case .missingIndex(_, let name): "index \(name) is missing in the database"
    case .extraIndex(let name, _): "index \(name) is not in the model"
    case .changed(let text): text
    case .otherScope(let isSyncedInModel): "the table is synced only in the \(isSyncedInModel ? "model" : "database")"
    }
  }
}
