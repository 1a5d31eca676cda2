import GodwitBase

/// What tables become by the steps of a migration, and where each of their columns comes from. Nothing is done yet.
package struct SchemaDraft: Sendable {
  /// A column's values: those of a column that was there, or one value for all rows; converted one after another.
  package struct Source: Hashable, Sendable {
    /// The column's name before.
    package var column: String?
    package var value: Value = .null
    package var conversions: [Conversion] = []
  }

  package struct Table: Hashable, Sendable {
    package internal(set) var definition: TableDefinition
    /// Its name before, or nil for a table that is new.
    package let origin: String?
    /// By column number.
    package internal(set) var sources: [Source]

    /// What columns were called before; those that are new, or made of others, as they are called now.
    func origins(of columns: [String]) -> [String] {
      columns.map { name in
        guard let number = definition.columns.firstIndex(where: { $0.name.isSameName(as: name) }),
          sources[number].conversions.isEmpty
        else { return name }
        return sources[number].column ?? name
      }
    }
  }

  package private(set) var tables: [Table]
  /// Tables that are to go, by their names before.
  package private(set) var dropped: [String] = []

  /// The tables before the first step.
  let definitionsBefore: [TableDefinition]

  package init(_ definitions: [TableDefinition]) {
    definitionsBefore = definitions
    tables = definitions.map { definition in
      Table(
        definition: definition, origin: definition.name,
        sources: definition.columns.map { Source(column: $0.name) })
    }
  }

  /// Throws `invalidMigration` for a step that these tables cannot go through.
  package mutating func apply(_ step: SchemaStep) throws {
    if let name = step.subject ?? step.madeTable, name.lowercased().hasPrefix(CollectionTable.prefix) {
      throw Self.invalid(
        "table \(name) is, or would be, a collection of documents, which no migration makes or changes",
        hint: "nothing was altered; leave the step out")
    }
    switch step {
    case .createTable(let definition): try create(definition)
    case .dropTable(let name):
      let table = tables.remove(at: try index(of: name))
      if let origin = table.origin { dropped.append(origin) }
      let referring = tables.first { $0.definition.refers(to: name) }
      if let referring {
        throw Self.invalid("table \(name) cannot be dropped: table \(referring.definition.name) refers to it")
      }
    case .renameTable(let name, let newName): try rename(name, to: newName)
    case .addColumn(let column, let table, let derivation):
      try edit(table) { try $0.add(column, from: derivation) }
    case .dropColumn(let name, let table): try edit(table) { try $0.drop(name) }
    case .renameColumn(let name, let newName, let table): try edit(table) { try $0.rename(name, to: newName) }
    case .changeColumn(let column, let table, let rule):
      try edit(table) { try $0.change(column, rule) }
    case .addIndex(let index, let table):
      let before = try before(table)
      try edit(table) { table in
        guard !table.definition.indexes.contains(where: { $0.covers(index.columns) }) else {
          throw Self.invalid("table \(table.definition.name) has an index of these columns already")
        }
        let origins = table.origins(of: index.columns)
        try Self.checkIsLasting(before?.indexes.contains { $0.covers(origins) && $0.isUnique == index.isUnique })
        table.definition.indexes.append(index)
      }
    case .dropIndex(let columns, let table):
      try edit(table) { table in
        guard let place = table.definition.indexes.firstIndex(where: { $0.covers(columns) }) else {
          throw Self.invalid("table \(table.definition.name) has no index (\(columns.joined(separator: ", ")))")
        }
        table.definition.indexes.remove(at: place)
      }
    case .setSynced(let isSynced, let name):
      let index = try index(of: name)
      guard tables[index].definition.isSynced != isSynced else {
        throw Self.invalid("table \(tables[index].definition.name) is \(isSynced ? "synced already" : "not synced")")
      }
      try Self.checkIsLasting(before(name)?.isSynced == isSynced)
      tables[index].definition.isSynced = isSynced
      try tables[index].definition.validate()
    case .data: break
    }
  }

  /// What a table was before the first step; nil for one that is new.
  private func before(_ name: String) throws -> TableDefinition? {
    let origin = tables[try index(of: name)].origin
    return definitionsBefore.first { $0.name == origin }
  }

  /// Two steps that come to nothing leave the rows alone, and changes that arrive later go through both.
  private static func checkIsLasting(_ isTakenBack: Bool?) throws {
    guard isTakenBack == true else { return }
    throw invalid("a step takes back what an earlier one of the same migration did", hint: "leave out both")
  }

  /// Whether the tables that the step speaks of are among these, or are made by it.
  package func knows(_ step: SchemaStep) -> Bool {
    guard let name = step.subject else { return true }
    return tables.contains { $0.definition.name.isSameName(as: name) }
  }

  /// Has the tables here refer to a table that is not among them by its new name.
  package mutating func followRename(_ step: SchemaStep) {
    guard case .renameTable(let name, let newName) = step else { return }
    for table in tables.indices { tables[table].definition.retarget(name, to: newName) }
  }

  private func index(of name: String) throws -> Int {
    guard let index = tables.firstIndex(where: { $0.definition.name.isSameName(as: name) }) else {
      throw Self.invalid(
        "there is no table \(name)",
        hint:
          "nothing was altered; make it by the step create; if no migration makes it, take in a file of the group first"
      )
    }
    return index
  }

  /// A table that is there already, made by a program without migrations or taken over from another replica, is the one
  /// meant when it is the same.
  private mutating func create(_ definition: TableDefinition) throws {
    if let index = try? index(of: definition.name) {
      guard tables[index].definition.hasSameContent(as: definition) else {
        throw Self.invalid("there is a table \(definition.name) already, and it is another one")
      }
      return
    }
    let sources = definition.columns.map { Source(value: $0.defaultValue ?? .null) }
    tables.append(Table(definition: definition, origin: nil, sources: sources))
  }

  private mutating func rename(_ name: String, to newName: String) throws {
    let index = try index(of: name)
    let isTaken = tables.indices.contains { $0 != index && tables[$0].definition.name.isSameName(as: newName) }
    guard !isTaken else { throw Self.invalid("there is a table \(newName) already") }
    tables[index].definition.name = newName
    for table in tables.indices { tables[table].definition.retarget(name, to: newName) }
    try tables[index].definition.validate()
  }

  private mutating func edit(_ name: String, _ body: (inout Table) throws -> Void) throws {
    let index = try index(of: name)
    try body(&tables[index])
    try tables[index].definition.validate()
  }

  /// Whether a table that was there goes, or is made anew.
  package func replaces(_ definition: TableDefinition) -> Bool {
    guard let table = tables.first(where: { $0.origin == definition.name }) else { return true }
    return table.needsRebuild(of: definition)
  }

  /// The tables that travel or stay from now on, by their definitions then and before.
  package var syncChanges: (started: [TableDefinition], stopped: [TableDefinition]) {
    let old = Dictionary(definitionsBefore.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let changed = tables.compactMap { table in
      table.origin.flatMap { old[$0] }.map { (now: table.definition, before: $0) }
    }.filter { $0.now.isSynced != $0.before.isSynced }
    return (changed.filter(\.now.isSynced).map(\.now), changed.filter(\.before.isSynced).map(\.before))
  }

  package static func invalid(_ what: String, hint: String? = nil) -> GodwitError {
    GodwitError(.invalidMigration, what, hint: hint ?? "nothing was altered; change the migration")
  }
}

extension TableDefinition {
  fileprivate func refers(to table: String) -> Bool {
    columns.contains { $0.reference?.table.isSameName(as: table) ?? false }
  }

  fileprivate mutating func retarget(_ name: String, to newName: String) {
    for column in columns.indices {
      guard let reference = columns[column].reference, reference.table.isSameName(as: name) else { continue }
      columns[column].reference = reference.retargeted(to: newName)
    }
  }

  /// The same columns and indexes, in whatever order those beside the key stand.
  fileprivate func hasSameContent(as other: TableDefinition) -> Bool {
    keyCount == other.keyCount && columns.prefix(keyCount) == other.columns.prefix(keyCount)
      && Set(columns) == Set(other.columns) && Set(indexes) == Set(other.indexes) && isSynced == other.isSynced
      && numbersKeys == other.numbersKeys && deletes == other.deletes
  }
}

extension IndexDefinition {
  fileprivate func covers(_ names: [String]) -> Bool {
    columns.map { $0.lowercased() } == names.map { $0.lowercased() }
  }
}
