import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// The triggers that hand every change of a synced table to ``ChangeCapture``.
///
/// They call functions that only Godwit registers, so a write by any other program fails. A call takes about a
/// hundred values, so wide rows come in parts; updates fire only the triggers whose columns the statement sets.
/// A statement that sets the key reports a delete and an insert: a row is its key.
enum CaptureTriggers {
  static let insertFunction = "godwit_insert"
  static let updateFunction = "godwit_update"
  static let deleteFunction = "godwit_delete"
  private static let valuesPerCall = 90
  private static let columnsPerUpdate = 16

  /// Makes a table's triggers the newest again. SQLite fires the newest first, so a program's own trigger comes
  /// after the capture of the write that fires it, and cannot keep it out of the log with RAISE(IGNORE).
  static func renew(_ table: CatalogTable, on connection: Connection) throws {
    let pattern = "godwit\\_\(table.id)\\_%"
    let sql = """
      SELECT name, name LIKE ?1 ESCAPE '\\' FROM sqlite_master
      WHERE type = 'trigger' AND lower(tbl_name) = lower(?2) ORDER BY rowid DESC
      """
    var isOwn: [Bool] = []
    var own: [String] = []
    try connection.withStatement(sql) { statement in
      try statement.bind([.text(pattern), .text(table.definition.name)])
      while try statement.step() {
        isOwn.append(statement.integer(at: 1) != 0)
        if isOwn.last == true { own.append(try statement.text(at: 0)) }
      }
    }
    guard isOwn.prefix(own.count).contains(false) else { return }
    try remake(table, replacing: own, on: connection)
  }

  /// Makes the triggers of a table with other columns than before, or takes them away when it is not synced any more.
  static func remake(_ table: CatalogTable, on connection: Connection) throws {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE ? ESCAPE '\\'"
    let old = try connection.withStatement(sql) { statement in
      try statement.bind([.text("godwit\\_\(table.id)\\_%")])
      var names: [String] = []
      while try statement.step() { names.append(try statement.text(at: 0)) }
      return names
    }
    try remake(table, replacing: old, on: connection)
  }

  private static func remake(_ table: CatalogTable, replacing old: [String], on connection: Connection) throws {
    try connection.savepoint {
      for name in old { try connection.execute("DROP TRIGGER \(SQLName.quoted(name))") }
      guard table.definition.isSynced else { return }
      for sql in statements(table) { try connection.execute(sql) }
    }
  }

  // MARK: Writes that no trigger reports

  /// Reports a row as inserted.
  static func report(_ row: [Value], insertedInto table: CatalogTable, on connection: Connection) throws {
    try report(row, by: insertFunction, table, connection)
  }

  /// Reports a row as deleted.
  static func report(_ row: [Value], deletedFrom table: CatalogTable, on connection: Connection) throws {
    try report(row, by: deleteFunction, table, connection)
  }

  /// Reports a row as changed beside its key.
  static func report(_ old: [Value], becoming new: [Value], in table: CatalogTable, on connection: Connection) throws {
    let key = Array(old.prefix(table.definition.keyCount))
    for first in stride(from: key.count, to: old.count, by: columnsPerUpdate) {
      let pairs = (first..<min(first + columnsPerUpdate, old.count)).flatMap { [old[$0], new[$0]] }
      try call(updateFunction, table, first, key + key + pairs, connection)
    }
  }

  private static func report(
    _ row: [Value], by function: String, _ table: CatalogTable, _ connection: Connection
  ) throws {
    for first in stride(from: 0, to: row.count, by: valuesPerCall) {
      try call(function, table, first, Array(row[first..<min(first + valuesPerCall, row.count)]), connection)
    }
  }

  private static func call(
    _ function: String, _ table: CatalogTable, _ first: Int, _ values: [Value], _ connection: Connection
  ) throws {
    let places = values.map { _ in "?" }.joined(separator: ", ")
    try connection.withStatement("SELECT \(function)(\(table.id), \(first), \(places))") { statement in
      try statement.bind(values)
      _ = try statement.step()
    }
  }

  // MARK: Statements

  static func statements(_ table: CatalogTable) -> [String] {
    let name = SQLName.quoted(table.definition.name)
    let columns = table.definition.columns.map { SQLName.quoted($0.name) }
    let keys = Array(columns.prefix(table.definition.keyCount))
    let insert = rowCalls(insertFunction, table.id, columns.map { "NEW.\($0)" })
    let delete = rowCalls(deleteFunction, table.id, columns.map { "OLD.\($0)" })
    return [
      "CREATE TRIGGER \"godwit_\(table.id)_insert\" AFTER INSERT ON \(name) BEGIN \(insert) END",
      "CREATE TRIGGER \"godwit_\(table.id)_delete\" AFTER DELETE ON \(name) BEGIN \(delete) END",
      "CREATE TRIGGER \"godwit_\(table.id)_key\" AFTER UPDATE OF \((keys + rowNumbers(table)).joined(separator: ", ")) "
        + "ON \(name) BEGIN \(delete) \(insert) END",
    ] + updates(table, name: name, columns: columns, keys: keys)
  }

  /// SQLite's names of the row's number, which an integer key is (sqlite.org, "ROWIDs and the INTEGER PRIMARY KEY"): it
  /// compares the names as the statement gives them.
  private static func rowNumbers(_ table: CatalogTable) -> [String] {
    let definition = table.definition
    guard definition.keyCount == 1, definition.columns[0].type == .integer else { return [] }
    return ["rowid", "oid", "_rowid_"].filter { definition.number(of: $0) == nil }
  }

  private static func rowCalls(_ function: String, _ table: Int, _ values: [String]) -> String {
    stride(from: 0, to: values.count, by: valuesPerCall).map { first in
      let part = values[first..<min(first + valuesPerCall, values.count)].joined(separator: ", ")
      return "SELECT \(function)(\(table), \(first), \(part));"
    }.joined(separator: " ")
  }

  private static func keyValues(_ keys: [String]) -> String {
    (keys.map { "OLD.\($0)" } + keys.map { "NEW.\($0)" }).joined(separator: ", ")
  }

  private static func updates(_ table: CatalogTable, name: String, columns: [String], keys: [String]) -> [String] {
    stride(from: keys.count, to: columns.count, by: columnsPerUpdate).map { first in
      let group = columns[first..<min(first + columnsPerUpdate, columns.count)]
      let keyValues = keyValues(keys)
      let pairs = group.map { "OLD.\($0), NEW.\($0)" }.joined(separator: ", ")
      return "CREATE TRIGGER \"godwit_\(table.id)_update_\(first)\" AFTER UPDATE OF \(group.joined(separator: ", ")) "
        + "ON \(name) BEGIN SELECT \(updateFunction)(\(table.id), \(first), \(keyValues), \(pairs)); END"
    }
  }
}
