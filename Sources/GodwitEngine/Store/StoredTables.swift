import GodwitBase
import GodwitCore
import GodwitStorage

/// The tables that the database has, as they are declared, with the sums of their rows (`godwit_table`;
/// Specs/change-log.md, "Tables").
package struct StoredTables {
  static let creation = """
    CREATE TABLE godwit_table (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE,
      definition BLOB NOT NULL, former INTEGER NOT NULL DEFAULT 0, sum BLOB);
    """

  struct Entry {
    let id: Int
    let definition: TableDefinition
    /// Of its rows (Specs/state-hash.md, "Keeping"); nil when they were never added up.
    let sum: StateSum?
  }

  private let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// In the order in which they were made.
  func all() throws -> [Entry] {
    try connection.withStatement("SELECT id, definition, sum FROM godwit_table ORDER BY id") { statement in
      var entries: [Entry] = []
      while try statement.step() {
        var reader = ByteReader(statement.blob(at: 1))
        entries.append(
          Entry(
            id: Int(statement.integer(at: 0)), definition: try TableDefinition(reading: &reader),
            sum: statement.isNull(at: 2) ? nil : try StateSum(stored: statement.blob(at: 2))))
      }
      return entries
    }
  }

  /// What they are called, by their numbers.
  func names() throws -> [Int: String] {
    try connection.withStatement("SELECT id, name FROM godwit_table") { statement in
      var names: [Int: String] = [:]
      while try statement.step() { names[Int(statement.integer(at: 0))] = try statement.text(at: 1) }
      return names
    }
  }

  var isEmpty: Bool {
    get throws { try connection.scalar("SELECT 1 FROM godwit_table LIMIT 1") == nil }
  }

  /// Returns the number that the table has from now on.
  func add(_ definition: TableDefinition) throws -> Int {
    try connection.run(
      "INSERT INTO godwit_table (name, definition) VALUES (?, ?)", [.text(definition.name), .blob(definition.bytes)])
    guard case .integer(let id)? = try connection.scalar("SELECT last_insert_rowid()") else {
      throw GodwitError(.damagedLog, "the database gave table \(definition.name) no number")
    }
    return Int(id)
  }

  func update(_ id: Int, to definition: TableDefinition) throws {
    try connection.run(
      "UPDATE godwit_table SET name = ?, definition = ? WHERE id = ?",
      [.text(definition.name), .blob(definition.bytes), .integer(Int64(id))])
  }

  /// Gives a table another name for as long as two change theirs.
  func rename(_ id: Int, to name: String) throws {
    try connection.run("UPDATE godwit_table SET name = ? WHERE id = ?", [.text(name), .integer(Int64(id))])
  }

  func remove(_ id: Int) throws {
    try connection.run("DELETE FROM godwit_table WHERE id = ?", [.integer(Int64(id))])
  }

  // MARK: Synced once

  /// Whether the table was synced, and its sync was stopped.
  package func isFormer(_ id: Int) throws -> Bool {
    try connection.scalar("SELECT former FROM godwit_table WHERE id = ?", [.integer(Int64(id))]) == .integer(1)
  }

  func markFormer(_ id: Int) throws {
    try connection.run("UPDATE godwit_table SET former = 1 WHERE id = ?", [.integer(Int64(id))])
  }

  // MARK: Sums

  func setSum(_ sum: StateSum, of id: Int) throws {
    var writer = ByteWriter(capacity: StateSum.byteCount)
    sum.write(to: &writer)
    try connection.run("UPDATE godwit_table SET sum = ? WHERE id = ?", [.blob(writer.bytes), .integer(Int64(id))])
  }
}

extension TableDefinition {
  fileprivate var bytes: [UInt8] {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes
  }
}
