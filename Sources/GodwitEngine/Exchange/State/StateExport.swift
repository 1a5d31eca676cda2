import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Writes the whole state of a database, as one read transaction sees it, into a sync file, a row at a time
/// (Specs/state-file.md).
struct StateExport {
  private let connection: Connection
  private let log: ChangeLog
  private let tables: [CatalogTable]
  let head: StateHead

  init(_ connection: Connection, _ log: ChangeLog, tables: [CatalogTable], _ prover: HistoryProver) throws {
    self.connection = connection
    self.log = log
    self.tables = tables
    let own = try log.origins.head(of: log.origins.own)
    let clock = try ReplicaClock.last(Meta.all(on: connection), own: own, latest: log.origins.ownLatest)
    // What has been forgotten in part is forgotten for who begins with this.
    let floor = try ForgottenVector.load(log, on: connection)
    head = StateHead(
      origins: try log.origins.vector.origins.map { origin in
        let head = try log.origins.head(of: origin)
        let last = Dot(origin, floor[origin])
        return StateHead.Origin(
          origin: origin, sequence: head.sequence, chain: head.chain, folded: head.folded, floor: last.sequence,
          floorChain: try log.chain(at: last) ?? head.floorChain, floorContext: try log.othersContext(of: last),
          proof: try prover.requiredProof(of: origin))
      }, clock: max(clock, try AheadRows(connection: connection).greatest(of: []) ?? clock))
  }

  func write(to writer: SyncFileWriter) throws {
    for number in tables.indices { try writeRows(of: number, to: writer) }
    try writeStates(to: writer)
    try writeLimbo(to: writer)
    try writeAhead(to: writer)
    try writeTransactions(to: writer)
  }

  private func writeRows(of number: Int, to writer: SyncFileWriter) throws {
    let table = tables[number].definition
    let sql = "SELECT \(table.quotedColumnList) FROM \(SQLName.quoted(table.name)) ORDER BY \(table.quotedKeyList)"
    var row = ByteWriter(capacity: 256)
    try connection.withStatement(sql) { statement in
      while try statement.step() {
        row.removeAll()
        for column in table.columns.indices { statement.write(at: Int32(column), to: &row) }
        try writer.append(.row(table: number, values: row.bytes[...]))
      }
    }
  }

  private func writeStates(to writer: SyncFileWriter) throws {
    let numbering = StateNumbering(head.origins.map(\.origin))
    let places = places
    try RowStates.forEachStored(on: connection) { key, stored in
      guard let number = places[key.table] else { return }
      var reader = ByteReader(stored)
      var bytes = ByteWriter(capacity: 64)
      let state = try RowState(reading: &reader, origins: log.origins)
      try state.write(to: &bytes, origins: numbering)
      try writer.append(
        .state(table: number, key: key.key, state: bytes.bytes[...]), contributions: state.contributionCount)
    }
  }

  private func writeLimbo(to writer: SyncFileWriter) throws {
    let places = places
    try Limbo.forEach(on: connection) { reason, key in
      guard let number = places[key.table] else { return }
      let target = try reason.parts()
      try writer.append(
        .limbo(kind: target.kind, targetTable: places[target.table], target: target.rest, table: number, key: key.key))
    }
  }

  private func writeAhead(to writer: SyncFileWriter) throws {
    let places = places
    try AheadRows(connection: connection).forEach { key, hlc in
      guard let number = places[key.table] else { return }
      try writer.append(.ahead(table: number, key: key.key, hlc: hlc))
    }
  }

  private func writeTransactions(to writer: SyncFileWriter) throws {
    let numbering = StateNumbering(head.origins.map(\.origin))
    let floor = VersionVector(Dictionary(uniqueKeysWithValues: head.origins.map { ($0.origin, $0.floor) }))
    var order = try log.order(after: floor, through: log.origins.vector)
    while let entry = try order.next() {
      let number = try numbering.number(of: entry.record.dot.origin)
      try writer.append(
        .transaction(origin: number, StateTransaction(entry.record, deletedCells: entry.deletedCells)))
    }
  }

  private var places: [Int: Int] { Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.id, $0) }) }
}
