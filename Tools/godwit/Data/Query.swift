import ArgumentParser
import Godwit
import ToolSupport

struct Query: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the rows that a SQL query finds, or documents of a collection.",
    discussion: """
      Only reads; godwit exec writes.

      Examples:
        godwit query "SELECT title, views FROM note WHERE views > 3"
        godwit query --json "SELECT * FROM note" | jq .title
        godwit query - < report.sql
        godwit query --collection accounts --where "price > 3" --order "name, date desc"
      """)

  private static let textByteLimit = 1 << 20

  @Argument(help: "One statement of SQL, or - for the standard input.")
  var sql: String?

  @Option(help: ArgumentHelp("Show documents of this collection.", valueName: "name"))
  var collection: String?

  @Option(
    name: .customLong("where"), help: ArgumentHelp("Only documents that meet this condition.", valueName: "condition"))
  var condition: String?

  @Option(help: ArgumentHelp("In this order, such as: name, date desc", valueName: "members"))
  var order: String?

  @Option(help: ArgumentHelp("At most this many documents.", valueName: "count"))
  var limit: Int?

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard (sql == nil) != (collection == nil) else {
      throw ValidationError("give a statement of SQL, or a collection with --collection")
    }
    guard collection != nil || (condition == nil && order == nil && limit == nil) else {
      throw ValidationError("--where, --order and --limit go with --collection")
    }
    guard limit ?? 1 > 0 else { throw ValidationError("--limit is at least 1") }
    guard sql != "-" || !StandardStream.input.isTerminal else {
      throw ValidationError("give a statement, or a file with one on the standard input")
    }
    try options.claimInput([sql])
  }

  func run() async throws {
    if let collection {
      let query = CollectionQuery(
        collection: collection, condition: condition, order: order, limit: limit, console: options.console)
      return try await WriteError.wrapping { try await options.withReplica { try await query.run(on: $0) } }
    }
    guard let sql else { return }
    let text = sql == "-" ? try Self.readText() : sql
    let (console, format) = (options.console, options.json ? RowFormat.json : .table)
    switch try await options.withReplica({ try await Self.rows(text, $0, as: format, to: console) }) {
    case .none: console.note("no rows")
    case .printed: break
    case .listing(let listing): try await listing.page(to: console)
    }
  }

  private static func readText() throws -> String {
    let bytes = try StandardStream.input.readToEnd(limit: textByteLimit)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw GodwitError(.invalidArgument, "the statement is not UTF-8")
    }
    return text
  }

  private static func rows(
    _ text: String, _ replica: Replica, as format: RowFormat, to console: Console
  ) async throws -> RowsFound {
    do {
      return try await RowsFound.of(SQL(text: text), replica, as: format, to: console)
    } catch let error as GodwitError where error.code == .notAuthorized || error.code == .sql && writes(text) {
      let message = error.code == .sql ? "this statement writes" : error.message
      throw GodwitError(
        .notAuthorized, message, hint: "godwit query only reads rows; godwit exec writes them",
        underlying: error)
    } catch let error as GodwitError {
      throw await replica.namingTables(in: error)
    }
  }

  /// Whether the statement starts like one that writes rows. Such a statement does not even compile where capture is
  /// not set up, and the reason given then says little to a person.
  private static func writes(_ text: String) -> Bool {
    let word = text.drop { $0.isWhitespace }.prefix { $0.isLetter }
    return ["INSERT", "UPDATE", "DELETE", "REPLACE"].contains(word.uppercased())
  }
}
