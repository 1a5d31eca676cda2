import Foundation
import Godwit
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// A member's file that costs its readers as much as its maker knows how, well signed.
struct HostileFile {
  /// What makes it dear.
  enum Kind: String, CaseIterable {
    /// One insert of a set of 250,000 elements.
    case elements
    /// One row, edited by 20,000 transactions.
    case oneRow = "one row"
    /// 10,000 transactions that wait, and each states a context of 8 origins that nobody knows.
    case contexts
    /// 2,000 rows of 900 columns of one byte.
    case wideRows = "wide rows"
    /// 100 tables, each with a check as long as the language allows, and a row.
    case checks
    /// 5,000 rows that claim one unique value.
    case claims
    /// 5,000 rows that refer to each other in a chain, whose first refers to nothing.
    case chain

    /// What it is compared with. Where a file has an operation for every few bytes, as bulk edits have, an honest one
    /// of its size has as many.
    var honestFile: Honest {
      switch self {
      case .elements, .contexts, .wideRows, .checks: .size
      case .oneRow: .edits(20_000)
      case .claims, .chain: .operations(5_000)
      }
    }
  }

  /// An honest member's file.
  enum Honest {
    /// Rows that take as many bytes.
    case size
    /// So many small rows, new in one transaction.
    case operations(Int)
    /// One row, edited by so many transactions.
    case edits(Int)

    var name: String {
      switch self {
      case .size: "an honest file of its size"
      case .operations: "an honest file of as many rows"
      case .edits: "an honest file of as many edits"
      }
    }
  }

  let kind: Kind
  /// An honest file of the member's: what it says of the group.
  let honest: SyncFileHeader
  let identity: Identity

  /// The sealed file.
  func bytes() throws -> [UInt8] {
    let origin = Origin(replica: identity.replica, incarnation: UInt32.random(in: 1...UInt32.max))
    let tables = try tables()
    var records: [TransactionRecord] = []
    var chain = ContentHash.zero
    for (place, written) in changes(tables).enumerated() {
      let record = TransactionRecord(
        dot: Dot(origin, SequenceNumber(rawValue: UInt64(place) + 1)),
        hlc: HLC(milliseconds: 1_700_000_000_000 + Int64(place)),
        schemaVersion: honest.schemaVersion, context: kind == .contexts ? context(place) : nil, changes: written)
      chain = chain.followed(by: record.digest())
      records.append(record)
    }
    let last = SequenceNumber(rawValue: UInt64(records.count))
    let head = try SignedHead.issue(group: honest.group, origin, last, chain, by: identity)
    var vector = honest.vector
    vector[origin] = last
    for record in records { if let context = record.context { vector = vector.union(context) } }
    var chains = honest.chains
    for range in honest.ranges { chains[range.origin] = SyncFileHeader.Chain(range.chainAtEnd) }
    for other in vector.origins where other != origin && chains[other] == nil {
      chains[other] = SyncFileHeader.Chain(.zero)
    }
    let range = SyncFileHeader.Range(
      origin: origin, first: .none.next, last: last, chainBefore: .zero, chainAtEnd: chain,
      contextAtFirst: VersionVector(),
      proof: HeadProof(signature: head.signature))
    let header = SyncFileHeader(
      group: honest.group, sender: identity.replica, incarnation: honest.incarnation, createdAt: honest.createdAt,
      vector: vector, schemaVersion: honest.schemaVersion, recipients: honest.recipients, roster: honest.roster,
      tables: honest.tables + tables, migrations: honest.migrations, ranges: [range], chains: chains,
      floor: VersionVector(),
      ended: [:], stateFile: nil)
    let sink = GodwitBase.MemorySink()
    let writer = try SyncFileWriter(header, introduction: introduction, signedBy: identity, to: sink)
    for record in records { try writer.append(record) }
    try writer.finish()
    return sink.bytes
  }

  private var introduction: RosterRecords {
    RosterRecords(members: honest.roster.members.filter { $0.subject == identity.replica })
  }

