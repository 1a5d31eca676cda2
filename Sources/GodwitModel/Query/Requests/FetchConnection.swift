import GodwitBase
import GodwitStorage

/// The connection a request runs on.
public struct FetchConnection {
  package let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// Reads each row with the body.
  func rows<Element>(_ sql: SQL, _ read: (Statement) throws -> Element) throws -> [Element] {
    try connection.withStatement(sql.text) { statement in
      try statement.bind(sql.values)
      var rows: [Element] = []
      while try statement.step() { rows.append(try read(statement)) }
      return rows
    }
  }

  /// The only number of the only row.
  func integer(_ sql: SQL) throws -> Int {
    guard case .integer(let number)? = try connection.scalar(sql.text, sql.values) else { return 0 }
    return Int(number)
  }
}
