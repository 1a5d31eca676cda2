import GodwitBase

/// Where a change set's table and columns stand at a later schema version: found step by step, by name alone. There is
/// no way back.
package struct TablePath: Sendable {
  /// A column that a value goes to.
  package struct Target: Hashable, Sendable {
    package internal(set) var name: String
    package internal(set) var conversions: [Conversion] = []
  }

  /// A column that inserts from before it was added do not name, and what they write there.
  package struct Addition: Hashable, Sendable {
    package internal(set) var name: String
    package let value: Value
    package internal(set) var conversions: [Conversion] = []
  }

  /// What the table is called; nil once a step has taken it, or its sync, away: then what is written to it is ignored.
  package private(set) var name: String?
  /// Where the values of each column of the change set go, in its order; nowhere when it was dropped.
  package private(set) var columns: [[Target]]
  package private(set) var additions: [Addition] = []

  package init(_ table: ChangeSet.Table) {
    name = table.name
    columns = table.columns.map { [Target(name: $0.name)] }
  }

  private func isHere(_ table: String) -> Bool { name?.isSameName(as: table) ?? false }

  /// Goes over a step that was made after the change.
  package mutating func follow(_ step: SchemaStep) {
    switch step {
    case .createTable(let table) where isHere(table.name): addDefaults(of: table)
    case .dropTable(let table) where isHere(table): name = nil
    case .setSynced(false, let table) where isHere(table): name = nil
    case .renameTable(let table, let newName) where isHere(table): name = newName
    case .addColumn(let column, let table, let derivation) where isHere(table): add(column, derivation)
    case .dropColumn(let name, let table) where isHere(table):
      for index in columns.indices { columns[index].removeAll { $0.name.isSameName(as: name) } }
      additions.removeAll { $0.name.isSameName(as: name) }
    case .renameColumn(let name, let newName, let table) where isHere(table):
      forEachTarget(name) { $0.name = newName }
      for index in additions.indices where additions[index].name.isSameName(as: name) {
        additions[index].name = newName
      }
    case .changeColumn(let column, let table, let rule) where isHere(table):
      let conversion = Conversion(name: column.name, rule, to: column)
      forEachTarget(column.name) { $0.conversions.append(conversion) }
      for index in additions.indices where additions[index].name.isSameName(as: column.name) {
        additions[index].conversions.append(conversion)
      }
    default: break
    }
  }

  /// A change from before the migration that makes its table is of a program that had the table from its models, maybe
  /// with fewer columns: of those its rows hold the defaults, to which later steps come.
  private mutating func addDefaults(of table: TableDefinition) {
    for column in table.columns.dropFirst(table.keyCount) where column.isNullable || column.defaultValue != nil {
      add(column, nil)
    }
  }

  /// A column with a merge policy comes with its neutral value, which an insert need not bring.
  private mutating func add(_ column: ColumnDefinition, _ derivation: SchemaStep.Derivation?) {
    let isKnown = columns.contains { $0.contains { $0.name.isSameName(as: column.name) } }
    guard !isKnown, !column.merge.isContributed else { return }
    guard let derivation else {
      additions.append(Addition(name: column.name, value: column.defaultValue ?? .null))
      return
    }
    let conversion = Conversion(name: derivation.column, derivation.rule, to: column)
    for index in columns.indices {
      for target in columns[index] where target.name.isSameName(as: derivation.column) {
        columns[index].append(Target(name: column.name, conversions: target.conversions + [conversion]))
      }
    }
    if let source = additions.first(where: { $0.name.isSameName(as: derivation.column) }) {
      additions.append(
        Addition(name: column.name, value: source.value, conversions: source.conversions + [conversion]))
    }
  }

  private mutating func forEachTarget(_ name: String, _ body: (inout Target) -> Void) {
    for column in columns.indices {
      for place in columns[column].indices where columns[column][place].name.isSameName(as: name) {
        body(&columns[column][place])
      }
    }
  }
}
