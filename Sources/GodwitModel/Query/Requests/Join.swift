import GodwitBase
import GodwitStorage

/// A place of a join: which model's row stands there, and whether there always is one.
public protocol JoinPlace: Sendable {
  /// The model joined.
  associatedtype Source: Model
  /// Its row, optional where there may be none.
  associatedtype Output: Sendable
  /// What names its columns, which are optional where there may be no row.
  associatedtype Columns: Sendable
  /// How Godwit names its columns and reads its row.
  static var reading: JoinReading<Source, Output, Columns> { get }
}

/// A place that every row of the join fills.
public enum Required<Source: Model>: JoinPlace {
  /// Columns as they are, and the row.
  public static var reading: JoinReading<Source, Source, Fields<Source>> {
    JoinReading(columns: { $0 }, read: { try Source.schema.layout.model($0, from: $1) })
  }
}

/// A place that is nil where the join found no row.
public enum Maybe<Source: Model>: JoinPlace {
  /// Columns that are all optional, and the row or nil.
  public static var reading: JoinReading<Source, Source?, MaybeFields<Source>> {
    JoinReading(columns: { MaybeFields($0) }) { statement, first in
      // A key is never NULL in a row that is there.
      statement.isNull(at: first) ? nil : try Source.schema.layout.model(statement, from: first)
    }
  }
}

/// How a ``JoinPlace`` names its columns and reads its row.
public struct JoinReading<Source: Model, Output: Sendable, Columns: Sendable>: Sendable {
  let columns: @Sendable (Fields<Source>) -> Columns
  /// Reads the current row, from the index of the place's first column on.
  let read: @Sendable (Statement, Int32) throws -> Output
  let width = Int32(Source.schema.columns.count)
}

/// Rows of several models side by side, as a tuple.
///
/// ```swift
/// let filed = Note.join(Folder.self) { $0.folder == $1.id }
/// let rows = try await replica.fetch(filed.where { note, folder in folder.name == "Work" })
/// ```
///
/// A table that is joined twice is called by its name and a number in the SQL; its fields know.
public struct Join<each Place: JoinPlace>: Sendable {
  private var statement: SelectStatement
  private var written = WrittenSQL()
  private let fields: (repeat (each Place).Columns)

  init(_ statement: SelectStatement, _ fields: (repeat Fields<(each Place).Source>)) {
    self.statement = statement
    self.fields = (repeat (each Place).reading.columns(each fields))
  }

  private func with(_ change: (inout SelectStatement) -> Void) -> Self {
    var copy = self
    change(&copy.statement)
    copy.written = WrittenSQL()
    return copy
  }

  /// Rows of the join that also meet the condition. Fields of a row that may be missing are optional.
  public func `where`(
    _ condition: (repeat (each Place).Columns) -> SQLExpression<Bool>
  ) -> Self {
    with { $0.add(condition(repeat each fields)) }
  }

  /// Sorted by expressions, after the orders given before.
  public func order(_ orders: (repeat (each Place).Columns) -> [Ordering]) -> Self {
    with { $0.orders += orders(repeat each fields) }
  }

  /// Without the first rows; works with and without a limit.
  public func offset(_ count: Int) -> Self { with { $0.offset = count } }

  /// One row for each group of rows that hold the same.
  public func group<each Value: ColumnValue>(
    by keys: (repeat (each Place).Columns) -> (repeat SQLExpression<each Value>)
  ) -> Self {
    with { statement in
      for key in repeat each keys(repeat each fields) { statement.groups.append(key.parts) }
    }
  }

  /// Groups that meet the condition, which may use aggregates.
  public func having(_ condition: (repeat (each Place).Columns) -> SQLExpression<Bool>) -> Self {
    with { $0.add(having: condition(repeat each fields)) }
  }

  /// Columns or expressions instead of whole rows.
  public func select<each Value: ColumnValue>(
    _ body: (repeat (each Place).Columns) -> (repeat SQLExpression<each Value>)
  ) -> Selection<(repeat each Value)> {
    statement.selecting(repeat each body(repeat each fields))
  }
}

extension Join: RunnableRequest {
  /// The SELECT that is run, with its bound values; throws as ``FetchRequest/sql`` says.
  public var sql: SQL { get throws { try written.sql { try statement.sql } } }
  /// How Godwit runs it.
  public var request: Request<(repeat (each Place).Output)> { Request(self) }
  /// The same for at most that many rows.
  public func limit(_ count: Int) -> Self { with { $0.limit = count } }

  package var tables: Set<String> { statement.tablesRead }
  package func count(on connection: Connection) throws -> Int { try connection.count(statement.countSQL) }

