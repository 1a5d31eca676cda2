import GodwitBase
import GodwitStorage

/// Chosen columns or expressions of a query, one value or tuple a row.
///
/// ```swift
/// let views = try await replica.fetch(Note.all.group(by: \.folder).select { ($0.folder, $0.views.sum()) })
/// ```
public struct Selection<Output: Sendable>: Sendable {
  private(set) var statement: SelectStatement
  private var written = WrittenSQL()
  private let read: @Sendable (Statement) throws -> Output

  init(_ statement: SelectStatement, _ read: @escaping @Sendable (Statement) throws -> Output) {
    self.statement = statement
    self.read = read
  }

  private func with(_ change: (inout SelectStatement) -> Void) -> Self {
    var copy = self
    change(&copy.statement)
    copy.written = WrittenSQL()
    return copy
  }

  /// Each different row once.
  public func distinct() -> Self { with { $0.isDistinct = true } }
  /// Without the first rows; works with and without a limit.
  public func offset(_ count: Int) -> Self { with { $0.offset = count } }

  /// Each row made into something else, such as a struct of the program's own.
  public func map<Result: Sendable>(_ transform: @escaping @Sendable (Output) throws -> Result) -> Selection<Result> {
    Selection<Result>(statement) { [read] in try transform(read($0)) }
  }
}

extension Selection: RunnableRequest {
  /// The SELECT that is run, with its bound values; throws as ``FetchRequest/sql`` says.
  public var sql: SQL { get throws { try written.sql { try statement.sql } } }
  /// How Godwit runs it.
  public var request: Request<Output> { Request(self) }
  /// The same for at most that many rows.
  public func limit(_ count: Int) -> Self { with { $0.limit = count } }

  package var tables: Set<String> { statement.tablesRead }
  package func forEach(on connection: Connection, _ sink: RowSink<Output>) throws {
    try connection.forEach(sql) { try sink.take(read($0)) }
  }
  package func count(on connection: Connection) throws -> Int { try connection.count(statement.countSQL) }
}

extension Query {
  /// One column or expression instead of whole rows: `select { $0.title }`.
  public func select<Value: ColumnValue>(_ body: (Fields<Root>) -> SQLExpression<Value>) -> Selection<Value> {
    statement.selecting(body(Fields()))
  }

  /// Columns or expressions instead of whole rows, one value or a tuple a row: `select { ($0.title, $0.views) }`.
  public func select<each Value: ColumnValue>(
    _ body: (Fields<Root>) -> (repeat SQLExpression<each Value>)
  ) -> Selection<(repeat each Value)> {
    statement.selecting(repeat each body(Fields()))
  }
}

extension Model {
  /// One column or expression of every row: `Note.select { $0.title }`.
  public static func select<Value: ColumnValue>(_ body: (Fields<Self>) -> SQLExpression<Value>) -> Selection<Value> {
    all.select(body)
  }

  /// Columns or expressions of every row, one value or a tuple a row: `Note.select { ($0.title, $0.views) }`.
  public static func select<each Value: ColumnValue>(
    _ body: (Fields<Self>) -> (repeat SQLExpression<each Value>)
  ) -> Selection<(repeat each Value)> {
    all.select(body)
  }
}

extension SelectStatement {
  func selecting<each Value: ColumnValue>(
    _ expressions: repeat SQLExpression<each Value>
  ) -> Selection<(repeat each Value)> {
    var copy = self
    copy.columns = []
    for expression in repeat each expressions { copy.columns.append(expression.parts) }
    return Selection(copy) { statement in
      var index: Int32 = -1
      func next<Next: ColumnValue>(_ type: Next.Type) throws -> Next {
        index += 1
        return try .read(from: ColumnReader(ColumnReaderSource(statement, index)))
      }
      return (repeat try next((each Value).self))
    }
  }
}
