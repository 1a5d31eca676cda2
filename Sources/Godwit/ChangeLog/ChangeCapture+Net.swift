import Foundation
import GodwitBase
import GodwitReplication

/// What a transaction changed.
struct Captured {
  /// The encoded ``ChangeSet``.
  let changes: [UInt8]
  /// The columns beside the key of the rows it deletes, in the order of the delete operations.
  let images: [UInt8]
  /// What has been hashed and compressed of the operations already.
  var pieces: PieceWorker.Finished?
}

extension ChangeCapture {
  /// The transaction's net effect, or nil when there is none.
  ///
  /// The change set stays in a buffer of the capture's until the next transaction, so that a run of large
  /// transactions asks for no new memory.
  ///
  /// `unsettled` says of a table that triggers of the program's own write to it, and then reads its rows as they are.
  func finish(
    unsettled: (TableDefinition) -> ((ArraySlice<UInt8>) throws -> [Value]?)?
  ) throws -> Captured? {
    if let failure { throw failure }
    let readers = uses.map { unsettled($0.table.definition) }
    guard hasRepeatedRows || readers.contains(where: { $0 != nil }) else {
      guard !entries.isEmpty else { return nil }
      let changes = encode(operations.bytes, count: entries.count)
      return Captured(changes: changes, images: deletedImages, pieces: worker.finish())
    }
    var net = NetChanges()
    let tables = dictionary
    var reader = ByteReader(operations.bytes)
    for (number, entry) in entries.enumerated() {
      let operation = try Operation(reading: &reader, tables: tables)
      let oldEnd = number + 1 < entries.count ? entries[number + 1].old : oldValues.count
      try net.add(operation, old: oldValues.bytes[entry.old..<oldEnd], table: tables[operation.table])
    }
    for (number, reader) in readers.enumerated() {
      guard let reader else { continue }
      let table = tables[number]
      try net.settle(table: number, keyCount: table.keyCount, columnCount: table.columnCount, current: reader)
    }
    let result = try net.encoded(tables)
    guard result.count > 0 else { return nil }
    return Captured(changes: encode(result.operations, count: result.count), images: result.images)
  }

  /// Whether some row was written more than once. Comparing hashes of keys may say yes without need, never no.
  private var hasRepeatedRows: Bool {
    guard entries.count > 1 else { return false }
    return operations.bytes.withUnsafeBytes { bytes in !keysRise(in: bytes) && hasRepeatedHash(in: bytes) }
  }

  /// Rows made one after another have rising keys, each greater than all before: no row comes twice.
  private func keysRise(in bytes: UnsafeRawBufferPointer) -> Bool {
    var previous = key(entries[0], in: bytes)
    for entry in entries.dropFirst() {
      let next = key(entry, in: bytes)
      guard entry.table == entries[0].table, let left = previous.baseAddress, let right = next.baseAddress,
        previous.count == next.count, memcmp(left, right, next.count) < 0
      else { return false }
      previous = next
    }
    return true
  }

  private func hasRepeatedHash(in bytes: UnsafeRawBufferPointer) -> Bool {
    var seen = Set<Int>(minimumCapacity: entries.count)
    return entries.contains { entry in
      var hasher = Hasher()
      hasher.combine(entry.table)
      hasher.combine(bytes: key(entry, in: bytes))
      return !seen.insert(hasher.finalize()).inserted
    }
  }

  private func key(_ entry: Entry, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let start = keyStart(entry)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<keyEnd(entry, from: start, in: bytes)])
  }

  private func keyStart(_ entry: Entry) -> Int {
    var head = Operation.head(table: entry.table, kind: entry.kind)
    var start = entry.operation + 1
    while head >= 0x80 {
      head >>= 7
      start += 1
    }
    return start
  }

  /// Steps over the key's values. The bytes are this object's own, so their form is known.
  private func keyEnd(_ entry: Entry, from start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    var position = start
    for _ in 0..<uses[entry.table].table.definition.keyCount {
      let tag = bytes[position]
      position += 1
      switch tag {
      case ValueTag.integer:
        while bytes[position] >= 0x80 { position += 1 }
        position += 1
      case ValueTag.real: position += 8
      case ValueTag.text, ValueTag.blob:
        var length = 0
        var shift = 0
        while bytes[position] >= 0x80 {
          length |= Int(bytes[position] & 0x7F) << shift
          shift += 7
          position += 1
        }
        length |= Int(bytes[position]) << shift
        position += 1 + length
      default: break
      }
    }
    return position
  }

  private var deletedImages: [UInt8] {
    if entries.allSatisfy({ $0.kind == .delete }) { return oldValues.bytes }
    var images: [UInt8] = []
    for (number, entry) in entries.enumerated() where entry.kind == .delete {
      let end = number + 1 < entries.count ? entries[number + 1].old : oldValues.count
      images += oldValues.bytes[entry.old..<end]
    }
    return images
  }

  private func encode(_ operations: [UInt8], count: Int) -> [UInt8] {
    withChangeSet { writer in
      writer.removeAll()
      ChangeSet.writeHeader(tables: dictionary, operationCount: count, to: &writer)
      operations.withUnsafeBytes { writer.raw($0) }
      return writer.bytes
    }
  }

  private var dictionary: [ChangeSet.Table] {
    uses.map { use in
      let definition = use.table.definition
      let used = definition.columns.indices.filter { use.usesAll || $0 < definition.keyCount || use.columns[$0] }
      return ChangeSet.Table(
        name: definition.name, columnCount: definition.columns.count, keyCount: definition.keyCount,
        columns: used.map { (index: $0, name: definition.columns[$0].name) })
    }
  }
}