  package func fetch(on connection: Connection) throws -> [(repeat (each Place).Output)] {
    let readings = (repeat (each Place).reading)
    return try connection.elements(sql) { statement in
      var first: Int32 = 0
      func next<Source, Output, Columns>(_ reading: JoinReading<Source, Output, Columns>) throws -> Output {
        defer { first += reading.width }
        return try reading.read(statement, first)
      }
      return (repeat try next(each readings))
    }
  }
}

extension Query {
  /// Beside each row the rows of another model that meet the condition; rows without any are left out.
  public func join<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Root>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Required<Root>, Required<Other>> {
    let start = statement.qualified(Root.self)
    let added = start.fields(of: other)
    return Join(start.joining(added, "JOIN", on: condition(Fields(), added)), (Fields(), added))
  }

  /// Beside each row the rows of another model that meet the condition, or nil.
  public func leftJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Root>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Required<Root>, Maybe<Other>> {
    let start = statement.qualified(Root.self)
    let added = start.fields(of: other)
    return Join(start.joining(added, "LEFT JOIN", on: condition(Fields(), added)), (Fields(), added))
  }

  /// Beside each row the rows of two further models that meet the conditions; rows without any are left out.
  public func join<Second: Model, Third: Model>(
    _ second: Second.Type, on first: (Fields<Root>, Fields<Second>) -> SQLExpression<Bool>,
    _ third: Third.Type, on condition: (Fields<Root>, Fields<Second>, Fields<Third>) -> SQLExpression<Bool>
  ) -> Join<Required<Root>, Required<Second>, Required<Third>> {
    let (joined, fields) = statement.joining("JOIN", on: first, on: condition)
    return Join(joined, fields)
  }

  /// Beside each row the rows of two further models that meet the conditions, or nil for each.
  public func leftJoin<Second: Model, Third: Model>(
    _ second: Second.Type, on first: (Fields<Root>, Fields<Second>) -> SQLExpression<Bool>,
    _ third: Third.Type, on condition: (Fields<Root>, MaybeFields<Second>, Fields<Third>) -> SQLExpression<Bool>
  ) -> Join<Required<Root>, Maybe<Second>, Maybe<Third>> {
    let (joined, fields) = statement.joining("LEFT JOIN", on: first) { condition($0, MaybeFields($1), $2) }
    return Join(joined, fields)
  }

  /// Every row of the other model, beside the rows of this query that meet the condition, or nil.
  ///
  /// What the query filters is gone before the join; a `where` after the join filters its rows.
  /// SQLite before 3.39 has no RIGHT JOIN: the tables change sides.
  public func rightJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Root>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Maybe<Root>, Required<Other>> {
    let start = statement.qualified(Root.self)
    let added = start.fields(of: other)
    return Join(start.turned(added, Fields<Root>(), on: condition(Fields(), added)), (Fields(), added))
  }

  /// Every row of this query and of the other model: side by side where they meet the condition, alone where none does.
  ///
  /// What the query filters is gone before the join; a `where` after the join filters its rows.
  /// SQLite before 3.39 has no FULL JOIN: a left join, and then the other side's rows that it left out.
  public func fullJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Root>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Maybe<Root>, Maybe<Other>> {
    let start = statement.qualified(Root.self)
    let added = start.fields(of: other)
    let match = condition(Fields(), added)
    var both = start.joining(added, "LEFT JOIN", on: match)
    both.arms[0].condition = both.filter
    both.filter = nil
    let key = SQLPart.column(table: Root.schema.table, name: Root.schema.columns[0].name)
    let isAlone = SQLExpression<Bool>([key, .text(" IS NULL")], .comparison)
    both.arms += start.turned(added, Fields<Root>(), on: match).arms.map {
      .init(source: $0.source, condition: isAlone)
    }
    return Join(both, (Fields(), added))
  }
}

extension Model {
  /// Beside each row the rows of another model that meet the condition; rows without any are left out.
  public static func join<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Self>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Required<Self>, Required<Other>> { all.join(other, on: condition) }

  /// Beside each row the rows of another model that meet the condition, or nil.
  public static func leftJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Self>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Required<Self>, Maybe<Other>> { all.leftJoin(other, on: condition) }

  /// Every row of the other model, beside the rows of this one that meet the condition, or nil.
  public static func rightJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Self>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Maybe<Self>, Required<Other>> { all.rightJoin(other, on: condition) }

  /// Every row of both models: side by side where they meet the condition, alone where none does.
  public static func fullJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Self>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Maybe<Self>, Maybe<Other>> { all.fullJoin(other, on: condition) }
}
