import Godwit
import ToolSupport

/// The lines of rows, one row after another, in the formats that need no other row for that: all but a table
/// (Specs/cli.md, "Shell").
struct RowLines {
  private let format: RowFormat
  private var number = 0
  /// The members' names of JSON.
  private var names: [String] = []

  /// How many bytes are printed at a time.
  private static let batchBytes = 1 << 16

  init(_ format: RowFormat) { self.format = format }

  /// Prints the rows that a statement finds as they come, and says whether there were any. What is printed is not
  /// held: there may be more rows than fit into memory.
  static func print(_ sql: SQL, of reader: Reader, as format: RowFormat, to console: Console) throws -> Bool {
    var lines = RowLines(format)
    var batch: [String] = []
    var byteCount = 0
    try reader.forEach(sql.rows) { row in
      let next = lines.next(row)
      batch += next
      byteCount += next.reduce(0) { $0 + $1.utf8.count + 1 }
      guard byteCount >= batchBytes else { return }
      try console.lines(batch)
      batch.removeAll(keepingCapacity: true)
      byteCount = 0
    }
    try console.lines(batch)
    return lines.number > 0
  }

  /// The lines of the next row; before the first one what stands above all.
  mutating func next(_ row: Row) -> [String] {
    defer { number += 1 }
    switch format {
    case .json:
      if number == 0 { names = Self.unique(row.columns) }
      return [JSONValue.object(zip(names, row.values).map { ($0, JSONValue($1)) }).text]
    case .csv: return (number == 0 ? [Self.csv(row.columns.map { Value.text($0) })] : []) + [Self.csv(row.values)]
    case .line, .table: return (number == 0 ? [] : [""]) + block(row)
    }
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

  /// A line for each column.
  private func block(_ row: Row) -> [String] {
    let names = row.columns.map(Format.printable)
    let width = names.map(TextTable.displayWidth).max() ?? 0
    return zip(names, row.values).map { name, value in
      String(repeating: " ", count: width - TextTable.displayWidth(name)) + name + " = "
        + Format.printable(Format.value(value))
    }
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
