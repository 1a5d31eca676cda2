import GodwitBase
import GodwitCore

/// A transaction within a state file. Its sequence follows from those of its origin ahead of it.
package struct StateTransaction: Sendable {
  package let hlc: HLC
  package let schemaVersion: UInt64
  package let context: VersionVector?
  package let changes: [UInt8]
  /// Of each row that it deletes, in the order of these operations, the values beside the key; empty where the
  /// sender has none any more.
  package let deletedCells: [UInt8]
  /// Known only of one that was read.
  private let lacksDeletedCells: Bool

  package init(_ record: TransactionRecord, deletedCells: [UInt8]) {
    hlc = record.hlc
    schemaVersion = record.schemaVersion
    context = record.context
    changes = record.changes
    self.deletedCells = deletedCells
    lacksDeletedCells = false
  }

  package func record(_ dot: Dot) -> TransactionRecord {
    TransactionRecord(dot: dot, hlc: hlc, schemaVersion: schemaVersion, context: context, changes: changes)
  }

  func write(to writer: inout ByteWriter) {
    writer.bigEndian(hlc.rawValue)
    writer.varint(schemaVersion)
    writer.byte(context == nil ? 0 : 1)
    context?.write(to: &writer)
    writer.lengthPrefixed(changes)
    writer.lengthPrefixed(deletedCells)
  }

  /// Reads one of a file whose header lists so many migrations.
  init(reading reader: inout ByteReader, migrations: Int) throws {
    hlc = HLC(rawValue: try reader.bigEndian())
    guard hlc < HLC.limit else { throw ByteReader.malformed("a timestamp is out of range") }
    schemaVersion = UInt64(try reader.count(limit: Int(UInt32.max), "schema version"))
    guard schemaVersion <= UInt64(migrations) else {
      throw ByteReader.malformed("a transaction's schema version is not among the migrations")
    }
    context = try reader.flag() ? try VersionVector(reading: &reader) : nil
    changes = Array(try reader.lengthPrefixed(limit: TransactionRecord.changesByteLimit))
    let deletedCellCount = try ChangeSet(changes[...]).check()
    deletedCells = Array(try reader.lengthPrefixed())
    lacksDeletedCells = deletedCells.isEmpty && deletedCellCount > 0
    guard !deletedCells.isEmpty else { return }
    var values = ByteReader(deletedCells)
    for _ in 0..<deletedCellCount { _ = try values.value() }
    try values.expectEnd()
  }

  /// The same as a transaction of that number. One that no fold has seen needs the cells of the rows that it deletes,
  /// for the next fold asks for them (Specs/state-file.md, "Items").
  ///
  /// - Parameter folded: Up to which sequence the row states know the origin's transactions.
  package func record(_ dot: Dot, folded: SequenceNumber) throws -> TransactionRecord {
    try context?.expectOthers(than: dot.origin)
    guard !lacksDeletedCells || dot.sequence <= folded else {
      throw ByteReader.malformed("a transaction of a state file without the cells of the rows that it deletes")
    }
    return record(dot)
  }
}
