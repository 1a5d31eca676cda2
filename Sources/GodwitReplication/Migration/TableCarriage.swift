import GodwitBase

/// Where a change set's table and columns stand at another schema version: found step by step, forward or back, by name
/// alone. What a version does not have is named, so that it can wait.
package struct TableCarriage: Sendable {
  package enum Fate: Hashable, Sendable {
    /// It is called so.
    case here(String)
    /// A step dropped it on the way: what is written to it is nobody's any more.
    case dropped
    /// The version does not have it yet.
    case unknown(String)
  }

  /// A column that a value goes to.
  package struct Target: Hashable, Sendable {
    package var name: String
    package var conversions: [Conversion] = []
    /// Whether the version does not have it yet.
    package var isUnknown = false
  }

  /// A column that inserts from before it was added do not name.
  package struct Addition: Hashable, Sendable {
    package var name: String
    package let value: Value
    package var conversions: [Conversion] = []

    package init(name: String, value: Value, conversions: [Conversion] = []) {
      (self.name, self.value, self.conversions) = (name, value, conversions)
    }
  }

  package private(set) var fate: Fate
  /// Where the values of each column of the change set go, in its order; nowhere when it was dropped.
  package private(set) var columns: [[Target]]
  package private(set) var additions: [Addition] = []
  /// Of each column, whether updates say what they add to it or take away.
  private let isRelative: [Bool]

  package init(_ table: ChangeSet.Table) {
    isRelative = table.columns.map(\.isRelative)
    fate = .here(table.name)
    columns = table.columns.map { [Target(name: $0.name)] }
  }

  private func isHere(_ table: String) -> Bool {
    if case .here(let name) = fate { name.isSameName(as: table) } else { false }
  }

  /// Goes over a step that was made after the change.
  package mutating func carryForward(_ step: SchemaStep) {
    switch step {
    case .dropTable(let table) where isHere(table): fate = .dropped
    case .setSynced(false, let table) where isHere(table): fate = .dropped
    case .renameTable(let table, let newName) where isHere(table): fate = .here(newName)
    case .addColumn(let column, let table, let derivation) where isHere(table): add(column, derivation)
    case .dropColumn(let name, let table) where isHere(table):
      for index in columns.indices { columns[index].removeAll { $0.name.isSameName(as: name) } }
      additions.removeAll { $0.name.isSameName(as: name) }
    case .renameColumn(let name, let newName, let table) where isHere(table): rename(name, to: newName)
    case .changeColumn(let column, let table, let rule) where isHere(table):
      let conversion = Conversion(name: column.name, rule, to: column)
      forEachTarget(column.name) { $0.conversions.append(conversion) }
      for index in additions.indices where additions[index].name.isSameName(as: column.name) {
        additions[index].conversions.append(conversion)
      }
    default: break
    }
  }

  private mutating func add(_ column: ColumnDefinition, _ derivation: SchemaStep.Derivation?) {
    let isKnown = columns.contains { $0.contains { $0.name.isSameName(as: column.name) } }
    guard !isKnown else { return }
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

  /// Goes back over a step that the change's author had made and this version has not. To go back to version 0, which
  /// says nothing of its tables, leaves every table what it was.
  package mutating func carryBack(_ step: SchemaStep, toUnversioned: Bool) {
    switch step {
    case .createTable(let table) where isHere(table.name) && !toUnversioned: fate = .unknown("table \(table.name)")
    case .setSynced(true, let table) where isHere(table): fate = .unknown("table \(table)")
    case .renameTable(let oldName, let table) where isHere(table): fate = .here(oldName)
    case .addColumn(let column, let table, let derivation) where isHere(table):
      forEachTarget(column.name) { $0.isUnknown = true }
      // This version would take the value for one that the new column is still to be derived from.
      if let derivation { forEachTarget(derivation.column) { $0.isUnknown = true } }
    case .renameColumn(let oldName, let name, let table) where isHere(table): rename(name, to: oldName)
    case .changeColumn(let column, let table, _) where isHere(table):
      // Of a counter or set only the default and the check are others now.
      forEachTarget(column.name, ofRelative: false) { $0.isUnknown = true }
    default: break
    }
  }

  private mutating func rename(_ name: String, to newName: String) {
    forEachTarget(name) { $0.name = newName }
    for index in additions.indices where additions[index].name.isSameName(as: name) { additions[index].name = newName }
  }

  private mutating func forEachTarget(
    _ name: String, ofRelative includesRelative: Bool = true, _ body: (inout Target) -> Void
  ) {
    for column in columns.indices where includesRelative || !isRelative[column] {
      for place in columns[column].indices
      where columns[column][place].name.isSameName(as: name) && !columns[column][place].isUnknown {
        body(&columns[column][place])
      }
    }
  }
}
