import Foundation
import GodwitBase
import GodwitModel
import GodwitCore

extension MigrationFile.Step {
  init(_ draft: StepDraft) {
    switch draft.step {
    case .createTable(let table):
      self.init(step: "createTable", table: table.name)
      definitions = table.columns.map(MigrationFile.Column.init)
      keyCount = table.keyCount
      synced = table.isSynced
      numbersKeys = table.numbersKeys ? true : nil
      deletes = table.deletes == .editWins ? nil : "\(table.deletes)"
      indexes = table.indexes.map { MigrationFile.Index(columns: $0.columns, unique: $0.isUnique) }
    case .dropTable(let name): self.init(step: "dropTable", table: name)
    case .renameTable(let name, let newName): self.init(step: "renameTable", table: name, to: newName)
    case .addColumn(let column, let table, let derivation):
      self.init(step: "addColumn", table: table, definition: MigrationFile.Column(column), from: derivation?.column)
      if let derivation { set(derivation.rule) }
    case .dropColumn(let name, let table): self.init(step: "dropColumn", table: table, column: name)
    case .renameColumn(let name, let newName, let table):
      self.init(step: "renameColumn", table: table, to: newName, column: name)
    case .changeColumn(let column, let table, let rule):
      self.init(step: "changeColumn", table: table, definition: MigrationFile.Column(column))
      set(rule)
    case .addIndex(let index, let table):
      self.init(step: "addIndex", table: table, columns: index.columns, unique: index.isUnique)
    case .dropIndex(let columns, let table): self.init(step: "dropIndex", table: table, columns: columns)
    case .setSynced(let isSynced, let table): self.init(step: isSynced ? "startSync" : "stopSync", table: table)
    case .data(let data):
      self.init(step: "data", name: data.name)
      switch draft.work {
      case _ where data.isCode: code = true
      case .sql(let sql)?:
        statements = sql.map { sql in
          MigrationFile.Statement(
            sql: sql.text, values: sql.values.isEmpty ? nil : sql.values.map(MigrationFile.Constant.init))
        }
      case .code?, nil: sha256 = Hexadecimal.encode(data.digest)
      }
    }
  }

  private mutating func set(_ rule: SchemaStep.ValueRule) {
    switch rule {
    case .widen(let type): `as` = "\(type)"
    case .expression(let text): by = text
    }
  }

  func draft() throws -> StepDraft {
    step == "data" ? try dataDraft() : StepDraft(try schemaStep())
  }

  private func schemaStep() throws -> SchemaStep {
    switch step {
    case "createTable":
      return .createTable(
        try TableDefinition(
          name: need(table, "table"), keyCount: keyCount ?? 1,
          columns: try need(definitions, "definitions").map { try $0.columnDefinition() },
          indexes: (indexes ?? []).map { IndexDefinition(columns: $0.columns, isUnique: $0.unique) },
          isSynced: synced ?? true, numbersKeys: numbersKeys ?? false, deletes: try deletePolicy()))
    case "dropTable": return .dropTable(try need(table, "table"))
    case "renameTable": return .renameTable(try need(table, "table"), to: try need(to, "to"))
    case "addColumn":
      let column = try need(definition, "definition").columnDefinition()
      let derivation = try from.map { SchemaStep.Derivation(column: $0, rule: try rule(for: column)) }
      guard from != nil || by == nil && `as` == nil else { throw MigrationFile.malformed("addColumn lacks from") }
      return .addColumn(column, table: try need(table, "table"), from: derivation)
    case "dropColumn": return .dropColumn(try need(column, "column"), table: try need(table, "table"))
    case "renameColumn":
      return .renameColumn(try need(column, "column"), to: try need(to, "to"), table: try need(table, "table"))
    case "changeColumn":
      let column = try need(definition, "definition").columnDefinition()
      return .changeColumn(column, table: try need(table, "table"), rule: try rule(for: column))
    case "addIndex":
      let index = IndexDefinition(columns: try need(columns, "columns"), isUnique: unique ?? false)
      return .addIndex(index, table: try need(table, "table"))
    case "dropIndex": return .dropIndex(try need(columns, "columns"), table: try need(table, "table"))
    case "startSync": return .setSynced(true, table: try need(table, "table"))
    case "stopSync": return .setSynced(false, table: try need(table, "table"))
    default: throw MigrationFile.malformed("there is no step \(step)")
    }
  }

