import GodwitBase
import GodwitCore
import GodwitStorage

/// What rows wait for (`godwit_limbo`): a row in limbo for its unique claims and its parents, a row with hidden
/// references for the parents they refer to. That has its claims on them here, too (Specs/merge.md, "Limbo").
package final class Limbo {
  static let creation = """
    CREATE TABLE godwit_limbo (reason BLOB NOT NULL, key BLOB NOT NULL, PRIMARY KEY (reason, key)) WITHOUT ROWID;
    CREATE INDEX godwit_limbo_key ON godwit_limbo (key);
    """

  /// What is waited for, as bytes.
  package struct Reason: Hashable, Comparable {
    let bytes: [UInt8]

    private enum Kind: UInt8 {
      case claim = 0
      case parent = 1
      case circle = 2
      case constraint = 3
    }

    /// The value of a unique index; nil where a NULL leaves nothing to claim. `row` is whole, key first.
    init?(claimOf index: String, _ columns: [Int], table: Int, row: [Value]) {
      var writer = ByteWriter(capacity: 48)
      writer.byte(Kind.claim.rawValue)
      writer.varint(table)
      writer.string(index)
      for column in columns {
        guard row[column] != .null else { return nil }
        writer.value(row[column].comparable)
      }
      bytes = writer.bytes
    }

    init(parent: RowKey) { bytes = [Kind.parent.rawValue] + parent.bytes }

    /// All cells of a column that are hidden because they would close a circle.
    init(circlesOf column: Int, table: Int) {
      var writer = ByteWriter()
      writer.byte(Kind.circle.rawValue)
      writer.varint(table)
      writer.varint(column)
      bytes = writer.bytes
    }

    init(stored bytes: [UInt8]) { self.bytes = bytes }

    /// A reason of another database, with the number its table has here. Nil for an unknown kind.
    ///
    /// - Throws: `truncatedFile`, `limitExceeded` or `corruptFile` when the rest is not of the kind's form.
    init?(kind: UInt8, table: Int, rest: ArraySlice<UInt8>) throws {
      guard let kind = Kind(rawValue: kind) else { return nil }
      try Self.check(rest, of: kind)
      var writer = ByteWriter(capacity: rest.count + 4)
      writer.byte(kind.rawValue)
      writer.varint(table)
      writer.raw(rest)
      bytes = writer.bytes
    }

    private static func check(_ rest: ArraySlice<UInt8>, of kind: Kind) throws {
      var reader = ByteReader(rest)
      switch kind {
      case .claim, .parent:
        if kind == .claim { _ = try reader.string() }
        repeat { _ = try reader.value() } while !reader.isAtEnd
      case .circle: _ = try reader.count()
      case .constraint: break
      }
      try reader.expectEnd()
    }

    /// The kind, the table's number, and what does not depend on numbers.
    func parts() throws -> (kind: UInt8, table: Int, rest: ArraySlice<UInt8>) {
      var reader = ByteReader(bytes)
      return (try reader.byte(), try reader.count(), bytes[reader.position...])
    }

    /// Nothing that another row could bring: the rows of a table that break one of its other constraints.
    init(constraintOf table: Int) {
      var writer = ByteWriter()
      writer.byte(Kind.constraint.rawValue)
      writer.varint(table)
      bytes = writer.bytes
    }

    /// The first bytes of all claims in a table.
    static func claims(in table: Int) -> [UInt8] {
      var writer = ByteWriter()
      writer.byte(Kind.claim.rawValue)
      writer.varint(table)
      return writer.bytes
    }

    var isClaim: Bool { bytes.first == Kind.claim.rawValue }

    /// A claim's table, index and values.
    func claim() throws -> (table: Int, index: String, values: [Value]) {
      var reader = ByteReader(bytes.dropFirst())
      let table = try reader.count()
      let index = try reader.string()
      var values: [Value] = []
      while !reader.isAtEnd { values.append(try reader.value()) }
      return (table, index, values)
    }

    package static func < (left: Reason, right: Reason) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
  }

  private let connection: Connection
  private(set) var isEmpty: Bool

  init(_ connection: Connection) throws {
    self.connection = connection
    isEmpty = try !Self.any(on: connection)
  }

  /// Whether any row waits for anything.
  static func any(on connection: Connection) throws -> Bool {
    try connection.scalar("SELECT EXISTS (SELECT 1 FROM godwit_limbo)") == .integer(1)
  }

  static func any(of table: Int, on connection: Connection) throws -> Bool {
    let sql = "SELECT 1 FROM godwit_limbo WHERE key >= ? AND key < ? LIMIT 1"
    return try connection.scalar(sql, RowKey.range(of: table)) != nil
  }

  /// Calls the body with every reason of every row, by reasons.
  static func forEach(on connection: Connection, _ body: (Reason, RowKey) throws -> Void) throws {
    try connection.withStatement("SELECT reason, key FROM godwit_limbo ORDER BY reason, key") { statement in
      while try statement.step() {
        try body(Reason(stored: statement.blob(at: 0)), RowKey(bytes: statement.blob(at: 1)))
      }
    }
  }

  /// Adds a reason that comes from elsewhere; throws when it is there already.
  static func load(_ reason: Reason, for key: RowKey, on connection: Connection) throws {
    try connection.run("INSERT INTO godwit_limbo (reason, key) VALUES (?, ?)", [.blob(reason.bytes), .blob(key.bytes)])
  }

  /// Removes a table's rows, which are gone.
  static func removeAll(of table: Int, on connection: Connection) throws {
    try connection.run("DELETE FROM godwit_limbo WHERE key >= ? AND key < ?", RowKey.range(of: table))
  }

  func add(_ reason: Reason, for key: RowKey) throws {
    isEmpty = false
    try connection.withStatement("INSERT OR IGNORE INTO godwit_limbo (reason, key) VALUES (?, ?)") { statement in
      try statement.bind(blob: reason.bytes, at: 1)
      try statement.bind(blob: key.bytes, at: 2)
      try statement.run()
    }
  }

  /// Makes a row wait for these and nothing else.
  func replace(_ reasons: Set<Reason>, for key: RowKey) throws {
    let before = Set(try self.reasons(of: key))
    guard reasons != before else { return }
    try removeAll(for: key)
    for reason in reasons.sorted() { try add(reason, for: key) }
  }

  func removeAll(of table: Int) throws { try Self.removeAll(of: table, on: connection) }

  func removeAll(for key: RowKey) throws {
    guard !isEmpty else { return }
    try connection.run("DELETE FROM godwit_limbo WHERE key = ?", [.blob(key.bytes)])
  }

  /// The rows that wait for this, in the order of their keys.
  func keys(waitingFor reason: Reason) throws -> [RowKey] {
    guard !isEmpty else { return [] }
    return try blobs("SELECT key FROM godwit_limbo WHERE reason = ? ORDER BY key", [.blob(reason.bytes)])
      .map { try RowKey(bytes: $0) }
  }

  /// Whether any row waits for this.
  func isAwaited(_ reason: Reason) throws -> Bool {
    guard !isEmpty else { return false }
    return try connection.scalar("SELECT 1 FROM godwit_limbo WHERE reason = ? LIMIT 1", [.blob(reason.bytes)]) != nil
  }

  /// What a row waits for.
  func reasons(of key: RowKey) throws -> [Reason] {
    guard !isEmpty else { return [] }
    return try blobs("SELECT reason FROM godwit_limbo WHERE key = ? ORDER BY reason", [.blob(key.bytes)])
      .map(Reason.init(stored:))
  }

  /// The rows that wait for anything, in the order of their keys.
  func keys(limit: Int) throws -> [RowKey] {
    try blobs("SELECT DISTINCT key FROM godwit_limbo ORDER BY key LIMIT ?", [.integer(Int64(limit))])
      .map { try RowKey(bytes: $0) }
  }

  /// The same of one table.
  func keys(of table: Int) throws -> [RowKey] {
    try blobs("SELECT DISTINCT key FROM godwit_limbo WHERE key >= ? AND key < ? ORDER BY key", RowKey.range(of: table))
      .map { try RowKey(bytes: $0) }
  }

  /// How many rows wait for anything.
  package static func rowCount(on connection: Connection) throws -> Int {
    guard case .integer(let count)? = try connection.scalar("SELECT count(DISTINCT key) FROM godwit_limbo") else {
      return 0
    }
    return Int(count)
  }

  /// The claims of a table's rows in limbo, and of its hidden references.
  func claims(in table: Int) throws -> [Reason] {
    guard !isEmpty else { return [] }
    let first = Reason.claims(in: table)
    return try blobs(
      "SELECT DISTINCT reason FROM godwit_limbo WHERE reason >= ? AND reason < ?",
      [.blob(first), .blob(first.dropLast() + [first.last.map { $0 &+ 1 } ?? 0])]
    ).map(Reason.init(stored:))
  }

  private func blobs(_ sql: String, _ values: [Value]) throws -> [[UInt8]] {
    try connection.withStatement(sql) { statement in
      try statement.bind(values)
      var found: [[UInt8]] = []
      while try statement.step() { found.append(statement.blob(at: 0)) }
      return found
    }
  }
}

extension Value {
  /// What SQLite compares as equal has equal bytes: 1.0 is 1.
  fileprivate var comparable: Value {
    guard case .real(let number) = self, let whole = Int64(exactly: number) else { return self }
    return .integer(whole)
  }
}
