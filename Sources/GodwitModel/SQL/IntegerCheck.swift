import GodwitBase
import GodwitStorage

/// The SQL function that an update asks of what it computed for a column of integers: SQLite's own sum of integers
/// beyond 64 bits is a REAL, which the property could not be read from again (Specs/queries.md, "Update and delete").
/// It throws rather than say no.
///
/// Arguments: the value, the least and the greatest the property can have, table, column, and the key of the row.
package final class IntegerCheck: SQLPredicate {
  static let name = "godwit_is_in_range"
  private static let leadingArguments = 5

  package func holds(_ arguments: borrowing FunctionArguments) throws -> Bool {
    guard arguments.count >= Self.leadingArguments else {
      throw GodwitError(.sql, "\(Self.name) takes \(Self.leadingArguments) arguments and a key")
    }
    switch try arguments.value(0) {
    case .real: break
    case .integer(let number) where Int(number) < arguments.integer(1) || Int(number) > arguments.integer(2): break
    default: return true
    }
    let key = try (Self.leadingArguments..<arguments.count).map { try arguments.value($0) }
    guard case .text(let table) = try arguments.value(3), case .text(let column) = try arguments.value(4) else {
      throw GodwitError(.valueNotStorable, "a computed integer is out of its range")
    }
    throw GodwitError.integerOverflow(of: column, table: table, key: key.described)
  }

  /// Makes the function known to a connection.
  package static func register(on connection: Connection) throws {
    try connection.register(IntegerCheck(), as: name, isOpen: true)
  }
}

extension [Value] {
  /// The values of a key as in SQL, for a message.
  package var described: String { map(\.literal).joined(separator: ", ") }
}

extension GodwitError {
  /// What was computed for an integer is beyond what the column's property can hold. `key` is as in SQL.
  package static func integerOverflow(of column: String, table: String, key: String) -> GodwitError {
    GodwitError(
      .valueNotStorable,
      "column \(column) of the row \(key) of table \(table) would be beyond what its integers can be",
      hint: "nothing was written; leave the row out, or take another value")
  }
}
