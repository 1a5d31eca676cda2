import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage

/// The change log of a database: every transaction of every origin, in origin order
/// (`godwit_log`, and `godwit_context` for what their authors held).
package final class ChangeLog {
  static let creation = """
    CREATE TABLE godwit_log (id INTEGER PRIMARY KEY, hlc INTEGER NOT NULL, chain BLOB NOT NULL, schema INTEGER NOT NULL,
      size INTEGER NOT NULL, changes BLOB NOT NULL, deleted_cells BLOB, sums BLOB);
    CREATE TABLE godwit_context (id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
    """

  let connection: Connection
  private let coder = LogCoder()
  package private(set) var origins: OriginTable
  private var contexts: [Dot: VersionVector] = [:]

  package init(_ connection: Connection) throws {
    self.connection = connection
    origins = try OriginTable(connection)
  }

  /// Reads what is kept in memory anew from the database.
  func reload() throws {
    origins = try OriginTable(connection)
    contexts.removeAll()
  }

  /// Appends a transaction that follows directly on its origin's head, with what was captured of it here.
  func append(_ record: TransactionRecord, _ captured: Captured) throws {
    let head = try origins.head(of: record.dot.origin)
    guard record.dot.sequence == head.sequence.next, record.changes.count <= TransactionRecord.changesByteLimit else {
      throw GodwitError(.damagedLog, "transaction \(record.dot.sequence.rawValue) does not follow its origin's head")
    }
    let chain = record.chain(after: head.chain, captured.pieces)
    let key = LogKey(origin: head.number, record.dot.sequence).rawValue
    let columns = "id, hlc, chain, schema, size, changes, deleted_cells, sums"
    let sql = "INSERT INTO godwit_log (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    try connection.withStatement(sql) { statement in
      try statement.bind(key, at: 1)
      try statement.bind(Int64(record.hlc.rawValue), at: 2)
      try statement.bind(blob: chain.bytes, at: 3)
      try statement.bind(Int64(record.schemaVersion), at: 4)
      if captured.deletedCells.isEmpty {
        try statement.bindNull(at: 7)
      } else {
        try statement.bind(blob: captured.deletedCells, at: 7)
      }
      if captured.entrySums.isEmpty {
        try statement.bindNull(at: 8)
      } else {
        try statement.bind(blob: captured.entrySums, at: 8)
      }
      try coder.withPacked(captured) { bytes, size in
        try statement.bind(Int64(size), at: 5)
        try statement.bind(blob: bytes, at: 6)
        try statement.run()
      }
    }
    if let context = record.context { try addContext(context, at: LogKey(rawValue: key)) }
    origins.advance(record.dot.origin, to: record.dot.sequence, chain: chain)
  }

  /// Keeps what the author of a transaction held, where that is not what it held before.
  func addContext(_ context: VersionVector, at key: LogKey) throws {
    var writer = ByteWriter()
    context.write(to: &writer)
    try connection.run(
      "INSERT INTO godwit_context (id, vector) VALUES (?, ?)", [.integer(key.rawValue), .blob(writer.bytes)])
  }

  /// What the transaction's author held when writing it, without the author's own entry.
  package func othersContext(of dot: Dot) throws -> VersionVector {
    let number = try origins.number(of: dot.origin)
    let sql = "SELECT vector FROM godwit_context WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1"
    return try connection.withStatement(sql) { statement in
      try statement.bind(LogKey(origin: number, .none).rawValue, at: 1)
      try statement.bind(LogKey(origin: number, dot.sequence).rawValue, at: 2)
      guard try statement.step() else { return VersionVector() }
      var reader = ByteReader(statement.blob(at: 0))
      return try VersionVector(reading: &reader)
    }
  }

  /// All that the transaction's author held with it, the transaction itself included.
  package func context(of dot: Dot) throws -> VersionVector {
    if let context = contexts[dot] { return context }
    var context = try othersContext(of: dot)
    context[dot.origin] = dot.sequence
    if contexts.count > 4_096 { contexts.removeAll() }
    contexts[dot] = context
    return context
  }

  /// The origin's chain at a sequence that is held here; nil below its floor.
  package func chain(at dot: Dot) throws -> ContentHash? {
    guard dot.sequence > .none else { return .zero }
    let head = try origins.head(of: dot.origin)
    if dot.sequence == head.floor { return head.floorChain }
    let key = LogKey(origin: try origins.number(of: dot.origin), dot.sequence).rawValue
    return try connection.withStatement("SELECT chain FROM godwit_log WHERE id = ?") { statement in
      try statement.bind(key, at: 1)
      guard try statement.step() else { return nil }
      return ContentHash(bytes: statement.blob(at: 0))
    }
  }

  /// A transaction; nil when the log does not have it any more.
  package func record(of dot: Dot) throws -> TransactionRecord? {
    let before = SequenceNumber(rawValue: dot.sequence.rawValue - 1)
    return try cursor(of: dot.origin, after: before, through: dot.sequence).next()?.record
  }

  /// The transactions of any origin with later timestamps than this one. Looks at the whole log, at no change set.
  func transactions(after hlc: HLC) throws -> [Dot] {
    try connection.withStatement("SELECT id FROM godwit_log WHERE hlc > ?") { statement in
      try statement.bind(Int64(hlc.rawValue), at: 1)
      var dots: [Dot] = []
      while try statement.step() {
        let key = LogKey(rawValue: statement.integer(at: 0))
        dots.append(Dot(try origins.origin(numbered: key.originNumber), key.sequence))
      }
      return dots
    }
  }

  /// Calls the body with an origin's transactions after `sequence`, in order, and the cells of rows that they deleted.
  package func forEach(
    of origin: Origin, after sequence: SequenceNumber, through last: SequenceNumber = .limit,
    _ body: (TransactionRecord, _ deletedCells: [UInt8]) throws -> Void
  ) throws {
    let cursor = try cursor(of: origin, after: sequence, through: last)
    while let (record, deletedCells) = try cursor.next() { try body(record, deletedCells) }
  }

  /// Calls the body with the transactions that no fold has seen, causes first, their contexts and the cells of deleted
  /// rows; returns how far it came.
  func forEachUnfolded(
    through end: VersionVector, limit: Int = .max,
    _ body: (TransactionRecord, _ context: VersionVector, _ deletedCells: [UInt8]) throws -> Void
  ) throws -> VersionVector {
    let start = origins.foldedVector
    var order = try order(after: start, through: end)
    var passed = start
    for _ in 0..<limit {
      guard let entry = try order.next() else { break }
      try body(entry.record, entry.context, entry.deletedCells)
      passed[entry.record.dot.origin] = entry.record.dot.sequence
    }
    return passed
  }

  /// The transactions of all origins between two vectors, causes first.
  func order(after start: VersionVector, through end: VersionVector) throws -> LogOrder {
    let ranges = try end.origins.filter { start[$0] < end[$0] }.map { origin in
      LogOrder.Range(
        origin: origin, after: start[origin], through: end[origin],
        contextBefore: try othersContext(of: Dot(origin, start[origin])))
    }
    return try LogOrder(self, ranges, covered: start)
  }

  /// Reads an origin's transactions one by one.
  func cursor(of origin: Origin, after sequence: SequenceNumber, through last: SequenceNumber) throws -> LogCursor {
    let sql = """
      SELECT l.id, l.hlc, l.schema, l.size, l.changes, l.deleted_cells, c.vector
      FROM godwit_log l LEFT JOIN godwit_context c ON c.id = l.id WHERE l.id > ? AND l.id <= ? ORDER BY l.id
      """
    let number = try origins.number(of: origin)
    let statement = try connection.borrow(sql)
    let cursor = LogCursor(statement, of: origin, coder, on: connection)
    try statement.bind(LogKey(origin: number, sequence).rawValue, at: 1)
    try statement.bind(LogKey(origin: number, last).rawValue, at: 2)
    return cursor
  }
}
