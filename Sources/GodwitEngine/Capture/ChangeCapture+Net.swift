import Foundation
import GodwitBase
import GodwitCore

extension ChangeCapture {
  /// The transaction's net effect, or nil when there is none.
  ///
  /// The change set stays in a buffer of the capture's until the next transaction, so that a run of large
  /// transactions asks for no new memory.
  ///
  /// `hash` is the hash of a table's rows.
  ///
  /// `unsettled` says of a table that triggers of the program's own write to it, and then reads its rows as they are.
  func finish(
    hash: (CatalogTable) -> TableHash, unsettled: (TableDefinition) -> ((ArraySlice<UInt8>) throws -> [Value]?)?
  ) throws -> Captured? {
    if let failure { throw failure }
    try refuseKeysOfTwoClasses()
    let readers = uses.map { unsettled($0.table.definition) }
    let versions = UseVersions(uses)
    let isPlain = !versions.haveGrown && readers.allSatisfy { $0 == nil }
    guard !isPlain || updatesRelatively || hasRepeatedRows else {
      guard !entries.isEmpty else { return nil }
      try Self.check(count: entries.count)
      let changes = encode(operations.bytes, dictionary(of: uses), count: entries.count)
      let sums = Array(zip(uses.map(\.table.id), self.sums(uses.map { hash($0.table) })))
      return Captured(changes: changes, deletedCells: deletedCells, pieces: worker.finish(), sums: sums)
    }
    var net = NetChanges()
    let tables = dictionary(of: uses)
    var reader = ByteReader(operations.bytes)
    for (number, entry) in entries.enumerated() {
      let operation = try Operation(reading: &reader, tables: tables)
      let oldEnd = number + 1 < entries.count ? entries[number + 1].old : oldValues.count
      try net.add(
        operation, old: oldValues.bytes[entry.old..<oldEnd], table: tables[operation.table],
        number: versions.numbers[operation.table])
    }
    let latest = dictionary(of: versions.latest)
    for (number, reader) in zip(versions.numbers, readers) {
      guard let reader else { continue }
      let table = latest[number]
      try net.settle(table: number, keyCount: table.keyCount, columnCount: table.columnCount, current: reader)
    }
    let result = try net.encoded(
      latest, definitions: versions.latest.map(\.table.definition), versions.latest.map { hash($0.table) })
    guard result.count > 0 else { return nil }
    try Self.check(count: result.count)
    return Captured(
      changes: encode(result.operations, latest, count: result.count), deletedCells: result.deletedCells,
      sums: Array(zip(versions.latest.map(\.table.id), result.sums)))
  }

  /// What is longer than anybody reads must not be committed.
  private static func check(count: Int) throws {
    guard count <= ChangeSet.operationLimit else {
      throw GodwitError(
        .limitExceeded, "a transaction writes \(count) rows, and \(ChangeSet.operationLimit) are possible",
        hint: "nothing was written; write them in several transactions")
    }
  }

  /// Of the keys that the database finds equal, such as 1 and 1.0, only one may name a row, or replicas would each show
  /// their own.
  private func refuseKeysOfTwoClasses() throws {
    let loose = uses.filter {
      $0.table.definition.columns.prefix($0.table.definition.keyCount)
        .contains { $0.type == .any || hasRealKeys && $0.type == .blob }
    }
    guard !loose.isEmpty else { return }
    let tables = dictionary(of: uses)
    var reader = ByteReader(operations.bytes)
    for entry in entries {
      let operation = try Operation(reading: &reader, tables: tables)
      guard entry.kind == .insert else { continue }
      let definition = uses[entry.table].table.definition
      for (column, value) in zip(definition.columns, try [Value](encoded: Array(operation.key)))
      where value.asKey(of: column.type) != value {
        throw GodwitError(
          .constraint, "a key in column \(column.name) of table \(definition.name) is an integer kept as REAL",
          hint: "write 1 and not 1.0: the column takes values of every class, and to the database the two are one key")
      }
    }
  }

  /// Whether an update must be logged as what it does to the value: the capture sees only values.
  private var updatesRelatively: Bool {
    uses.contains { use in use.table.relativeColumns.contains { use.columns[$0] } }
  }

  /// Whether some row was written more than once. Comparing hashes of keys may say yes without need, never no.
  private var hasRepeatedRows: Bool {
    let entries = entries
    guard entries.count > 1 else { return false }
    let keys = EntryKeys(counts: uses.map(\.table.definition.keyCount))
    return operations.bytes.withUnsafeBytes { bytes in
      !keys.rise(entries, in: bytes) && keys.haveRepeatedHash(entries, in: bytes)
    }
  }

  private var deletedCells: [UInt8] {
    if entries.allSatisfy({ $0.kind == .delete }) { return oldValues.bytes }
    var cells: [UInt8] = []
    for (number, entry) in entries.enumerated() where entry.kind == .delete {
      let end = number + 1 < entries.count ? entries[number + 1].old : oldValues.count
      cells += oldValues.bytes[entry.old..<end]
    }
    return cells
  }

  private func encode(_ operations: [UInt8], _ tables: [ChangeSet.Table], count: Int) -> [UInt8] {
    withChangeSet { writer in
      writer.removeAll()
      ChangeSet.writeHeader(tables: tables, operationCount: count, to: &writer)
      operations.withUnsafeBytes { writer.raw($0) }
      return writer.bytes
    }
  }

  private func dictionary(of uses: [Use]) -> [ChangeSet.Table] {
    uses.map { use in
      let definition = use.table.definition
      let used = definition.columns.indices.filter { use.usesAll || $0 < definition.keyCount || use.columns[$0] }
      return ChangeSet.Table(
        name: definition.name, columnCount: definition.columns.count, keyCount: definition.keyCount,
        columns: used.map { number in
          let column = definition.columns[number]
          return ChangeSet.Column(index: number, name: column.name, isRelative: column.merge.isRelative)
        })
    }
  }
}
