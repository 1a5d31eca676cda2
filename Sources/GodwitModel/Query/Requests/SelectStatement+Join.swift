import GodwitBase

extension SelectStatement {
  /// The statement with its model's columns named one by one, so that others can stand beside them.
  func qualified<Root: Model>(_ type: Root.Type) -> Self {
    var copy = self
    copy.isQualified = true
    copy.columns = Fields<Root>().columns
    return copy
  }

  /// The fields of a model that is about to be joined, under a name that is free.
  func fields<Other: Model>(of type: Other.Type) -> Fields<Other> {
    let table = Other.schema.table
    guard tables.contains(table) else { return Fields() }
    let number = (2...).first { !tables.contains("\(table)_\($0)") } ?? 2
    return Fields(alias: "\(table)_\(number)")
  }

  func joining<Other: Model>(_ other: Fields<Other>, _ word: String, on condition: SQLExpression<Bool>) -> Self {
    var copy = self
    copy.columns += other.columns
    copy.tables.formUnion([other.name, Other.schema.table])
    copy.arms = arms.map { arm in
      var arm = arm
      arm.source += [.text(" \(word) \(other.source) ON ")] + condition.parts
      return arm
    }
    return copy
  }

  /// Two tables joined one after the other, and the fields of all three.
  func joining<Root: Model, Second: Model, Third: Model>(
    _ word: String, on first: (Fields<Root>, Fields<Second>) -> SQLExpression<Bool>,
    on condition: (Fields<Root>, Fields<Second>, Fields<Third>) -> SQLExpression<Bool>
  ) -> (SelectStatement, (Fields<Root>, Fields<Second>, Fields<Third>)) {
    let (start, root) = (qualified(Root.self), Fields<Root>())
    let second = start.fields(of: Second.self)
    let two = start.joining(second, word, on: first(root, second))
    let third = two.fields(of: Third.self)
    return (two.joining(third, word, on: condition(root, second, third)), (root, second, third))
  }

  /// The other table first and this one joined to it; the columns stay in the order of the places. What filters this
  /// one belongs to the join then: after it, it would take away the other table's rows that are alone.
  func turned<Root: Model, Other: Model>(
    _ other: Fields<Other>, _ own: Fields<Root>, on condition: SQLExpression<Bool>
  ) -> Self {
    var copy = self
    copy.columns += other.columns
    copy.tables.formUnion([other.name, Other.schema.table])
    let match = filter.map { condition && $0 } ?? condition
    copy.filter = nil
    copy.arms = [Arm(source: [.text("\(other.source) LEFT JOIN \(own.source) ON ")] + match.parts)]
    return copy
  }
}

extension Fields {
  /// What the table is called in the statement.
  var name: String { alias ?? Root.schema.table }

  /// The table as FROM names it.
  var source: String {
    let table = SQLName.quoted(Root.schema.table)
    return alias.map { "\(table) AS \(SQLName.quoted($0))" } ?? table
  }

  var columns: [[SQLPart]] { Root.schema.columns.map { [.column(table: name, name: $0.name)] } }
}
