import GodwitBase

/// A SELECT as data, from which requests differ only in what they select and how they read it.
struct SelectStatement: Sendable {
  /// One arm: where rows come from and which of them. Several arms are one after another (UNION ALL).
  struct Arm: Sendable {
    var source: [SQLPart]
    /// Holds in this arm beside the filter that all arms share.
    var condition: SQLExpression<Bool>?
  }

  var columns: [[SQLPart]]
  var arms: [Arm]
  var tables: Set<String>
  /// Whether columns are named with their table.
  var isQualified = false
  var isDistinct = false
  var filter: SQLExpression<Bool>?
  var groups: [[SQLPart]] = []
  var having: SQLExpression<Bool>?
  var orders: [OrderTerm] = []
  var limit: Int?
  var offset: Int?

  /// All rows of a table.
  init(columnList: String, table: String) {
    columns = [[.text(columnList)]]
    arms = [Arm(source: [.text(SQLName.quoted(table))])]
    tables = [table]
  }

  init(columns: [[SQLPart]], arms: [Arm], tables: Set<String>) {
    self.columns = columns
    self.arms = arms
    self.tables = tables
    isQualified = true
  }

  mutating func add(_ condition: SQLExpression<Bool>) { filter = Self.both(filter, condition) }

  mutating func add(having condition: SQLExpression<Bool>) { having = Self.both(having, condition) }

  var sql: SQL {
    get throws { try SQLRenderer.sql(isQualified: isQualified) { try write(to: &$0) } }
  }

  /// Counts the rows: directly where that is the same, else those of the whole statement.
  var countSQL: SQL {
    get throws {
      var copy = self
      if limit == nil, offset == nil { copy.orders = [] }
      if limit == nil, offset == nil, !isDistinct, groups.isEmpty, having == nil, arms.count == 1,
        !columns.contains(where: \.isAggregate)
      {
        copy.columns = [[.text("count(*)")]]
        return try render(copy.parts)
      }
      return try render([.text("SELECT count(*) FROM (")] + copy.parts + [.text(")")])
    }
  }

  /// The tables it reads; none when an inner statement may read any.
  var tablesRead: Set<String> { parts.contains(where: \.hasStatement) ? [] : tables }

  private func render(_ parts: [SQLPart]) throws -> SQL {
    try SQLRenderer.sql(isQualified: isQualified) { try $0.write(parts) }
  }

  /// Why there is no such statement, inside another one too.
  private var failure: GodwitError? {
    if arms.count > 1, !groups.isEmpty || having != nil || isDistinct || columns.contains(where: \.isAggregate) {
      return GodwitError(
        .invalidArgument, "a full join gives rows; groups, aggregates and distinct rows of it cannot be asked for",
        hint: "ask for them in SQL")
    }
    return .negative(min(limit ?? 0, offset ?? 0))
  }

  /// As a part of another statement.
  var parts: [SQLPart] {
    var parts: [SQLPart] = []
    parts.reserveCapacity(16 + (filter?.parts.count ?? 0))
    write(to: &parts)
    return parts
  }

  private func write<Sink: SQLPartSink>(to sink: inout Sink) throws(Sink.Failure) {
    if let failure { return try sink.add([.failure(failure)]) }
    for (number, arm) in arms.enumerated() {
      if number > 0 { sink.add(" UNION ALL ") }
      try write(arm, to: &sink)
    }
    if !orders.isEmpty {
      sink.add(" ORDER BY ")
      for (number, order) in orders.enumerated() {
        if number > 0 { sink.add(", ") }
        if arms.count == 1 { try sink.add(order.parts) } else { sink.add(orderName(number) + order.direction) }
      }
    }
    if limit != nil || offset != nil {
      sink.add(" LIMIT ")
      try sink.add([.value(.integer(Int64(limit ?? -1)))])
    }
    if let offset {
      sink.add(" OFFSET ")
      try sink.add([.value(.integer(Int64(offset)))])
    }
  }

  private func write<Sink: SQLPartSink>(_ arm: Arm, to sink: inout Sink) throws(Sink.Failure) {
    sink.add(isDistinct ? "SELECT DISTINCT " : "SELECT ")
    try list(columns, to: &sink)
    if arms.count > 1 {
      // A compound sorts only by its columns, so what it is to be sorted by becomes some.
      for (number, order) in orders.enumerated() {
        sink.add(", ")
        try sink.add(order.expression)
        sink.add(" AS " + orderName(number))
      }
    }
    sink.add(" FROM ")
    try sink.add(arm.source)
    if let condition = Self.both(arm.condition, filter) {
      sink.add(" WHERE ")
      try sink.add(condition.parts)
    }
    if !groups.isEmpty {
      sink.add(" GROUP BY ")
      try list(groups, to: &sink)
    }
    if let having {
      sink.add(" HAVING ")
      try sink.add(having.parts)
    }
  }

  private func list<Sink: SQLPartSink>(_ lists: [[SQLPart]], to sink: inout Sink) throws(Sink.Failure) {
    for (number, list) in lists.enumerated() {
      if number > 0 { sink.add(", ") }
      try sink.add(list)
    }
  }

  private func orderName(_ number: Int) -> String { "godwit_order_\(number + 1)" }

  private static func both(_ first: SQLExpression<Bool>?, _ second: SQLExpression<Bool>?) -> SQLExpression<Bool>? {
    guard let first else { return second }
    return second.map { first && $0 } ?? first
  }
}

extension GodwitError {
  /// The error of a limit or offset below 0, or nil.
  package static func negative(_ count: Int) -> GodwitError? {
    guard count < 0 else { return nil }
    return GodwitError(
      .invalidArgument, "a limit or offset of \(count) is negative", hint: "leave it out where there is none")
  }
}
