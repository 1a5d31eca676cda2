import GodwitBase

/// One step of a migration as data (Specs/migrations.md, "Steps").
package enum SchemaStep: Hashable, Sendable {
  case createTable(TableDefinition)
  case dropTable(String)
  case renameTable(String, to: String)
  /// Old rows get the column's default, or what the derivation makes of another of their columns.
  case addColumn(ColumnDefinition, table: String, from: Derivation?)
  case dropColumn(String, table: String)
  case renameColumn(String, to: String, table: String)
  /// Gives the column of that name another type, nullability, default and check. The rule says what becomes of its
  /// values.
  case changeColumn(ColumnDefinition, table: String, rule: ValueRule)
  case addIndex(IndexDefinition, table: String)
  case dropIndex([String], table: String)
  /// Whether the table's rows travel from now on.
  case setSynced(Bool, table: String)
  case data(DataWork)

  /// A new column's values, from one other column of the same row.
  package struct Derivation: Hashable, Sendable {
    package let column: String
    package let rule: ValueRule

    package init(column: String, rule: ValueRule) {
      self.column = column
      self.rule = rule
    }
  }

  /// How an old value becomes a new one.
  package enum ValueRule: Hashable, Sendable {
    /// As it is, in the storage class of this type. A column without affinity may hold values of one class alone.
    case widen(to: ColumnType)
    /// SQL over the old column's name.
    case expression(String)
  }

  /// A data step, by its name and by what distinguishes its work. The work itself is SQL or code, which never travels.
  package struct DataWork: Hashable, Sendable {
    package static let digestByteCount = 32

    package let name: String
    /// Whether it is code of the program's, which only its name stands for.
    package let isCode: Bool
    /// SHA-256 of the statements, or of the name of code (Specs/migration-forms.md, "Canonical form").
    package let digest: [UInt8]

    package init(name: String, isCode: Bool, digest: [UInt8]) {
      self.name = name
      self.isCode = isCode
      self.digest = digest
    }
  }

  package var isData: Bool { if case .data = self { true } else { false } }

  /// Whether older programs need not know of it: it makes a table, adds a column that is not made of another, or adds
  /// an index that refuses nothing. A column that a function of the program merges needs the program. Every other step
  /// makes its migration a barrier (Specs/migrations.md).
  package var isAddition: Bool {
    switch self {
    case .createTable(let table): !table.columns.contains(where: \.merge.isCustom)
    case .addColumn(let column, _, from: nil): !column.merge.isCustom
    case .addIndex(let index, _): !index.isUnique
    default: false
    }
  }

  /// Refuses rules and checks that are not of the language (Specs/expressions.md). Throws `invalidMigration`.
  func validateExpressions() throws {
    func validate(_ column: ColumnDefinition, of table: String, _ rule: ValueRule?, over source: String) throws {
      let place = "column \(column.name) of table \(table)"
      if let check = column.check { try column.requireExpression(check, "the check of \(place)", .invalidMigration) }
      if case .expression(let text)? = rule {
        try ExpressionLanguage.require(text, over: source, "the rule for \(place)", .invalidMigration)
      }
    }
    switch self {
    case .addColumn(let column, let table, let derivation):
      try validate(column, of: table, derivation?.rule, over: derivation?.column ?? column.name)
    case .changeColumn(let column, let table, let rule): try validate(column, of: table, rule, over: column.name)
    default: break
    }
  }

  /// The name of the table that must be there for the step.
  var subject: String? {
    switch self {
    case .createTable, .data: nil
    case .dropTable(let table), .renameTable(let table, _), .addColumn(_, let table, _), .dropColumn(_, let table),
      .renameColumn(_, _, let table), .changeColumn(_, let table, _), .addIndex(_, let table), .dropIndex(_, let table),
      .setSynced(_, let table):
      table
    }
  }
}

extension SchemaStep {
  /// The table that the step makes.
  var madeTable: String? {
    guard case .createTable(let table) = self else { return nil }
    return table.name
  }
}

extension ColumnDefinition {
  /// The same column with another definition of what it holds; what this step does not speak of stays.
  func changed(to other: ColumnDefinition) -> ColumnDefinition {
    var column = self
    column.type = other.type
    column.isNullable = other.isNullable
    column.defaultValue = other.defaultValue
    column.check = other.check
    return column
  }
}

extension String {
  /// Whether names of tables or columns are one. More are than to SQLite, to which only A to Z are a to z, so that a
  /// schema has no two names that people would take for one.
  package func isSameName(as other: String) -> Bool { lowercased() == other.lowercased() }
}
