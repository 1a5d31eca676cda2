import GodwitBase

extension SchemaDraft.Table {
  /// Whether rows must be written anew, and not only columns added behind the others.
  package func needsRebuild(of before: TableDefinition) -> Bool {
    guard definition.name == before.name, before.columns.count <= definition.columns.count else { return true }
    let kept = zip(before.columns, zip(definition.columns, sources)).allSatisfy { old, new in
      old == new.0 && new.1 == SchemaDraft.Source(column: old.name)
    }
    let added = zip(definition.columns, sources).dropFirst(before.columns.count)
    return !kept
      || !added.allSatisfy { column, source in
        source.column == nil && source.conversions.isEmpty && column.isAddable
      }
  }

  private func number(of name: String) throws -> Int {
    guard let number = definition.columns.firstIndex(where: { $0.name.isSameName(as: name) }) else {
      throw SchemaDraft.invalid("table \(definition.name) has no column \(name)")
    }
    return number
  }

  /// A column that is there already, made by a program without migrations or taken over from another replica, is the
  /// one meant when it is the same.
  mutating func add(_ column: ColumnDefinition, from derivation: SchemaStep.Derivation?) throws {
    if derivation == nil, definition.columns.contains(column) { return }
    guard !definition.columns.contains(where: { $0.name.isSameName(as: column.name) }) else {
      throw SchemaDraft.invalid("table \(definition.name) has a column \(column.name) already")
    }
    guard let derivation else {
      guard column.isAddable else {
        throw SchemaDraft.invalid(
          "column \(column.name) of table \(definition.name) is not optional and has no default for the rows there are")
      }
      guard column.reference == nil || column.isNullable && column.defaultValue == nil else {
        throw SchemaDraft.invalid(
          "column \(column.name) of table \(definition.name) refers to another table, "
            + "and the rows there are would refer to nothing", hint: "make it optional, without a default")
      }
      try checkIsNeutral(column)
      definition.columns.append(column)
      sources.append(SchemaDraft.Source(value: column.defaultValue ?? .null))
      return
    }
    guard column.isAddable else {
      throw SchemaDraft.invalid(
        "column \(column.name) of table \(definition.name) is not optional and has no default "
          + "for what the rule has no value for",
        hint: "nothing was altered; make it optional, or give it a default")
    }
    let source = try number(of: derivation.column)
    guard source >= definition.keyCount else {
      throw SchemaDraft.invalid(
        "column \(column.name) of table \(definition.name) cannot be derived from the key",
        hint: "the key never changes: read it from there")
    }
    try checkIsOneWrites(definition.columns[source], "be what another column is derived from")
    try checkIsOneWrites(column, "be derived from another column")
    try checkIsWritten(column)
    try checkWidening(definition.columns[source], to: column, derivation.rule)
    var values = sources[source]
    values.conversions.append(Conversion(name: derivation.column, derivation.rule, to: column))
    definition.columns.append(column)
    sources.append(values)
  }

  private func checkIsNeutral(_ column: ColumnDefinition) throws {
    guard !column.startsNeutral else { return }
    throw SchemaDraft.invalid(
      "column \(column.name) of table \(definition.name) is \(column.merge.kind) and cannot start as anything but "
        + column.merge.neutralStart,
      hint: "nothing was altered; let it start as \(column.merge.neutralStart), and fill it by a data step")
  }

  private func checkWidening(
    _ old: ColumnDefinition, to new: ColumnDefinition, _ rule: SchemaStep.ValueRule
  ) throws {
    guard case .widen(let type) = rule else { return }
    guard type == new.type || new.type == .any else {
      throw SchemaDraft.invalid("column \(new.name) of table \(definition.name) is not made for values of type \(type)")
    }
    guard !Conversion.widens(old.type, to: type) else { return }
    throw SchemaDraft.invalid(
      "a value of type \(old.type) of table \(definition.name) does not become \(new.type) by itself",
      hint: "say how by a SQL expression over \(old.name)")
  }

  /// A row is its key: to change that is to make other rows.
  private func checkIsNotKey(_ number: Int, _ what: String) throws {
    guard number < definition.keyCount else { return }
    throw SchemaDraft.invalid(
      "column \(definition.columns[number].name) is the key of table \(definition.name) and cannot be \(what)",
      hint: "make another table, and fill it by a data step")
  }

  /// Of several writes it is remembered what each brought. A write of a counter or a set says what it adds: no rule
  /// makes a write of the new value of that. Of a choice a rule may put what was brought in another order, so that what
  /// is chosen of the new values is not the new value of what was chosen.
  private func checkIsOneWrites(_ column: ColumnDefinition, _ what: String) throws {
    guard column.merge.isContributed else { return }
    throw SchemaDraft.invalid(
      "column \(column.name) of table \(definition.name) is \(column.merge.kind) and cannot \(what)",
      hint: "nothing was altered; add another column, and fill it by a data step")
  }

