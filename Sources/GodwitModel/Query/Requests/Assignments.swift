import GodwitBase

/// What an update sets, column by column: `$0.views += 1; $0.title = "new"; $0.best = $0.views * 2`.
@dynamicMemberLookup
public struct Assignments<Root: Model> {
  private var assigned: [(column: SQLPart, value: [SQLPart])] = []

  init() {}

  /// The column as it is in the row, and what it is to become.
  public subscript<Property: ColumnValue>(
    dynamicMember keyPath: KeyPath<Root, Property>
  ) -> SQLExpression<Property> {
    get { Fields<Root>()[dynamicMember: keyPath] }
    set {
      let column = Fields<Root>().part(keyPath)
      assigned.append((column, Self.checked(newValue.parts, as: Property._Present.self, in: column)))
    }
  }

  /// Puts the same value into every row's column: `$0.title = "new"`. Nil for a property that is not optional is
  /// `invalidArgument` when the update runs.
  ///
  /// The type is optional so that `+=` of numbers finds the expression and not the value.
  @_disfavoredOverload  // what can be an expression is one
  public subscript<Property: ColumnValue>(dynamicMember keyPath: KeyPath<Root, Property>) -> Property? {
    @available(*, unavailable, message: "an update has expressions of columns, not their values")
    get { nil }
    set {
      let column = Fields<Root>().part(keyPath)
      assigned.append((column, newValue.map { [.stored($0)] } ?? [Self.null(Property.self, column)]))
    }
  }

  private static func null<Property: ColumnValue>(_ type: Property.Type, _ column: SQLPart) -> SQLPart {
    guard !Property.isNullable, case .column(let table, let name) = column else { return .value(.null) }
    return .failure(GodwitError(.invalidArgument, "column \(name) of table \(table) is not optional and cannot be nil"))
  }

  /// What was computed for a property of integers has to be one that it can hold.
  private static func checked(_ value: [SQLPart], as type: Any.Type, in column: SQLPart) -> [SQLPart] {
    guard value.count > 1, let integer = type as? any FixedWidthInteger.Type, case .column(let table, let name) = column
    else { return value }
    let (least, greatest) = bounds(of: integer)
    var parts: [SQLPart] = [.text("CASE WHEN \(IntegerCheck.name)(")] + value
    parts += [.text(", "), .value(.integer(least)), .text(", "), .value(.integer(greatest))]
    parts += [.text(", "), .value(.text(table)), .text(", "), .value(.text(name))]
    for key in Root.schema.columns.prefix(Root.schema.keyCount) {
      parts += [.text(", "), .column(table: table, name: key.name)]
    }
    return parts + [.text(") THEN ")] + value + [.text(" END")]
  }

  private static func bounds<Integer: FixedWidthInteger>(of type: Integer.Type) -> (least: Int64, greatest: Int64) {
    (Int64(clamping: Integer.min), Int64(clamping: Integer.max))
  }

  /// Puts the same value into every row's column.
  public mutating func set<Property: ColumnValue>(_ keyPath: KeyPath<Root, Property>, to value: Property) {
    self[dynamicMember: keyPath] = .value(value)
  }

  /// The value that the column of this name is to hold.
  mutating func set(_ name: String, _ value: Value) {
    let schema = Root.schema
    let column =
      schema.columns.contains { $0.name == name }
      ? SQLPart.column(table: schema.table, name: name)
      : .failure(GodwitError(.notInSchema, "table \(schema.table) has no column \(name)"))
    assigned.append((column, [.value(value)]))
  }

  var isEmpty: Bool { assigned.isEmpty }

  /// SQL sets a column once; of two assignments the first would be lost.
  func check() throws {
    var seen: Set<String> = []
    for case .column(let table, let name) in assigned.map(\.column) where !seen.insert(name).inserted {
      throw GodwitError(
        .invalidArgument, "column \(name) of table \(table) is set twice in one update",
        hint: "write one expression, or two updates")
    }
  }

  var parts: [SQLPart] {
    var parts: [SQLPart] = []
    parts.append(assigned.map { [$0.column, .text(" = ")] + $0.value }, separatedBy: ", ")
    return parts
  }
}

extension Query {
  /// The UPDATE of these rows; nil when there is nothing to set.
  package func update(_ body: (inout Assignments<Root>) -> Void) throws -> SQL? {
    var assignments = Assignments<Root>()
    body(&assignments)
    guard !assignments.isEmpty else { return nil }
    try assignments.check()
    return try changing("UPDATE \(SQLName.quoted(Root.schema.table)) SET ", assignments.parts)
  }

  /// The UPDATE of these rows by column names.
  package func update(_ values: [String: Value]) throws -> SQL? {
    try update { assignments in
      for (name, value) in values.sorted(by: { $0.key < $1.key }) { assignments.set(name, value) }
    }
  }

  /// The DELETE of these rows.
  package var deletion: SQL {
    get throws { try changing("DELETE FROM \(SQLName.quoted(Root.schema.table))", []) }
  }

  /// SQLite's UPDATE and DELETE know no limit and no grouping; a query that has one chooses the rows by their numbers.
  private func changing(_ start: String, _ middle: [SQLPart]) throws -> SQL {
    var parts: [SQLPart] = [.text(start)] + middle
    if statement.isPlain {
      if let filter = statement.filter { parts += [.text(" WHERE ")] + filter.parts }
    } else {
      var rows = statement
      let rowNumber = Fields<Root>.rowNumber
      rows.columns = [[rowNumber]]
      rows.isDistinct = false
      parts += [.text(" WHERE "), rowNumber, .text(" IN (")] + rows.parts + [.text(")")]
    }
    return try SQLRenderer.sql(isQualified: false) { try $0.write(parts) }
  }
}

extension SelectStatement {
  /// Whether the filter alone says which rows there are.
  var isPlain: Bool { limit == nil && offset == nil && groups.isEmpty && having == nil }

  /// Whether it finds every row of its model.
  var isEveryRow: Bool { isPlain && filter == nil }
}
