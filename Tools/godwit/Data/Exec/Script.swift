import Foundation
import Godwit
import GodwitFiles
import ToolSupport

/// Statements that are run one after another in one transaction.
struct Script: Sendable {
  /// What one of them did.
  struct Outcome: Sendable {
    /// The rows it changed itself.
    let changed: Int
    /// Whether it finds rows, which nobody is shown.
    let findsRows: Bool
  }

  /// A statement may have a million bytes (Specs/storage.md, "Limits").
  private static let byteCountMax = 16 << 20

  private let statements: [SQLSplitter.Statement]
  /// Whether a statement makes a table that stays on this machine.
  var makesTable: Bool { statements.contains(where: \.makesTable) }

  /// - Parameters:
  ///   - arguments: Statements, one or several in each; or `-`, the standard input.
  ///   - file: The file to read them from in place of arguments.
  init(_ arguments: [String], file: String?) throws {
    if let file {
      statements = try Self.statements(Self.bytes(of: file), in: file)
    } else if arguments == ["-"] {
      guard !StandardStream.input.isTerminal else {
        throw GodwitError(
          .invalidArgument, "the standard input is a terminal",
          hint: "pipe statements in: … | godwit exec -, or type them in: godwit shell")
      }
      let bytes = try Self.limited { try StandardStream.input.readToEnd(limit: Self.byteCountMax) }
      statements = try Self.statements(bytes, in: "the standard input")
    } else {
      statements = arguments.flatMap { SQLSplitter.statements(of: $0.utf8) }
    }
    guard !statements.isEmpty else { throw GodwitError(.sql, "there is no statement") }
  }

  private static func bytes(of file: String) throws -> [UInt8] {
    let descriptor = try FileDescriptor.openForReading(file)
    return try limited { try descriptor.readToEnd(limit: byteCountMax) }
  }

  /// Text that is too long is no file that somebody has tampered with.
  private static func limited(_ read: () throws -> [UInt8]) throws -> [UInt8] {
    do {
      return try read()
    } catch let error as GodwitError where error.code == .limitExceeded {
      throw WriteError(error)
    }
  }

  /// Without the mark that some editors put before UTF-8.
  private static func statements(_ bytes: [UInt8], in name: String) throws -> [SQLSplitter.Statement] {
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    guard String(validating: text, as: UTF8.self) != nil else {
      throw GodwitError(.sql, "\(name) is not UTF-8, as all text here is", hint: "convert it, with iconv for example")
    }
    return SQLSplitter.statements(of: text)
  }

  /// Runs them in the transaction.
  ///
  /// - Throws: `notAuthorized`, `sql`, `constraint` and others, saying which statement it was when there are several.
  func run(_ transaction: Transaction) throws -> [Outcome] {
    try statements.enumerated().map { index, statement in
      do {
        let sql = SQL(text: statement.text)
        let kind = try transaction.kind(of: sql)
        return Outcome(changed: try transaction.execute(sql), findsRows: kind.findsRows)
      } catch let error as GodwitError {
        let place = statements.count == 1 ? nil : "statement \(index + 1), line \(statement.line)"
        throw error.explained(
          statement, at: place, aboutTransactions: "all statements of one godwit exec are one transaction already")
      }
    }
  }
}

extension GodwitError {
  private static let transactionWords: Set<String> = ["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"]

  /// What went wrong with a statement that a person wrote.
  ///
  /// - Parameters:
  ///   - place: Where the statement stands, when that is not plain.
  ///   - hint: What to say of transactions.
  func explained(
    _ statement: SQLSplitter.Statement, at place: String?, aboutTransactions hint: String
  ) -> GodwitError {
    // The text may be long, and hold what is no business of a log's.
    let text = ", in: \(statement.text)"
    let isNamed = message.utf8.count > text.utf8.count && message.utf8.reversed().starts(with: text.utf8.reversed())
    let message = isNamed ? String(decoding: message.utf8.dropLast(text.utf8.count), as: UTF8.self) : message
    return GodwitError(
      code, place.map { "\($0): \(message)" } ?? message,
      hint: Self.transactionWords.contains(statement.firstWord) && code == .notAuthorized ? hint : statementHint,
      underlying: self)
  }

  private var statementHint: String? {
    switch code {
    case .notAuthorized:
      "rows may be written; settings and Godwit's own tables may not, and migrations change a synced table's columns"
    case .sql: "see the tables and columns: godwit query \"SELECT sql FROM sqlite_master\""
    case .constraint:
      hint
        ?? (message.hasPrefix("UNIQUE")
          ? "a row with that value is there already; UPDATE or INSERT OR REPLACE changes it"
          : "see what the table demands: godwit query \"SELECT sql FROM sqlite_master\"")
    default: hint
    }
  }
}

extension SQLSplitter.Statement {
  /// What there is to know of a table that SQL makes.
  static let tableNote =
    "a table made by SQL stays on this machine; one that travels comes from a model, a migration or documents"

  /// Whether it makes a table that stays: no temporary and no virtual one.
  var makesTable: Bool {
    firstWord == "CREATE"
      && text.range(of: #"\bCREATE\s+TABLE\b"#, options: [.regularExpression, .caseInsensitive]) != nil
  }
}
