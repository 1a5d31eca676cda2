import GodwitBase
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// The sum of one synced table's rows as the running transaction leaves them (Specs/state-hash.md).
package final class TableTally {
  fileprivate(set) var definition: TableDefinition { didSet { made = nil } }
  fileprivate(set) var sum = StateSum.zero
  /// Whether `godwit_table` has another sum.
  fileprivate(set) var hasChanged = false
  private let group: GroupID
  private var made: TableHash?

  init(_ definition: TableDefinition, group: GroupID) {
    self.definition = definition
    self.group = group
  }

  var hash: TableHash {
    if let made { return made }
    let hash = TableHash(definition, of: group)
    made = hash
    return hash
  }

  func add(_ term: StateSum) {
    guard term != .zero else { return }
    sum += term
    hasChanged = true
  }

  func remove(_ term: StateSum) {
    guard term != .zero else { return }
    sum -= term
    hasChanged = true
  }
}

/// The sums of all synced tables, kept with every change and written with it (Specs/state-hash.md, "Keeping").
final class StateTally {
  private let connection: Connection
  private let group: GroupID
  private var tables: [Int: TableTally] = [:]
  /// Tables whose sums are to be computed anew: they were written to without being looked at.
  private var unknown: Set<Int> = []
  /// Whether the running transaction has changed sums that neither `godwit_table` nor an own log entry has.
  private(set) var isDirty = false

  /// More than these in an entry cost more than writing `godwit_table` once.
  private static let entryLimit = 16

  init(_ connection: Connection, group: GroupID) {
    self.connection = connection
    self.group = group
  }

  subscript(number: Int) -> TableTally? { tables[number] }

  /// Takes the tables as they are now; sums stay.
  func follow(_ catalog: Catalog) {
    var kept: [Int: TableTally] = [:]
    for entry in catalog.synced {
      let table = tables[entry.id] ?? TableTally(entry.definition, group: group)
      if table.definition != entry.definition { table.definition = entry.definition }
      kept[entry.id] = table
    }
    tables = kept
  }

  /// The hash of a table's rows; of one that is captured before it is followed, too.
  func hash(of entry: CatalogTable) -> TableHash {
    guard let table = tables[entry.id], table.definition == entry.definition else {
      return TableHash(entry.definition, of: group)
    }
    return table.hash
  }

  /// Reads all sums from the database.
  func load(_ catalog: Catalog, _ last: OwnSums?, summedThrough key: Int64) throws {
    follow(catalog)
    let present = try Self.present(catalog.sums, last, summedThrough: key)
    for (number, table) in tables {
      table.sum = present.sums[number] ?? .zero
      table.hasChanged = present.listed.contains(number)
    }
    // What the running transaction has written past all that looks is still to be looked at.
    isDirty = !unknown.isEmpty
  }

  /// What an own log entry says: its key, and the sums as bytes.
  struct OwnSums {
    let key: Int64
    let bytes: [UInt8]
  }

  /// The sums as `godwit_table` and the last own entry have them together.
  private static func present(
    _ base: [Int: StateSum], _ last: OwnSums?, summedThrough key: Int64
  ) throws -> (sums: [Int: StateSum], listed: Set<Int>) {
    guard let last, last.key > key, !last.bytes.isEmpty else { return (base, []) }
    var sums = base
    var listed: Set<Int> = []
    var reader = ByteReader(last.bytes)
    for _ in 0..<(try reader.count(limit: entryLimit, "sums")) {
      let number = try reader.count()
      sums[number] = StateSum(low: try reader.bigEndian(), high: try reader.bigEndian())
      listed.insert(number)
    }
    try reader.expectEnd()
    return (sums, listed)
  }

  /// The sums that a database holds, by table number, for who only reads.
  static func stored(_ connection: Connection, _ catalog: Catalog, _ origins: OriginTable) throws -> [Int: StateSum] {
    let meta = try Meta.all(on: connection)
    return try present(catalog.sums, origins.ownSums, summedThrough: summedThrough(meta)).sums
  }

  static func summedThrough(_ meta: [Meta: Value]) -> Int64 {
    if case .integer(let key)? = meta[.summed] { key } else { 0 }
  }

  // MARK: Changing

  /// Adds what an own transaction changed, and gives the bytes for its log entry; nil when `godwit_table` is to be
  /// written instead.
  func take(_ sums: [(table: Int, sum: StateSum)]) -> [UInt8] {
    for (number, sum) in sums { tables[number]?.add(sum) }
    let changed = tables.filter(\.value.hasChanged)
    guard changed.count <= Self.entryLimit, unknown.isEmpty else {
      isDirty = true
      return []
    }
    guard !changed.isEmpty else { return [] }
    var writer = ByteWriter(capacity: 2 + 18 * changed.count)
    writer.varint(changed.count)
    for (number, table) in changed.sorted(by: { $0.key < $1.key }) {
      writer.varint(number)
      table.sum.write(to: &writer)
    }
    return writer.bytes
  }

  /// Has a table's sum computed anew from its rows before the transaction commits.
  func recompute(_ number: Int) {
    unknown.insert(number)
    isDirty = true
  }

  /// Has all sums computed anew.
  func recomputeAll() { for number in tables.keys { recompute(number) } }

  /// What is to be put back when a savepoint is rolled back.
  func mark() -> [Int: StateSum] { tables.mapValues(\.sum) }

  func rewind(to mark: [Int: StateSum]) { for (number, sum) in mark { tables[number]?.sum = sum } }

  // MARK: Writing

  /// The transaction has been rolled back: all is read anew before the next.
  func discard() {
    isDirty = false
    unknown = []
  }

  /// Has ``flush(through:)`` write the sums that only log entries have.
  func touch() { if tables.values.contains(where: \.hasChanged) { isDirty = true } }

  /// Writes `godwit_table`, after which own entries up to this log key are not asked any more. Tables that are to be
  /// looked at are, unless they may not be what they are known as.
  func flush(through key: Int64, computing: Bool = true) throws {
    guard isDirty else { return }
    for number in computing ? unknown : [] {
      guard let table = tables[number] else { continue }
      table.sum = try StateScan.sum(of: table.definition, table.hash, on: connection)
      table.hasChanged = true
    }
    if computing { unknown = [] }
    let stored = StoredTables(connection)
    for (number, table) in tables where table.hasChanged {
      try stored.setSum(table.sum, of: number)
      table.hasChanged = false
    }
    try Meta.set(.summed, .integer(key), on: connection)
    isDirty = !unknown.isEmpty
  }

  /// The state that the sums make together.
  var state: StateHash { StateHash(tables.values.map { ($0.definition.name, $0.sum) }) }
}

extension StateSum {
  func write(to writer: inout ByteWriter) {
    writer.bigEndian(low)
    writer.bigEndian(high)
  }

  /// What `godwit_table` holds; zero for NULL.
  init(stored bytes: [UInt8]) throws {
    guard !bytes.isEmpty else {
      self = .zero
      return
    }
    var reader = ByteReader(bytes)
    self.init(low: try reader.bigEndian(), high: try reader.bigEndian())
    try reader.expectEnd()
  }
}
