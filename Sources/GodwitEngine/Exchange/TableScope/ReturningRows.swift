import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Rows that come back to their table as it begins to travel, once that holds what the group has (Specs/table-scope.md,
/// "Starting").
struct ReturningRows {
  private let writer: ReplicaWriter
  private let aside: TableSync.Aside
  private let entry: CatalogTable
  private let table: MergeTable
  private let isKnown: Bool
  private let states: RowStates
  private let conflicts: ConflictLog
  /// Of what was written here and never logged.
  private let unlogged: CellStamp
  /// A transaction's part: enough that each costs little, few enough to stay far from its limit.
  private static let rowsPerTransaction = 5_000

  init(_ aside: TableSync.Aside, _ entry: CatalogTable, isKnown: Bool, _ writer: ReplicaWriter) throws {
    self.writer = writer
    self.aside = aside
    self.isKnown = isKnown
    self.entry = entry
    table = try MergeTables(writer.connection, catalog: writer.catalog, functions: writer.mergeFunctions)[entry.id]
    states = RowStates(connection: writer.connection, origins: writer.log.origins)
    conflicts = ConflictLog(writer.connection, origins: writer.log.origins)
    unlogged = CellStamp(
      hlc: HLC(milliseconds: writer.wallClock.milliseconds(), counter: 0), dot: Dot(writer.log.origins.own, .none))
  }

  /// What went here goes first, then what was changed, then what is new: a unique value may have passed from row to
  /// row. Returns how many rows there were.
  func run(stampedAs stamp: HLC?) throws -> Int {
    if let former = aside.former {
      try forEachBatch(former.missing(from: aside.name)) { keys in
        for key in keys { try delete(rowKey(key), former.values(key)) }
      }
      try change(since: former)
    }
    var count = 0
    try forEachBatch(rows, stampedAs: stamp) { rows in
      count += rows.count
      for row in rows {
        let key = Array(row.prefix(definition.keyCount))
        if let former = aside.former, try former.values(key) != nil { continue }
        try insert(row)
      }
    }
    return count
  }

  /// Changes what was changed here. What a unique value keeps out is tried again as long as another row could be
  /// changed.
  private func change(since former: FormerRows) throws {
    var refused: [[Value]] = []
    try forEachBatch(rows) { refused += try change($0, since: former, isLast: false) }
    var isAdvancing = true
    while !refused.isEmpty {
      var left: [[Value]] = []
      // Backwards: where each waits for the next one a value is passed on in one go, and then in the other direction.
      try writer.reported { left = try change(refused.reversed(), since: former, isLast: !isAdvancing) }
      isAdvancing = left.count < refused.count
      refused = left
    }
  }

  /// The rows among them that a constraint refused.
  private func change(_ rows: [[Value]], since former: FormerRows, isLast: Bool) throws -> [[Value]] {
    try rows.filter { row in
      let key = Array(row.prefix(definition.keyCount))
      guard let before = try former.values(key) else { return false }
      return try !change(rowKey(key), from: before, to: Array(row.dropFirst(key.count)), isLast: isLast)
    }
  }

  private var rows: SQL { SQL(text: "SELECT \(definition.quotedColumnList) FROM \(aside.name) ORDER BY rowid") }

  private var definition: TableDefinition { entry.definition }

  private func rowKey(_ values: [Value]) -> RowKey { RowKey(table: table.number, key: values.encoded[...]) }

  /// Hands over the rows some at a time; what is done with them is one transaction each.
  private func forEachBatch(_ sql: SQL, stampedAs stamp: HLC? = nil, _ body: ([[Value]]) throws -> Void) throws {
    var batch: [[Value]] = []
    func finish() throws {
      guard !batch.isEmpty else { return }
      try writer.reported(stampedAs: stamp) { try body(batch) }
      batch.removeAll()
    }
    try writer.connection.withStatement(sql.text) { statement in
      while try statement.step() {
        batch.append(try (0..<statement.columnCount).map { try statement.value(at: Int32($0)) })
        if batch.count == Self.rowsPerTransaction { try finish() }
      }
    }
    try finish()
  }

  // MARK: Rows that the group does not know of

  private func insert(_ values: [Value]) throws {
    let key = rowKey(Array(values.prefix(definition.keyCount)))
    let rest = Array(values.dropFirst(definition.keyCount))
    if isKnown {
      let current = try table.rows.values(key.key)
      if try current != nil || states.load(key) != nil { return try keep(rest, of: key, insteadOf: current) }
    }
    do {
      try table.rows.insert(key.key, rest)
    } catch let error as GodwitError where (isKnown || aside.hadHidden) && error.code == .constraint {
      return try keep(rest, of: key, insteadOf: nil)
    }
    try CaptureTriggers.report(values, insertedInto: entry, on: writer.connection)
  }

  // MARK: Rows that were changed here

  /// A cell that the group has left alone takes what it became here, unless somebody has written to its row at the end
  /// of time.
  ///
  /// - Parameter isLast: Whether what a constraint refuses is a conflict. Otherwise that gives false, and the row is as
  ///   it was.
  private func change(_ key: RowKey, from before: [Value], to here: [Value], isLast: Bool) throws -> Bool {
    let changed = here.indices.filter { here[$0] != before[$0] }
    guard !changed.isEmpty else { return true }
    let there = try table.rows.values(key.key)
    let current = try writer.clock.canPass(key) ? there : nil
    var written: [(column: Int, value: Value)] = []
    var lost: [Int] = []
    for place in changed {
      let column = definition.keyCount + place
      guard let current, let value = joined(before[place], here[place], current[place], column) else {
        lost.append(place)
        continue
      }
      if value != current[place] { written.append((column, value)) }
    }
    if let current, !written.isEmpty, try !update(key, current, written) {
      guard isLast else { return false }
      lost += written.map { $0.column - definition.keyCount }
    }
    for place in lost { try keep(place, here[place], of: key, insteadOf: there?[place] ?? .null) }
    return true
  }

  /// Whether the table takes it.
  private func update(_ key: RowKey, _ current: [Value], _ written: [(column: Int, value: Value)]) throws -> Bool {
    do {
      try table.rows.update(key.key, written)
    } catch let error as GodwitError where error.code == .constraint {
      return false
    }
    let old = try table.row(key, current)
    var new = old
    for cell in written { new[cell.column] = cell.value }
    try CaptureTriggers.report(old, becoming: new, in: entry, on: writer.connection)
    return true
  }

  /// What a cell becomes that was changed here; nil when the group has changed it otherwise. Changes of counts and sets
  /// come together.
  private func joined(_ before: Value, _ here: Value, _ current: Value, _ column: Int) -> Value? {
    switch (table.rules.policy(of: column), before, here, current) {
    case (.counter, .integer(let before), .integer(let here), .integer(let current)):
      return .integer(current &+ (here &- before))
    case (.addWinsSet, _, _, _):
      func elements(_ value: Value) -> Set<Value> { SetElements.distinct(SetElements.parse(value) ?? []) }
      let (before, here, current) = (elements(before), elements(here), elements(current))
      return SetElements.value(of: current.subtracting(before.subtracting(here)).union(here.subtracting(before)))
    default: return current == before || current == here ? here : nil
    }
  }

  /// A row that the group has left alone goes as it went here.
  private func delete(_ key: RowKey, _ before: [Value]?) throws {
    let current = try table.rows.values(key.key)
    // One that waits may come back for others.
    guard try current != nil || states.load(key)?.isAlive(definition.deletes) == true else { return }
    guard let current, current == before, try writer.clock.canPass(key) else {
      _ = try conflicts.add(
        ConflictEntry(
          kind: .delete, row: key, columns: [], values: [], winningValues: [], loser: unlogged, winner: nil))
      return
    }
    try table.rows.delete(key.key)
    try CaptureTriggers.report(table.row(key, current), deletedFrom: entry, on: writer.connection)
  }

  // MARK: Conflicts

  /// Keeps what the row was here in the conflict log.
  private func keep(_ values: [Value], of key: RowKey, insteadOf current: [Value]?) throws {
    for (place, value) in values.enumerated() where current?[place] != value {
      try keep(place, value, of: key, insteadOf: current?[place] ?? .null)
    }
    guard values.isEmpty, current == nil else { return }
    _ = try conflicts.add(
      ConflictEntry(kind: .edit, row: key, columns: [], values: [], winningValues: [], loser: unlogged, winner: nil))
  }

  private func keep(_ place: Int, _ value: Value, of key: RowKey, insteadOf current: Value) throws {
    _ = try conflicts.add(
      ConflictEntry(
        kind: .edit, row: key, columns: [definition.columns[definition.keyCount + place].name], values: [value],
        winningValues: [current], loser: unlogged, winner: nil))
  }
}
