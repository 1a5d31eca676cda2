import CGodwit
import Foundation
import Godwit
import GodwitStorage

/// Rows that C reads one after another.
///
/// Unchecked Sendable: what may change is touched only while a call works in the transaction (``OpenTransaction``).
final class OpenRows: Handled, @unchecked Sendable {
  static let title = "rows"

  let transaction: OpenTransaction
  private var source: Source?
  private(set) var number: UInt = 0
  /// The columns' names, in C's form.
  private var names: [UnsafeMutablePointer<CChar>?] = []
  /// The row that was read last.
  private var row: UnsafeMutablePointer<godwit_value>?

  private enum Source {
    /// A statement, and how its first step ended once that has been done and nobody has read the row.
    case statement(Statement, first: Result<Bool, any Error>?, hasBegun: Bool)
    /// Rows that are in memory, the next one's number, and what the latest one's values point to.
    case list([[String]], next: Int, texts: [UnsafeMutablePointer<CChar>?])
  }

  /// Rows of a statement of the transaction's connection.
  convenience init(_ statement: Statement, of transaction: OpenTransaction) {
    self.init(.statement(statement, first: nil, hasBegun: false), transaction)
  }

  /// Rows of texts that are in memory.
  convenience init(_ list: [[String]], columns: [String], of transaction: OpenTransaction) {
    self.init(.list(list, next: 0, texts: []), transaction)
    describe(columns)
  }

  private init(_ source: Source, _ transaction: OpenTransaction) {
    self.source = source
    self.transaction = transaction
  }

  private func describe(_ columns: [String]) {
    names = columns.map(CText.copy)
    row = .allocate(capacity: max(columns.count, 1))
    row?.initialize(repeating: godwit_value(), count: max(columns.count, 1))
  }

  /// Steps to the first row, unless that has been done: before that the statement has the columns of the schema that it
  /// was compiled for.
  private func begin() {
    guard case .statement(let statement, _, false)? = source else { return }
    let first = Result { try statement.step() }
    describe(statement.columnNames)
    source = .statement(statement, first: first, hasBegun: true)
  }

  deinit {
    close()
    for name in names { free(name) }
    row?.deallocate()
  }

  func note(_ number: UInt) { self.number = number }

  /// What the first row finds that it fails with is thrown for that row.
  ///
  /// Throws `GODWIT_MISUSE` for another thread than the transaction's.
  func columnCount() throws -> Int {
    try transaction.reading { _ in begin() }
    return names.count
  }

  /// Whether there may be a row that was read last.
  var isOpen: Bool { source != nil }

  /// Lasts as long as the rows.
  func columnName(_ column: Int) throws -> UnsafePointer<CChar>? {
    try transaction.reading { _ in begin() }
    return names.indices.contains(column) ? UnsafePointer(names[column]) : nil
  }

  /// The next row, which lasts until the one after it is read; nil after the last one.
  func next() throws -> UnsafePointer<godwit_value>? { try transaction.reading { _ in try step() } }

  private func step() throws -> UnsafePointer<godwit_value>? {
    begin()
    switch source {
    case .statement(let statement, let first, _)?:
      // After a failure, too: another step would begin anew.
      guard try (first ?? Result(catching: statement.step)).mapError({ finish(with: $0) }).get() else {
        return finish()
      }
      source = .statement(statement, first: nil, hasBegun: true)
      for column in names.indices { row?[column] = statement.cValue(at: Int32(column)) }
    case .list(let rows, let next, let texts)?:
      for text in texts { free(text) }
      guard next < rows.count else {
        source = .list(rows, next: next, texts: [])
        return finish()
      }
      let texts = rows[next].map(CText.copy)
      for (column, text) in texts.enumerated() {
        row?[column] = godwit_value(text: text, length: rows[next][column].utf8.count)
      }
      source = .list(rows, next: next + 1, texts: texts)
    case nil: return nil
    }
    return row.map { UnsafePointer($0) }
  }

  private func finish() -> UnsafePointer<godwit_value>? {
    close()
    return nil
  }

  private func finish(with error: any Error) -> any Error {
    close()
    return error
  }

  /// Gives the statement back to its connection.
  func close() {
    switch source {
    case .statement(let statement, _, _)?: statement.giveBack()
    case .list(_, _, let texts)?: for text in texts { free(text) }
    case nil: break
    }
    source = nil
  }
}

extension godwit_value {
  fileprivate init(text: UnsafePointer<CChar>?, length: Int) {
    self.init(type: GODWIT_TEXT, reserved: 0, integer: 0, real: 0, bytes: text, length: length)
  }
}

extension Statement {
  /// A column of the row that was stepped to; texts and blobs are SQLite's own and last until the next step.
  fileprivate func cValue(at column: Int32) -> godwit_value {
    switch storageClass(at: column) {
    case .null: return godwit_value()
    case .integer:
      return godwit_value(
        type: GODWIT_INTEGER, reserved: 0, integer: integer(at: column), real: 0, bytes: nil, length: 0)
    case .real:
      return godwit_value(type: GODWIT_REAL, reserved: 0, integer: 0, real: real(at: column), bytes: nil, length: 0)
    case .text:
      let text = terminatedText(at: column)
      return godwit_value(text: text.start, length: text.count)
    case .blob:
      return withBytes(at: column) { bytes in
        godwit_value(
          type: GODWIT_BLOB, reserved: 0, integer: 0, real: 0, bytes: bytes.baseAddress, length: bytes.count)
      }
    }
  }
}
