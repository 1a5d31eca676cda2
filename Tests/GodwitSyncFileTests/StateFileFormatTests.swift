import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitSyncFile
import Testing

@Suite("The form of a state file")
struct StateFileFormatTests {
  private let ada = Origin(replica: ReplicaID(Identifier128(high: 0, low: 1)), incarnation: 1)

  /// One delete.
  private let changes: [UInt8] = {
    var writer = ByteWriter()
    let table = ChangeSet.Table(
      name: "note", columnCount: 2, keyCount: 1, columns: [ChangeSet.Column(index: 0, name: "id")])
    ChangeSet.writeHeader(tables: [table], operationCount: 1, to: &writer)
    writer.varint(Operation.head(table: 0, kind: .delete))
    writer.value(7)
    return writer.bytes
  }()

  private func items() -> [StateItem] {
    let record = TransactionRecord(
      dot: Dot(ada, SequenceNumber(rawValue: 4)), hlc: HLC(rawValue: 99), schemaVersion: 1,
      context: VersionVector([ada: SequenceNumber(rawValue: 2)]), changes: changes)
    return [
      .row(table: 0, values: [1, 2]), .state(table: 1, key: [3], state: [4, 5]),
      .limbo(kind: 1, targetTable: nil, target: [6], table: 0, key: [7]),
      .limbo(kind: 0, targetTable: 1, target: [8], table: 1, key: [9]),
      .transaction(origin: 0, StateTransaction(record, deletedCells: [1, 20])),
    ]
  }

  private func bytes(_ items: [StateItem]) -> [UInt8] {
    var writer = ByteWriter()
    for item in items { item.write(to: &writer) }
    return writer.bytes
  }

  private func read(
    _ bytes: [UInt8], tables: Int = 2, origins: Int = 1, migrations: Int = 1
  ) throws -> [StateItem] {
    var reader = ByteReader(bytes)
    var items: [StateItem] = []
    while !reader.isAtEnd {
      items.append(try StateItem(reading: &reader, tables: tables, origins: origins, migrations: migrations))
    }
    return items
  }

  @Test("items read back as written")
  func roundTrip() throws {
    let written = bytes(items())
    let found = try read(written)
    #expect(found.count == 5)
    #expect(bytes(found) == written)
    guard case .transaction(0, let transaction)? = found.last else {
      Issue.record("the transaction is not the last")
      return
    }
    let record = transaction.record(Dot(ada, SequenceNumber(rawValue: 4)))
    #expect(record.changes == changes && record.hlc.rawValue == 99 && record.context?[ada].rawValue == 2)
    #expect(transaction.deletedCells == [1, 20])
  }

  @Test("a transaction that could be neither applied nor passed on is refused")
  func wellFormed() throws {
    func refusal(columns: [Int] = [0, 1], _ write: (inout ByteWriter) -> Void, count: Int = 1) -> GodwitError.Code? {
      let table = ChangeSet.Table(
        name: "note", columnCount: 2, keyCount: 1, columns: columns.map { ChangeSet.Column(index: $0, name: "c\($0)") })
      var writer = ByteWriter()
      ChangeSet.writeHeader(tables: [table], operationCount: count, to: &writer)
      write(&writer)
      let record = TransactionRecord(
        dot: Dot(ada, .none.next), hlc: HLC(rawValue: 9), schemaVersion: 0, context: nil, changes: writer.bytes)
      do { _ = try read(bytes([.transaction(origin: 0, StateTransaction(record, deletedCells: []))])) } catch {
        return (error as? GodwitError)?.code
      }
      return nil
    }
    func insert(_ key: [UInt8], _ value: [UInt8]) -> (inout ByteWriter) -> Void {
      { writer in
        writer.varint(Operation.head(table: 0, kind: .insert))
        writer.raw(key + value)
      }
    }
    let update: (inout ByteWriter) -> Void = { writer in
      writer.varint(Operation.head(table: 0, kind: .update))
      writer.raw([1, 2, 1, 1, 0] as [UInt8])
    }
    let nan: [UInt8] = [2, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]
    #expect(refusal(insert([1, 2], [0])) == nil && refusal(update) == nil)
    #expect(refusal({ _ in }, count: 0) == .corruptFile)
    #expect(refusal(insert(nan, [0])) == .corruptFile)
    #expect(refusal(insert([1, 2], nan)) == .corruptFile)
    #expect(refusal(insert([0], [0])) == .corruptFile)
    let twice: (inout ByteWriter) -> Void = { writer in
      update(&writer)
      update(&writer)
    }
    #expect(refusal(twice, count: 2) == .corruptFile)
    #expect(refusal(insert([3, 1, 0xFF], [0])) == .corruptFile)
    #expect(refusal(columns: [0], insert([0], [0])) == .corruptFile)
    #expect(refusal(columns: [0], update) == .corruptFile)
  }

  @Test(
    "the cells of deleted rows are the values of what is deleted, all of them and no more; none only where they were folded"
  )
  func deletedCells() throws {
    func refusal(_ deletedCells: [UInt8], folded: UInt64 = 0) -> GodwitError.Code? {
      let record = TransactionRecord(
        dot: Dot(ada, .none.next), hlc: HLC(rawValue: 9), schemaVersion: 0, context: nil, changes: changes)
      do {
        for item in try read(bytes([.transaction(origin: 0, StateTransaction(record, deletedCells: deletedCells))])) {
          guard case .transaction(_, let transaction) = item else { continue }
          _ = try transaction.record(record.dot, folded: SequenceNumber(rawValue: folded))
        }
      } catch { return (error as? GodwitError)?.code }
      return nil
    }
    #expect(refusal([1, 20]) == nil && refusal([0]) == nil)
    #expect(refusal([]) == .corruptFile && refusal([], folded: 1) == nil)
    #expect(refusal([0, 0]) == .corruptFile && refusal([0, 0], folded: 1) == .corruptFile)
    #expect(refusal([9]) == .corruptFile && refusal([3, 1, 0xFF]) == .corruptFile)
    #expect(refusal([3, 200]) != nil)
  }

  @Test("a schema version that the header does not list is refused")
  func schemaVersion() throws {
    let written = bytes(items())
    #expect(try read(written, migrations: 1).count == 5)
    #expect(throws: GodwitError.self) { try read(written, migrations: 0) }
  }

  @Test("an item that is cut anywhere is refused")
  func cut() {
    for item in items() {
      let whole = bytes([item])
      for count in 1..<whole.count {
        #expect(throws: GodwitError.self) { try read(Array(whole.prefix(count))) }
      }
    }
  }

  @Test("tables and origins that the header does not list, and unknown kinds, are refused")
  func outOfRange() {
    let written = bytes(items())
    #expect(throws: GodwitError.self) { try read(written, tables: 1) }
    #expect(throws: GodwitError.self) { try read(written, tables: 0) }
    #expect(throws: GodwitError.self) { try read(written, origins: 0) }
    #expect(throws: GodwitError.self) { try read([9]) }
  }
}
