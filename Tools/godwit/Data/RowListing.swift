import Godwit
import ToolSupport

/// How rows are written.
enum RowFormat: String, CaseIterable, Sendable {
  case table, json, csv, line
}

/// The rows of a query as they are written, in each format (Specs/cli.md, "Shell").
struct RowListing {
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
    switch format {
    case .json:
      let names = Self.unique(columns)
      try print(rows.lazy.map { JSONValue.object(zip(names, $0.values).map { ($0, JSONValue($1)) }).text }, console)
    case .table: try print(table.lines, console)
    case .csv: try print([Self.csv(columns.map { Value.text($0) })] + rows.lazy.map { Self.csv($0.values) }, console)
    case .line: try print(rows.enumerated().lazy.flatMap(block), console)
    }
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

  /// A JSON object names each member once, so a column that repeats a name gets a suffix as in SQLite: `id`, `id:1`.
  private static func unique(_ columns: [String]) -> [String] {
    var taken = Set(columns)
    var seen: Set<String> = []
    return columns.map { column in
      if seen.insert(column).inserted { return column }
      var number = 1
      while !taken.insert("\(column):\(number)").inserted { number += 1 }
      return "\(column):\(number)"
    }
  }

  // MARK: For people

  /// Numbers go to the right, as people compare them.
  private var table: TextTable {
    let alignments = columns.indices.map { column -> TextTable.Alignment in
      rows.allSatisfy { $0.values[column].isNumberOrNull } ? .right : .left
    }
    var table = TextTable(Array(zip(columns, alignments)))
    for row in rows { table.add(row.values.map(Format.value)) }
    return table
  }

  /// A line for each column, and an empty one between two rows.
  private func block(_ number: Int, _ row: Row) -> [String] {
    let names = columns.map(Format.printable)
    let width = names.map(TextTable.displayWidth).max() ?? 0
    let lines = zip(names, row.values).map { name, value in
      String(repeating: " ", count: width - TextTable.displayWidth(name)) + name + " = "
        + Format.printable(Format.value(value))
    }
    return (number == 0 ? [] : [""]) + lines
  }

  // MARK: CSV

  /// RFC 4180, with line feeds. An empty field is null, and `""` an empty text.
  private static func csv(_ values: [Value]) -> String {
    values.map { value in
      if value == .null { return "" }
      let text = Format.value(value)
      let field = StandardStream.output.isTerminal ? Format.printable(text) : text
      let isQuoted = field.isEmpty || field.unicodeScalars.contains { [",", "\"", "\n", "\r"].contains($0) }
      return isQuoted ? quoted(field) : field
    }.joined(separator: ",")
  }

  /// By scalars: to Swift a mark with an accent upon it is another character.
  private static func quoted(_ field: String) -> String {
    let pieces = field.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
    return "\"" + pieces.map(String.init).joined(separator: "\"\"") + "\""
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
