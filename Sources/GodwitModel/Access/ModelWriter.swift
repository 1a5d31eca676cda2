import GodwitBase
import GodwitStorage

/// Writes models through one connection.
///
/// A long run of inserts turns triggers off and captures the rows itself, which spares each row the detour through
/// the trigger's program (Specs/decisions/0006-insert-runs.md). The first write of another kind turns them on again.
package final class ModelWriter {
  private let connection: Connection
  private let capture: (any InsertCapture)?
  /// Milliseconds since 1970 UTC, for timestamps.
  private let now: () -> Int64
  /// Tables whose own triggers make a failing statement more than one row's work; they get plain statements.
  private var tablesWithTriggers: Set<String> = []
  private var inserts: [ObjectIdentifier: Insert] = [:]
  private var latestInsert: Insert?
  private var runLength = 0
  private static let shortestRun = 64

  /// What inserting rows of one model needs.
  private final class Insert {
    let type: ObjectIdentifier
    let statement: Statement
    let layout: ModelLayout
    let capturedTable: CapturedTable

    init(type: ObjectIdentifier, statement: Statement, layout: ModelLayout, capturedTable: CapturedTable) {
      self.type = type
      self.statement = statement
      self.capturedTable = capturedTable
      self.layout = layout
    }
  }

  package init(_ connection: Connection, capture: (any InsertCapture)? = nil, now: @escaping () -> Int64) {
    self.connection = connection
    self.now = now
    self.capture = capture
  }

  /// Forgets what depends on the schema: the tables themselves and the program's own triggers.
  package func reset(tablesWithTriggers: Set<String>) {
    for insert in inserts.values { connection.giveBack(insert.statement) }
    inserts.removeAll()
    latestInsert = nil
    self.tablesWithTriggers = tablesWithTriggers
  }

  /// Must come before any write but an insert through this writer.
  package func endRun() throws {
    runLength = 0
    try connection.setTriggers(true)
  }

  /// Counts one more insert of a run. Whether it is for the caller to capture, because triggers are off.
  package func extendRun() throws -> Bool {
    runLength += 1
    if runLength > Self.shortestRun { try connection.setTriggers(false) }
    return !connection.hasTriggers
  }

  /// Inserts the model and returns it as it is stored. Throws `constraint` when its key or a unique value is taken.
  package func insert<Root: Model>(_ model: consuming Root) throws -> Root {
    let insert = try insertion(Root.self)
    guard insert.layout.fillsIn else {
      try store(model, insert)
      return model
    }
    Root.schema.timestamps?.fill(&model, at: Timestamp(milliseconds: now()))
    if insert.layout.numbersKeys, try hasNoNumber(model, insert.layout) {
      try insertNumbering(&model, insert)
    } else {
      try store(model, insert)
    }
    return model
  }

  /// Inserts models of which nothing is filled in, without a copy of each to give back.
  package func insertUnchanged<Root: Model>(_ models: [Root]) throws {
    for model in models { try store(model, insertion(Root.self)) }
  }

  private func store<Root: Model>(_ model: Root, _ insert: Insert) throws {
    runLength += 1
    switch insert.capturedTable {
    case .byTriggers:
      try endRun()
      try connection.whole { try insertBinding(model, insert) }
    case .none:
      try insertBinding(model, insert)
    case .direct(let table):
      if runLength > Self.shortestRun { try connection.setTriggers(false) }
      if connection.hasTriggers { try insertBinding(model, insert) } else { try insertCapturing(model, insert, table) }
    }
  }

  private func hasNoNumber<Root: Model>(_ model: Root, _ layout: ModelLayout) throws -> Bool {
    try withUnsafeBytes(of: model) { bytes in
      guard let start = bytes.baseAddress else { return false }
      return try layout.accesses[0].storedValue(start + layout.accesses[0].offset) == .integer(0)
    }
  }

  /// A NULL in its place lets SQLite choose the number, which is then read back into the model.
  private func insertNumbering<Root: Model>(_ model: inout Root, _ insert: Insert) throws {
    if case .byTriggers = insert.capturedTable { try endRun() }
    try connection.whole {
      try withUnsafeBytes(of: model) { bytes in
        guard let start = bytes.baseAddress else { return }
        try insert.layout.bind(start, to: insert.statement)
      }
      try insert.statement.bindNull(at: 1)
      try insert.statement.run()
    }
    try connection.withStatement("SELECT last_insert_rowid()") { statement in
      guard try statement.step() else { return }
      let access = insert.layout.accesses[0]
      try withUnsafeMutableBytes(of: &model) { bytes in
        guard let start = bytes.baseAddress else { return }
        try access.read(start + access.offset, ColumnReaderSource(statement, 0))
      }
    }
  }

  private func insertBinding<Root: Model>(_ model: Root, _ insert: Insert) throws {
    try withUnsafeBytes(of: model) { bytes in
      guard let start = bytes.baseAddress else { return }
      try insert.layout.bind(start, to: insert.statement)
    }
    try insert.statement.run()
  }

  /// The row is encoded once, for the log, and bound from those bytes.
  private func insertCapturing<Root: Model>(_ model: Root, _ insert: Insert, _ table: Int) throws {
    try capture?.insert(table: table) { writer in
      try withUnsafeBytes(of: model) { bytes in
        guard let start = bytes.baseAddress else { return }
        try insert.layout.encode(start, to: writer)
      }
    } store: { row in
      try insert.statement.bindBorrowed(encoded: row)
      try insert.statement.run()
    }
  }

  /// Writes the columns whose values differ from the stored ones; returns whether there were any.
  /// Throws `notFound` when no row has the key.
  package func update<Root: Model>(_ model: Root) throws -> Bool {
    try endRun()
    let values = try Self.values(model)
    guard let stored = try storedValues(Root.self, like: values) else {
      throw GodwitError(
        .notFound, "table \(Root.schema.table) has no row with this key", hint: "use save to insert it when it is new")
    }
    return try write(Root.self, values, replacing: stored) != nil
  }

  /// Inserts the model when its key is new, else updates it; leaves it as it is stored. Returns whether anything was
  /// written.
  package func save<Root: Model>(_ model: inout Root) throws -> Bool {
    try endRun()
    let values = try Self.values(model)
    guard let stored = try storedValues(Root.self, like: values) else {
      model = try insert(model)
      return true
    }
    let written = try write(Root.self, values, replacing: stored)
    if let timestamps = Root.schema.timestamps {
      let places = Root.schema.layout.timestamps
      try timestamps.set(&model, created: stored[places[0]], updated: (written ?? stored)[places[1]])
    }
    return written != nil
  }

  /// Deletes the row with this key; returns whether there was one. Throws `constraint` when rows refer to it that
  /// forbid this.
  package func delete<Root: Model>(_ type: Root.Type, key: Root.ID) throws -> Bool {
    try endRun()
    do {
      return try connection.whole {
        try connection.withStatement(Root.schema.layout.deleteByKey) { statement in
          try key.bind(to: statement, columns: Root.schema.keyCount)
          try statement.run()
          return connection.changes > 0
        }
      }
    } catch let error as GodwitError where error.code == .constraint {
      throw try refused(error, Root.schema.table)
    }
  }

  private func refused(_ error: GodwitError, _ table: String) throws -> GodwitError {
    let columns = try connection.restrictingReferences(to: table)
    guard !columns.isEmpty else { return error }
    let list = columns.joined(separator: ", ")
    return GodwitError(
      .constraint, "FOREIGN KEY constraint failed: rows may refer to this row of \(table) in \(list)",
      hint: "delete those rows first, or declare the reference with another onDelete", underlying: error)
  }

  private func insertion<Root: Model>(_ type: Root.Type) throws -> Insert {
    let identifier = ObjectIdentifier(type)
    if let latestInsert, latestInsert.type == identifier { return latestInsert }
    if let known = inserts[identifier] {
      latestInsert = known
      return known
    }
    var layout = Root.schema.layout
    var captured: CapturedTable = canFail(Root.self) ? capture?.table(layout.table) ?? .none : .byTriggers
    // Rows go into the log in the order of the table's columns; a table that a model was added to has another.
    if case .direct(let table) = captured, let capture {
      if let arranged = layout.arranged(as: capture.columns(of: table)) {
        layout = arranged
      } else {
        captured = .byTriggers
      }
    }
    let statement = try connection.borrow(canFail(Root.self) ? layout.insertOrFail : layout.insert)
    let insert = Insert(type: identifier, statement: statement, layout: layout, capturedTable: captured)
    inserts[identifier] = insert
    latestInsert = insert
    return insert
  }

  private func canFail<Root: Model>(_ type: Root.Type) -> Bool {
    !tablesWithTriggers.contains(Root.schema.table.lowercased())
  }

  /// Returns the row as it is now, or nil when nothing differs. Timestamps are not the program's to write.
  func write<Root: Model>(_ type: Root.Type, _ values: [Value], replacing stored: [Value]) throws -> [Value]? {
    let layout = Root.schema.layout
    var changed = (layout.keyCount..<values.count).filter {
      values[$0] != stored[$0] && !layout.timestamps.contains($0)
        && !Root.schema.columns[$0].areSame(values[$0], stored[$0])
    }
    guard !changed.isEmpty else { return nil }
    var values = values
    if let updated = layout.timestamps.last {
      values[updated] = .integer(now())
      changed.append(updated)
    }
    let sql = layout.update(columns: changed, orFail: canFail(Root.self))
    try connection.whole { try connection.run(sql, changed.map { values[$0] } + values.prefix(layout.keyCount)) }
    return values
  }

  /// The row that has the key of these values.
  func storedValues<Root: Model>(_ type: Root.Type, like values: [Value]) throws -> [Value]? {
    try connection.withStatement(Root.schema.layout.selectByKey) { statement in
      try statement.bind(Array(values.prefix(Root.schema.layout.keyCount)))
      guard try statement.step() else { return nil }
      return try (0..<Root.schema.columns.count).map { try statement.value(at: Int32($0)) }
    }
  }

  private static func values<Root: Model>(_ model: Root) throws -> [Value] {
    try withUnsafeBytes(of: model) { bytes in
      guard let start = bytes.baseAddress else { return [] }
      return try Root.schema.layout.values(start)
    }
  }
}
