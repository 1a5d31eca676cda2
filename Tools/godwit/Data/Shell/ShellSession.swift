import Godwit
import ToolSupport

/// Reads statements and commands, and runs each as it ends.
final class ShellSession {
  /// What a statement did.
  private enum Outcome: Sendable {
    case rows(RowsFound)
    case changed(Int)
  }

  /// SQLite takes none of more than a million bytes (Specs/storage.md, "Limits").
  private static let statementByteCountMax = 1 << 20
  /// What never writes runs beside a write; the others wait for their turn.
  private static let readingWords: Set<String> = ["SELECT", "VALUES", "PRAGMA"]

  private let replica: Replica
  private let console: Console
  private let interrupts: ShellInterrupts
  private let history: StatementHistory?
  private var format: RowFormat
  private var input = ShellInput()
  private var splitter = SQLSplitter()

  init(_ replica: Replica, _ console: Console, _ interrupts: ShellInterrupts, _ history: StatementHistory?) {
    self.replica = replica
    self.console = console
    self.interrupts = interrupts
    self.history = history
    format = console.usesJSON ? .json : .table
  }

  /// Runs to the end of the input. At a terminal errors are shown; otherwise the first one is thrown.
  func run() async throws {
    while true {
      if input.isTerminal { ShellInput.prompt(isInside: splitter.isInside) }
      guard let line = try await input.line() else { break }
      if interrupts.takeDropping() { splitter.drop() }
      do {
        guard try await take(line) else { return }
      } catch {
        guard input.isTerminal else { throw error }
        splitter.drop()
        show(error)
      }
    }
    guard !input.isTerminal else { return ShellInput.endPrompt() }
    guard let rest = splitter.finish() else { return }
    // What is cut off may be another statement: DELETE without its WHERE.
    throw GodwitError(
      .sql, "line \(rest.line): the last statement does not end with a semicolon",
      hint: "end it with one; it was not run")
  }

  private func show(_ error: any Error) {
    guard error is CancellationError else {
      return ErrorReport(error).write(program: GodwitCommand.configuration.commandName ?? "")
    }
    try? StandardStream.error.write("interrupted\n")
  }

  /// False when the line ends the shell.
  private func take(_ line: [UInt8]) async throws -> Bool {
    guard let text = String(validating: line, as: UTF8.self) else {
      throw GodwitError(.sql, "a line is not UTF-8, as all text here is")
    }
    if !splitter.isInside, text.drop(while: { $0 == " " }).first == "." {
      _ = splitter.append([0x0A])
      return try await run(DotCommand(text))
    }
    for statement in splitter.append(line) {
      try history?.add(statement.text)
      try await run(statement)
    }
    guard splitter.byteCount <= Self.statementByteCountMax else {
      throw WriteError(
        GodwitError(.limitExceeded, "a statement is longer than \(Self.statementByteCountMax) bytes"))
    }
    return true
  }

  // MARK: Statements

  private func run(_ statement: SQLSplitter.Statement) async throws {
    let (replica, console, format) = (replica, console, format)
    do {
      try await interrupts.running {
        switch try await Self.outcome(of: statement, on: replica, as: format, to: console) {
        case .rows(.none): console.note("no rows")
        case .rows(.printed): break
        case .rows(.listing(let listing)): try listing.print(to: console)
        case .changed(let count):
          if console.usesJSON {
            try console.line(["changed": .number(count)])
          } else {
            console.note("changed \(Format.count(count, "row"))")
            if statement.makesTable { console.note(SQLSplitter.Statement.tableNote) }
          }
        }
      }
    } catch let error as GodwitError {
      let explained = error.explained(
        statement, at: input.isTerminal ? nil : "line \(statement.line)",
        aboutTransactions: "each statement is a transaction of its own; several in one: godwit exec")
      throw WriteError(await replica.namingTables(in: explained))
    }
  }

  private static func outcome(
    of statement: SQLSplitter.Statement, on replica: Replica, as format: RowFormat, to console: Console
  ) async throws -> Outcome {
    let sql = SQL(text: statement.text)
    if readingWords.contains(statement.firstWord) {
      return .rows(try await RowsFound.of(sql, replica, as: format, to: console))
    }
    return try await replica.write { transaction in
      let kind = try transaction.kind(of: sql)
      guard kind.isReading, kind.findsRows else { return .changed(try transaction.execute(sql)) }
      return .rows(RowsFound(try transaction.rows(sql), as: format))
    }
  }

  // MARK: Commands

  private func run(_ command: DotCommand) async throws -> Bool {
    let (catalog, console, format) = (ShellCatalog(replica: replica), console, format)
    switch command {
    case .tables:
      try await interrupts.running { try RowListing(await catalog.tables(), as: format).print(to: console) }
    case .schema(let table):
      try await interrupts.running {
        let rows = try await catalog.schema(of: table)
        switch format {
        case .json, .csv: try RowListing(rows, as: format).print(to: console)
        case .table, .line: try console.lines(ShellCatalog.lines(ofSchema: rows))
        }
      }
    case .mode(let format): self.format = format
    case .help: try StandardStream.error.write(DotCommand.helpText)
    case .quit: return false
    }
    return true
  }
}