  private func context(_ place: Int) -> VersionVector {
    VersionVector(
      Dictionary(
        uniqueKeysWithValues: (0..<8).map { number in
          let replica = ReplicaID(Identifier128(high: UInt64(place % 500), low: UInt64(number)))
          return (Origin(replica: replica, incarnation: 1), SequenceNumber(rawValue: 1))
        }))
  }

  // MARK: Tables and rows

  private func tables() throws -> [TableDefinition] {
    let key = ColumnDefinition(name: "id", type: .integer, isNullable: false)
    let text = ColumnDefinition(name: "x", type: .text, isNullable: true)
    switch kind {
    case .elements:
      let set = ColumnDefinition(
        name: "tags", type: .text, isNullable: false, defaultValue: "[]", merge: .addWinsSet)
      return [try TableDefinition(name: "hostile", keyCount: 1, columns: [key, set])]
    case .oneRow, .contexts: return [try TableDefinition(name: "hostile", keyCount: 1, columns: [key, text])]
    case .wideRows:
      let columns = (0..<900).map { ColumnDefinition(name: "c\($0)", type: .integer, isNullable: true) }
      return [try TableDefinition(name: "hostile", keyCount: 1, columns: [key] + columns)]
    case .checks:
      var checked = text
      checked.check = "length(x) >= 0" + String(repeating: " AND x NOT LIKE 'a%b'", count: 8)
      return try (0..<100).map { try TableDefinition(name: "hostile \($0)", keyCount: 1, columns: [key, checked]) }
    case .claims:
      let index = IndexDefinition(columns: ["x"], isUnique: true)
      return [try TableDefinition(name: "hostile", keyCount: 1, columns: [key, text], indexes: [index])]
    case .chain:
      let parent = ColumnDefinition(
        name: "parent", type: .integer, isNullable: true,
        reference: .init(table: "hostile", onDelete: .cascade, isAcyclic: true))
      return [try TableDefinition(name: "hostile", keyCount: 1, columns: [key, parent])]
    }
  }

  /// The change sets of its transactions.
  private func changes(_ tables: [TableDefinition]) -> [[UInt8]] {
    switch kind {
    case .elements:
      let set = SetElements.value(of: (0..<250_000).map { "\($0)" })
      return [insert(tables, [[1, set]])]
    case .oneRow:
      return [insert(tables, [[1, "0"]])]
        + (1..<20_000).map { number in
          changes(tables, 1) { writer in
            writer.varint(Operation.head(table: 0, kind: .update))
            writer.value(1)
            writer.varint(1)
            writer.varint(1)
            writer.value(.text("\(number)"))
          }
        }
    case .contexts: return (0..<10_000).map { insert(tables, [[.integer(Int64($0)), "x"]]) }
    case .wideRows:
      return [insert(tables, (0..<2_000).map { [.integer(Int64($0))] + [Value](repeating: 1, count: 900) })]
    case .claims: return [insert(tables, (0..<5_000).map { [.integer(Int64($0)), "x"] })]
    case .chain: return [insert(tables, (0..<5_000).map { [.integer(Int64($0)), .integer(Int64($0 + 1))] })]
    case .checks:
      let text = String(repeating: "ab", count: 5_000)
      return [
        changes(tables, tables.count) { writer in
          for table in tables.indices {
            writer.varint(Operation.head(table: table, kind: .insert))
            writer.value(1)
            writer.value(.text(text))
          }
        }
      ]
    }
  }

  /// A change set that inserts rows into the first table.
  private func insert(_ tables: [TableDefinition], _ rows: [[Value]]) -> [UInt8] {
    changes(tables, rows.count) { writer in
      for row in rows {
        writer.varint(Operation.head(table: 0, kind: .insert))
        for value in row { writer.value(value) }
      }
    }
  }

  private func changes(_ tables: [TableDefinition], _ count: Int, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
    let named = tables.map { table in
      ChangeSet.Table(
        name: table.name, columnCount: table.columns.count, keyCount: table.keyCount,
        columns: table.columns.enumerated().map { place, column in
          ChangeSet.Column(index: place, name: column.name, isRelative: column.merge == .addWinsSet)
        })
    }
    var writer = ByteWriter()
    ChangeSet.writeHeader(tables: named, operationCount: count, to: &writer)
    write(&writer)
    return writer.bytes
  }
}
