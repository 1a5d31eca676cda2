import GodwitBase
import GodwitStorage

/// A query in SQL whose rows become typed values; see ``SQL/reading(_:)``, ``SQL/decoding(_:)`` and
/// ``SQL/rows``.
public struct RawRequest<Element: Sendable>: RunnableRequest {
  private var statement: SQL
  private var negativeLimit: GodwitError?
  /// How a row is read, which may depend on the names of the columns: they are known at the first one.
  private let reading: @Sendable (Statement) throws -> Reading

  package typealias Reading = (Statement) throws -> Element

  init(_ statement: SQL, _ reading: @escaping @Sendable (Statement) throws -> Reading) {
    self.statement = statement
    self.reading = reading
  }

  /// The text as it was given, with its values; throws when one of them cannot be stored, and `invalidArgument` for a
  /// negative limit.
  public var sql: SQL {
    get throws {
      if let failure = statement.failure ?? negativeLimit { throw failure }
      return statement
    }
  }

  /// The same for at most that many rows.
  public func limit(_ count: Int) -> Self {
    var copy = self
    copy.statement = statement.wrapped("SELECT * FROM (", ") LIMIT \(max(0, count))")
    copy.negativeLimit = negativeLimit ?? .negative(count)
    return copy
  }

  /// How Godwit runs it.
  public var request: Request<Element> { Request(self) }

  /// Unknown: the text is not parsed.
  package var tables: Set<String> { [] }

  package func forEach(on connection: Connection, _ sink: RowSink<Element>) throws {
    try connection.readOnly(sql) { statement in
      guard try statement.step() else { return }
      let read = try reading(statement)
      repeat { try sink.take(read(statement)) } while try statement.step()
    }
  }

  package func count(on connection: Connection) throws -> Int {
    return try connection.readOnly(sql.wrapped("SELECT count(*) FROM (", ")")) { statement in
      try statement.step() ? Int(statement.integer(at: 0)) : 0
    }
  }
}

extension SQL {
  /// The rows as values or tuples of column types, in the order of the columns:
  /// `SQL("SELECT title, views FROM note WHERE id = \(id)").reading(String.self, Int.self)`.
  ///
  /// Fetching throws `valueMismatch` when a column holds something else, `invalidArgument` when there are fewer
  /// columns.
  public func reading<each Column: ColumnValue>(_ types: repeat (each Column).Type) -> RawRequest<(repeat each Column)>
  {
    RawRequest(self) { _ in
      return { statement in
        var index: Int32 = -1
        func next<Next: ColumnValue>(_ type: Next.Type) throws -> Next {
          index += 1
          guard index < statement.columnCount else {
            throw GodwitError(.invalidArgument, "the query has \(statement.columnCount) columns, fewer than are read")
          }
          return try .read(from: ColumnReader(ColumnReaderSource(statement, index)))
        }
        return (repeat try next((each Column).self))
      }
    }
  }

  /// The rows as values of a Decodable type, whose coding keys name columns. Slower than ``reading(_:)``: about a
  /// microsecond a column.
  ///
  /// Numbers, texts and blobs decode as themselves, dates as Godwit stores them, any other nested type from JSON text.
  /// Fetching throws `valueMismatch` that names the column.
  public func decoding<Element: Decodable & Sendable>(_ type: Element.Type) -> RawRequest<Element> {
    RawRequest(self) { statement in
      let columns = statement.columnNames
      return { try $0.row(columns).decode(type) }
    }
  }

  /// The rows as they are, for queries whose columns are not known in advance:
  /// `for try await row in replica.stream(SQL(text: text).rows)`.
  ///
  /// Fetching throws `valueMismatch` for a text that is not UTF-8.
  public var rows: RawRequest<Row> {
    RawRequest(self) { statement in
      let columns = statement.columnNames
      return { try $0.row(columns) }
    }
  }

  fileprivate func wrapped(_ start: String, _ end: String) -> SQL {
    var copy = self
    copy.enclose(start, end)
    return copy
  }
}
