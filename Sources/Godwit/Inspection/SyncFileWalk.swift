import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitEngine
import GodwitSyncFile

/// What is counted and checked while a sync file's transactions, or a state file's items, go by: the hash chains, that
/// every operation is well-formed, and that the state file's origins reach their heads.
struct SyncFileWalk {
  private let header: SyncFileHeader
  private var chains: [Origin: ContentHash] = [:]
  private var contexts: [Origin: VersionVector] = [:]
  private var counts: [String: [OperationKind: Int]] = [:]
  private var rows: [String: Int] = [:]
  /// Of each origin of a state file how far its transactions have gone by.
  private var sequences: [SequenceNumber]
  private let numbering: StateNumbering
  private let items: StateCheck
  /// The block of a state file that is being read.
  private var block = ByteReader([])

  init(_ header: SyncFileHeader) {
    self.header = header
    let origins = header.stateFile?.origins ?? []
    sequences = origins.map(\.floor)
    numbering = StateNumbering(origins.map(\.origin))
    items = StateCheck(vector: header.stateFile?.vector ?? VersionVector())
    for origin in origins {
      chains[origin.origin] = origin.floorChain
      contexts[origin.origin] = origin.floorContext
    }
    for range in header.ranges {
      chains[range.origin] = range.chainBefore
      contexts[range.origin] = range.contextAtFirst
    }
  }

  /// The next transaction; a state file's rows and states are checked on the way.
  mutating func next(in file: SyncFileReader) throws -> TransactionRecord? {
    guard let head = header.stateFile else { return try file.next() }
    while true {
      while !block.isAtEnd {
        let item = try StateItem(
          reading: &block, tables: header.tables.count, origins: head.origins.count,
          migrations: header.migrations.count)
        guard case .transaction(let number, let transaction) = item else {
          try take(item, in: file)
          continue
        }
        sequences[number] = sequences[number].next
        guard sequences[number] <= head.origins[number].sequence else {
          throw ByteReader.malformed("an origin has more transactions than its head")
        }
        let origin = head.origins[number]
        return try transaction.record(Dot(origin.origin, sequences[number]), folded: origin.folded)
      }
      guard let bytes = try file.nextBlock() else { return nil }
      block = ByteReader(bytes)
    }
  }

  mutating func take(_ record: TransactionRecord) throws {
    let origin = record.dot.origin
    chains[origin] = record.chain(after: chains[origin] ?? .zero)
    if let context = record.context { contexts[origin] = context }
    let changes = try ChangeSet(record.changes[...])
    try changes.forEach { counts[changes.tables[$0.table].name, default: [:]][$0.kind, default: 0] += 1 }
  }

  /// What the author of the transaction taken last held of others.
  func context(of origin: Origin) -> VersionVector { contexts[origin] ?? VersionVector() }

  private mutating func take(_ item: StateItem, in file: SyncFileReader) throws {
    switch item {
    case .row(let number, let values):
      try items.checkRow(values, of: header.tables[number])
      rows[header.tables[number].name, default: 0] += 1
    case .state(let number, let key, let bytes):
      try items.check(key, count: header.tables[number].keyCount)
      var reader = ByteReader(bytes)
      let state = try RowState(reading: &reader, origins: numbering, contributionLimit: file.contributionLimit)
      try file.take(contributions: state.contributionCount)
      try reader.expectEnd()
      try items.check(state, header.tables[number])
    case .limbo(let kind, let target, let rest, let number, let key):
      try items.check(key, count: header.tables[number].keyCount)
      _ = try items.target(kind: kind, table: target, rest: rest)
    case .ahead(let number, let key, _):
      try items.check(key, count: header.tables[number].keyCount)
    case .transaction: break
    }
  }

  /// Compares the chains with what the header says of their ends.
  func finish() throws {
    for range in header.ranges {
      let isFirst = range.first == SequenceNumber.none.next
      guard chains[range.origin] == range.chainAtEnd, !isFirst || range.chainBefore == .zero else {
        throw GodwitError.brokenChain(range.origin)
      }
    }
    for (origin, sequence) in zip(header.stateFile?.origins ?? [], sequences) {
      guard sequence == origin.sequence, chains[origin.origin] == origin.chain else {
        throw GodwitError.brokenChain(origin.origin)
      }
    }
  }

  func ranges(_ admission: HistoryAdmission) -> [SyncSource.Inspection.Range] {
    let carried =
      header.stateFile?.origins.filter { $0.floor < $0.sequence }.map { ($0.origin, $0.floor.next, $0.sequence) }
      ?? header.ranges.map { ($0.origin, $0.first, $0.last) }
    return carried.map { origin, first, last in
      SyncSource.Inspection.Range(
        replica: origin.replica, incarnation: origin.incarnationID, sequences: first.rawValue...last.rawValue,
        isSigned: !admission.refused.contains(origin))
    }
  }

  var tables: [SyncSource.Inspection.Table] {
    let own = header.tables.map(\.name)
    let others = Set(counts.keys).subtracting(own).sorted()
    return (own + others).map { name in
      SyncSource.Inspection.Table(changes: LogEntry.TableChanges(name, counts[name] ?? [:]), rows: rows[name] ?? 0)
    }
  }
}
