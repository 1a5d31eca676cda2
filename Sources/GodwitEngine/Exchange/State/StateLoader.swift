import GodwitBase
import GodwitKeys
import GodwitModel
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Loads a state file into a database without rows, inside the import's transaction, so that all is as if every
/// transaction had been applied one by one (Specs/state-file.md, "Loading").
final class StateLoader {
  private let writer: ReplicaWriter
  private let connection: Connection
  private let file: SyncFileReader
  private let head: StateHead
  private let numbering: StateNumbering
  private let items: StateCheck
  private let tables: [MergeTable]
  private let states: RowStates
  private let adapter: SchemaAdapter
  /// The greatest timestamp of all that the state file has.
  private var latest: HLC
  /// Rows loaded, by the file's number of their table.
  private var rowCounts: [Int]
  /// What each origin's next transaction inherits, by the file's number of the origin; nil where all of it was found
  /// here.
  private var inherited: [VersionVector?]

  init(_ file: SyncFileReader, _ head: StateHead, writer: ReplicaWriter) throws {
    self.writer = writer
    self.file = file
    self.head = head
    connection = writer.connection
    numbering = StateNumbering(head.origins.map(\.origin))
    items = StateCheck(vector: head.vector)
    let known = MergeTables(connection, catalog: writer.catalog, functions: writer.mergeFunctions)
    tables = try file.header.tables.map { definition in
      if let own = writer.catalog[definition.name]?.definition, !own.isSynced {
        throw GodwitError(
          .needsMigration, "table \(own.name) stays on this replica, and the state file has rows of it",
          hint: "let it travel first: godwit table start-sync \(own.name); nothing was changed")
      }
      guard let table = try known.named(definition.name),
        table.definition.columns.map(\.name) == definition.columns.map(\.name),
        table.definition.keyCount == definition.keyCount
      else {
        throw GodwitError(
          .needsMigration, "table \(definition.name) has other columns here than in the state file",
          hint: "open both replicas with the same version of the program; nothing was changed")
      }
      return table
    }
    states = RowStates(connection: connection, origins: writer.log.origins)
    adapter = SchemaAdapter(connection, writer.catalog)
    latest = head.clock
    rowCounts = tables.map { _ in 0 }
    inherited = head.origins.map(\.floorContext)
  }

  /// Rows loaded, by table.
  var rows: [(table: String, count: Int)] { zip(tables, rowCounts).map { ($0.definition.name, $1) } }

  func run(_ progress: ProgressHandler?) throws {
    try writer.clock.take(head.clock)
    try placeOrigins()
    while let block = try file.nextBlock() {
      var reader = ByteReader(block)
      while !reader.isAtEnd {
        try load(
          try StateItem(
            reading: &reader, tables: tables.count, origins: head.origins.count,
            migrations: file.header.migrations.count))
      }
    }
    try finish()
    progress?(1)
  }

  private func take(_ hlc: HLC, of row: RowKey) throws {
    latest = max(latest, hlc)
    try writer.clock.take(hlc, of: row)
  }

  /// The log begins behind what has been forgotten.
  private func placeOrigins() throws {
    let origins = writer.log.origins
    for origin in head.origins {
      let number = try origins.number(of: origin.origin)
      try origins.raiseFloor(of: origin.origin, to: origin.floor, chain: origin.floorChain)
      origins.advance(origin.origin, to: origin.floor, chain: origin.floorChain)
      guard head.vector.covers(origin.floorContext) else {
        throw ByteReader.malformed("what was forgotten in a state file had seen what is not in it")
      }
      guard origin.floor > .none, !origin.floorContext.isEmpty else { continue }
      try writer.log.addContext(origin.floorContext, at: LogKey(origin: number, origin.floor))
    }
  }

  private func load(_ item: StateItem) throws {
    switch item {
    case .row(let number, let values):
      try items.checkRow(values, of: tables[number].definition)
      try values.withUnsafeBytes { try tables[number].rows.insert(encoded: $0) }
      rowCounts[number] += 1
    case .state(let number, let key, let bytes):
      try items.check(key, count: tables[number].definition.keyCount)
      var reader = ByteReader(bytes)
      let state = try RowState(reading: &reader, origins: numbering, contributionLimit: file.contributionLimit)
      try file.take(contributions: state.contributionCount)
      try reader.expectEnd()
      try items.check(state, tables[number].definition)
      let row = RowKey(table: tables[number].number, key: key)
      try states.save(state, for: row)
      if let hlc = state.latest { try take(hlc, of: row) }
    case .limbo(let kind, let targetTable, let rest, let number, let key):
      try items.check(key, count: tables[number].definition.keyCount)
      let target = try items.target(kind: kind, table: targetTable.map { tables[$0].number }, rest: rest)
      let row = RowKey(table: tables[number].number, key: key)
      try Limbo.load(target, for: row, on: connection)
    case .ahead(let number, let key, let hlc):
      try items.check(key, count: tables[number].definition.keyCount)
      try take(hlc, of: RowKey(table: tables[number].number, key: key))
    case .transaction(let number, let transaction):
      let origin = head.origins[number]
      let sequence = try writer.log.origins.head(of: origin.origin).sequence.next
      guard sequence <= origin.sequence else {
        throw ByteReader.malformed("an origin has more transactions than its head")
      }
      let record = try transaction.record(Dot(origin.origin, sequence), folded: origin.folded)
      try requireCauses(of: record, number)
      try writer.log.append(record, Captured(changes: transaction.changes, deletedCells: transaction.deletedCells))
      if let awaited = try adapter.terms(of: record).awaited {
        throw ByteReader.malformed("a transaction of a state file that uses \(awaited), which its sender has not got")
      }
      try writer.clock.take(record, adapter)
    }
  }

  /// Causes come first, so that all that a transaction had seen is here.
  private func requireCauses(of record: TransactionRecord, _ number: Int) throws {
    guard let context = record.context ?? inherited[number] else { return }
    guard writer.log.origins.vector.covers(context) else {
      throw ByteReader.malformed("a transaction of a state file ahead of what it had seen")
    }
    inherited[number] = nil
  }

  /// A row whose parent is not shown waits in limbo at its sender, so no table of a state has one that refers to none.
  private func checkReferences() throws {
    for table in tables where table.definition.columns.contains(where: { $0.reference != nil }) {
      let check = "PRAGMA foreign_key_check(\(SQLName.quoted(table.definition.name)))"
      guard try !connection.withStatement(check, { try $0.step() }) else {
        throw ByteReader.malformed(
          "a row of table \(table.definition.name) refers to one that is not in the state file")
      }
    }
  }

  private func finish() throws {
    try checkReferences()
    let origins = writer.log.origins
    for origin in head.origins {
      let reached = try origins.head(of: origin.origin)
      guard reached.sequence == origin.sequence, reached.chain == origin.chain else {
        throw ByteReader.malformed("the transactions of a state file do not reach its head")
      }
    }
    try origins.save(Set(head.origins.map(\.origin)))
    try origins.markFolded(
      through: VersionVector(Dictionary(uniqueKeysWithValues: head.origins.map { ($0.origin, $0.folded) })))
    try writer.clock.noteForgotten(latest)
    try writer.clock.save(through: origins.head(of: origins.own).sequence)
  }
}