  private func deletePolicy() throws -> DeletePolicy {
    guard let deletes else { return .editWins }
    guard let policy = DeletePolicy.allCases.first(where: { "\($0)" == deletes }) else {
      throw MigrationFile.malformed("there is no delete policy \(deletes)")
    }
    return policy
  }

  private func dataDraft() throws -> StepDraft {
    let name = try need(name, "name")
    switch (statements ?? [], code ?? false, sha256) {
    case (let statements, false, nil) where !statements.isEmpty:
      let work = DataStepWork.sql(
        try statements.map { SQL(text: $0.sql, values: try ($0.values ?? []).map { try $0.value() }) })
      return StepDraft(.data(try work.step(named: name)), work: work)
    case (let statements, true, nil) where statements.isEmpty:
      return StepDraft(
        .data(SchemaStep.DataWork(name: name, isCode: true, digest: SchemaStep.DataWork.digest(ofCode: name))))
    case (let statements, false, let digits?) where statements.isEmpty:
      guard let digest = Hexadecimal.decode(digits), digest.count == SchemaStep.DataWork.digestByteCount else {
        throw MigrationFile.malformed("the sha256 of a data step is not 64 hexadecimal digits")
      }
      return StepDraft(.data(SchemaStep.DataWork(name: name, isCode: false, digest: digest)))
    default: throw MigrationFile.malformed("a data step has either statements, code or sha256")
    }
  }

  private func rule(for column: ColumnDefinition) throws -> SchemaStep.ValueRule {
    if let by {
      guard `as` == nil else { throw MigrationFile.malformed("\(step) has both by and as") }
      return .expression(by)
    }
    return .widen(to: try `as`.map(ColumnType.init(named:)) ?? column.type)
  }

  private func need<Content>(_ value: Content?, _ name: String) throws -> Content {
    guard let value else { throw MigrationFile.malformed("\(step) lacks \(name)") }
    return value
  }
}

extension MigrationFile.Column {
  init(_ column: ColumnDefinition) {
    name = column.name
    type = "\(column.type)"
    optional = column.isNullable ? true : nil
    `default` = column.defaultValue.map(MigrationFile.Constant.init)
    references = column.reference.map { reference in
      MigrationFile.Reference(
        table: reference.table, onDelete: "\(reference.onDelete)", acyclic: reference.isAcyclic ? true : nil)
    }
    check = column.check
    merge = column.merge == .lastWriterWins ? nil : column.merge.name
  }

  func columnDefinition() throws -> ColumnDefinition {
    let reference = try references.map { reference in
      guard let action = DeleteAction.allCases.first(where: { "\($0)" == reference.onDelete }) else {
        throw MigrationFile.malformed("there is no action \(reference.onDelete)")
      }
      return Reference(table: reference.table, onDelete: action, isAcyclic: reference.acyclic ?? false)
    }
    guard let policy = MergePolicy(name: merge ?? MergePolicy.lastWriterWins.name) else {
      throw MigrationFile.malformed("there is no merge policy \(merge ?? "")")
    }
    return ColumnDefinition(
      name: name, type: try ColumnType(named: type), isNullable: optional ?? false,
      // No default and NULL are one, and have one checksum.
      defaultValue: try `default`.flatMap { try $0.value() == .null ? nil : try $0.value() }, reference: reference,
      check: check,
      merge: policy)
  }
}

extension ColumnType {
  fileprivate init(named name: String) throws {
    guard let type = Self.allCases.first(where: { "\($0)" == name }) else {
      throw MigrationFile.malformed("there is no type \(name)")
    }
    self = type
  }
}

extension MigrationFile.Constant {
  init(_ value: Value) {
    switch value {
    case .null: break
    case .integer(let number): integer = "\(number)"
    case .real(let number): real = "\(number)"
    case .text(let string): text = string
    case .blob(let bytes): blob = Hexadecimal.encode(bytes)
    }
  }

  func value() throws -> Value {
    let values: [Value?] = [
      try integer.map { text in
        guard let number = Int64(text) else { throw MigrationFile.malformed("an integer") }
        return .integer(number)
      },
      try real.map { text in
        guard let number = Double(text), !number.isNaN else { throw MigrationFile.malformed("a real") }
        return .real(number)
      },
      text.map { .text($0) },
      try blob.map { text in
        guard let bytes = Hexadecimal.decode(text) else { throw MigrationFile.malformed("a blob") }
        return .blob(bytes)
      },
    ]
    let given = values.compactMap { $0 }
    guard given.count <= 1 else { throw MigrationFile.malformed("a constant of several storage classes") }
    return given.first ?? .null
  }
}