  /// Of what was brought to a column with a merge policy, and of a hidden reference, only the column's own rules
  /// know what it was: other values, or fewer, would be judged where the writes arrive later, and not where they are.
  private func checkOnlyLoosens(
    _ old: ColumnDefinition, _ new: ColumnDefinition, _ rule: SchemaStep.ValueRule
  ) throws {
    var loosened = old
    loosened.isNullable = old.isNullable || new.isNullable
    if rule == .widen(to: old.type), old.changed(to: new) == loosened { return }
    let what = old.reference.map { "refers to table \($0.table)" } ?? "is \(old.merge.kind)"
    throw SchemaDraft.invalid(
      "column \(old.name) of table \(definition.name) \(what), and can only become optional",
      hint: "nothing was altered; add another column, and fill it by a data step")
  }

  /// What a rule makes may be a row that is not there, or close a circle: a write is judged for that, a rule is not.
  private func checkIsWritten(_ column: ColumnDefinition) throws {
    guard let reference = column.reference else { return }
    throw SchemaDraft.invalid(
      "column \(column.name) of table \(definition.name) refers to table \(reference.table), "
        + "and cannot be made of another column", hint: "nothing was altered; fill the column by a data step")
  }

  mutating func drop(_ name: String) throws {
    let number = try number(of: name)
    try checkIsNotKey(number, "dropped")
    guard !definition.indexes.contains(where: { index in index.columns.contains { $0.isSameName(as: name) } }) else {
      throw SchemaDraft.invalid("column \(name) of table \(definition.name) has an index", hint: "drop the index first")
    }
    guard definition.columns[number].isAddable else {
      throw SchemaDraft.invalid(
        "column \(name) of table \(definition.name) is not optional and has no default, and cannot be dropped at once",
        hint: "nothing was altered; make it optional by the step change in a migration before")
    }
    definition.columns.remove(at: number)
    sources.remove(at: number)
  }

  mutating func rename(_ name: String, to newName: String) throws {
    let number = try number(of: name)
    guard definition.columns[number].check == nil else {
      throw SchemaDraft.invalid(
        "column \(name) of table \(definition.name) has a check that names it",
        hint: "take the check away by the step change, and give it back after the renaming")
    }
    definition.columns[number].name = newName
    for index in definition.indexes.indices {
      definition.indexes[index].columns = definition.indexes[index].columns.map {
        $0.isSameName(as: name) ? newName : $0
      }
    }
  }

  mutating func change(_ column: ColumnDefinition, _ rule: SchemaStep.ValueRule) throws {
    let number = try number(of: column.name)
    let old = definition.columns[number]
    try checkIsNotKey(number, "changed")
    guard column.merge == .lastWriterWins || column.merge == old.merge else {
      throw SchemaDraft.invalid(
        "column \(column.name) of table \(definition.name) is \(old.merge.kind) and cannot become \(column.merge.kind)",
        hint: "nothing was altered; add another column, and fill it by a data step")
    }
    guard column.isAddable else {
      throw SchemaDraft.invalid(
        "column \(column.name) of table \(definition.name) is not optional and has no default "
          + "for what the rule has no value for",
        hint: "nothing was altered; make it optional, or give it a default")
    }
    if old.merge.isContributed || old.reference != nil { try checkOnlyLoosens(old, column, rule) }
    try checkWidening(old, to: column, rule)
    definition.columns[number] = old.changed(to: column)
    sources[number].conversions.append(Conversion(name: old.name, rule, to: column))
  }
}

extension ColumnDefinition {
  /// Whether ALTER TABLE ADD COLUMN takes it on every version of SQLite.
  fileprivate var isAddable: Bool { isNullable || hasDefault }

  /// Whether something takes the place of NULL.
  fileprivate var hasDefault: Bool { defaultValue ?? .null != .null }
}

extension ColumnDefinition {
  /// Whether rows that are there, and inserts of authors without the column, hold in it what nobody's write has made of
  /// it: only then need such an insert not bring it.
  package var startsNeutral: Bool {
    guard let value = defaultValue, value != .null else { return isNullable || merge == .lastWriterWins }
    return switch merge {
    case .lastWriterWins: true
    case .counter: value == .integer(0)
    case .addWinsSet: value == .text("[]")
    case .maximum, .minimum, .custom: false
    }
  }
}

extension MergePolicy {
  /// What a column that is added starts as, in words.
  package var neutralStart: String {
    switch self {
    case .lastWriterWins: "any value"
    case .counter: "0"
    case .addWinsSet: "the empty set"
    case .maximum, .minimum, .custom: "NULL"
    }
  }

  /// `a counter`.
  fileprivate var kind: String {
    switch self {
    case .lastWriterWins: "merged by the last write"
    case .counter: "a counter"
    case .addWinsSet: "a set"
    case .maximum, .minimum, .custom: "merged by \(name)"
    }
  }
}
