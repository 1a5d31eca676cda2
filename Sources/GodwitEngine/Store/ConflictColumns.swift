/// The columns that an entry of the conflict log is about, as `godwit_conflict.column_name` has them: none for the
/// whole row (Specs/explaining.md, "Migrations").
struct ConflictColumns: Hashable {
  struct Column: Hashable {
    var name: String
    /// The migration that dropped the column, or had no value for what the entry holds; nil while the column is the
    /// table's. A name is dropped once by a migration, so that entries of one column never meet those of a later one.
    var formerSince: UInt64?
  }

  /// Between the names of several columns. No name holds control characters.
  private static let separator: Character = "\0"
  /// Between a former column's name and the migration.
  private static let mark: Character = "\u{1}"

  var all: [Column]

  init(_ names: [String]) { all = names.map { Column(name: $0) } }

  init(text: String) {
    all = text.split(separator: Self.separator).map { part in
      let parts = part.split(separator: Self.mark)
      return Column(name: String(parts[0]), formerSince: parts.count > 1 ? UInt64(parts[1]) ?? 0 : nil)
    }
  }

  var names: [String] { all.map(\.name) }

  var text: String {
    all.map { column in column.formerSince.map { "\(column.name)\(Self.mark)\($0)" } ?? column.name }
      .joined(separator: String(Self.separator))
  }
}
