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
/// A join is joined with further models in turn, see ``JoinedRows``.
///
/// A table that is joined twice is called by its name and a number in the SQL; its fields know.
public struct Join<each Place: JoinPlace>: Sendable {
  private(set) var statement: SelectStatement
  private var written = WrittenSQL()
  let fields: (repeat (each Place).Columns)

  init(_ statement: SelectStatement, _ fields: (repeat Fields<(each Place).Source>)) {
    self.statement = statement
    self.fields = (repeat (each Place).reading.columns(each fields))
  }

  private init(_ statement: SelectStatement, columns: (repeat (each Place).Columns)) {
    self.statement = statement
    fields = columns
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
    with { $0.orders += orders(repeat each fields).flatMap(\.terms) }
  }

  /// Only rows that meet the condition of a query of one of the models, and in its order.
  func matching(_ query: SelectStatement) -> Self {
    with { statement in
      if let filter = query.filter { statement.add(filter) }
      statement.orders += query.orders
    }
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

  /// With one more place, joined by the word.
  func adding<New: JoinPlace>(
    _ place: New.Type, _ word: String, _ added: Fields<New.Source>, on condition: SQLExpression<Bool>
  ) -> Join<repeat each Place, New> {
    Join<repeat each Place, New>(
      statement.joining(added, word, on: condition), columns: (repeat each fields, New.reading.columns(added)))
  }

  /// One column or expression instead of whole rows.
  public func select<Value: ColumnValue>(
    _ body: (repeat (each Place).Columns) -> SQLExpression<Value>
  ) -> Selection<Value> {
    statement.selecting(body(repeat each fields))
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

  package func forEach(on connection: Connection, _ sink: RowSink<(repeat (each Place).Output)>) throws {
    let readings = (repeat (each Place).reading)
    try connection.forEach(sql) { statement in
      var first: Int32 = 0
      func next<Source, Output, Columns>(_ reading: JoinReading<Source, Output, Columns>) throws -> Output {
        defer { first += reading.width }
        return try reading.read(statement, first)
      }
      try sink.take((repeat try next(each readings)))
    }
  }
}
