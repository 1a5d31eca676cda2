import Godwit
import ToolSupport

/// How rows are written.
enum RowFormat: String, CaseIterable, Sendable {
  case table, json, csv, line
}

/// What a query has found.
enum RowsFound: Sendable {
  case none
  /// What has been printed as it came, and is not held.
  case printed
  /// A table is as wide as what is in it, so all of it is read first.
  case listing(RowListing)

  /// Runs a statement that only reads.
  static func of(
    _ sql: SQL, _ replica: Replica, as format: RowFormat, to console: Console
  ) async throws -> RowsFound {
    guard format == .table else {
      return try await replica.read { try RowLines.print(sql, of: $0, as: format, to: console) } ? .printed : .none
    }
    return RowsFound(try await replica.rows(sql), as: format)
  }

  init(_ rows: [Row], as format: RowFormat) {
    self = rows.isEmpty ? .none : .listing(RowListing(rows, as: format))
  }
}

/// The rows of a query as they are written, in each format (Specs/cli.md, "Shell").
struct RowListing: Sendable {
  private let rows: [Row]
  private let columns: [String]
  private let format: RowFormat

  init(_ rows: [Row], as format: RowFormat) {
    self.rows = rows
    columns = rows.first?.columns ?? []
    self.format = format
  }

  /// Writes them; none writes nothing.
  ///
  /// - Throws: `CancellationError` once the task is cancelled.
  func print(to console: Console) throws {
    guard !rows.isEmpty else { return }
    guard format == .table else {
      var lines = RowLines(format)
      return try print(rows.lazy.flatMap { lines.next($0) }, console)
    }
    try print(table.lines, console)
  }

  /// Writes them as ``print(to:)`` does, but a table for a person by way of a pager where it is long.
  func page(to console: Console) async throws {
    guard format == .table, !rows.isEmpty else { return try print(to: console) }
    try await console.pages(table.lines)
  }

  /// A terminal takes long for many lines.
  private func print(_ lines: some Sequence<String>, _ console: Console) throws {
    try console.lines(lines.lazy.prefix { _ in !Task.isCancelled })
    try Task.checkCancellation()
  }

  /// Numbers go to the right, as people compare them.
  private var table: TextTable {
    let alignments = columns.indices.map { column -> TextTable.Alignment in
      rows.allSatisfy { $0.values[column].isNumberOrNull } ? .right : .left
    }
    var table = TextTable(Array(zip(columns, alignments)))
    for row in rows { table.add(row.values.map(Format.value)) }
    return table
  }
}

extension Value {
  fileprivate var isNumberOrNull: Bool {
    switch self {
    case .null, .integer, .real: true
    case .text, .blob: false
    }
  }
}
