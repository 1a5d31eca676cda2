import Foundation
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitKeys
@testable import GodwitSyncFile

private struct Rack: Model {
  static let schema = Schema<Self>("rack") {}
  var id = ""
}

private struct Ware: Model {
  static let schema = Schema<Self>("ware") {
    Column("rack", \.rack).references(Rack.self, onDelete: .setNull)
    Column("code", \.code).unique()
    Column("hits", \.hits, merge: .counter)
  }
  var id = ""
  var rack: Rack.ID?
  var code: String?
  var hits = 0
}

/// Mallory, 0, gives 2, which is new, a state with items that no program writes. Bob, 1, is honest.
@Suite("Items of a hostile state")
struct HostileStateItemTests {
  private let group: MergeGroup
  private let mallory: ReplicaID

  init() async throws {
    group = try await MergeGroup(3, models: [Rack.self, Ware.self])
    mallory = group[0].identity.replica
    try await group.write(0, "INSERT INTO rack (id) VALUES ('s')")
    try await group.write(0, "INSERT INTO ware (id, rack, code) VALUES ('w', 's', 'x'), ('v', NULL, 'y')")
    try await group.send(0, 1)
  }

  private func take(_ change: (SyncFileHeader, inout Forgery.State) throws -> Void) async throws {
    let path = group.folder.file("state")
    _ = try await group[0].exportState(to: .file(path), for: "replica-2")
    try Forgery.changeState(at: path, signedBy: Forgery.keys(of: group[0]).identity) { header, state in
      // Who is new lacks what has been forgotten, and so loads the state.
      try state.forgetFirst(of: mallory)
      try change(header, &state)
    }
    _ = try await group[2].import(from: .file(path))
  }

  private func key(_ id: String) -> ArraySlice<UInt8> { [Value.text(id)].encoded[...] }

  private func place(of table: String, in header: SyncFileHeader) throws -> Int {
    try #require(header.tables.firstIndex { $0.name == table })
  }

  /// A row of which nothing is remembered but references that it is said to hide.
  private func hiding(_ references: [Int: Value], _ state: Forgery.State) throws -> ArraySlice<UInt8> {
    var row = RowState.stable
    row.hiddenReferences = references
    var writer = ByteWriter()
    try row.write(to: &writer, origins: StateNumbering(state.origins.map(\.origin)))
    return writer.bytes[...]
  }

  /// The delete of `w`, which is all that the transaction says, by a dictionary of so many columns.
  private func delete(columns: Int) -> [UInt8] {
    var writer = ByteWriter()
    let table = ChangeSet.Table(
      name: "ware", columnCount: columns, keyCount: 1, columns: [ChangeSet.Column(index: 0, name: "id")])
    ChangeSet.writeHeader(tables: [table], operationCount: 1, to: &writer)
    writer.varint(Operation.head(table: 0, kind: .delete))
    writer.value(.text("w"))
    return writer.bytes
  }

  /// Mallory deletes `w` in the last of three transactions, and says of that what is given.
  private func takeDelete(
    columns: Int, cells: [Value], _ change: (SyncFileHeader, inout Forgery.State) throws -> Void = { _, _ in }
  ) async throws {
    try await group.write(0, "DELETE FROM ware WHERE id = 'w'")
    let changes = delete(columns: columns)
    try await take { header, state in
      try state.changeTransactions(of: mallory) { record, deletedCells in
        guard record.dot.sequence.rawValue == 3 else { return (record, deletedCells) }
        let changed = TransactionRecord(
          dot: record.dot, hlc: record.hlc, schemaVersion: record.schemaVersion, context: record.context,
          changes: changes)
        return (changed, cells.encoded)
      }
      try change(header, &state)
    }
  }

  private func expectSound(_ ids: Set<Value>) async throws {
    #expect(try await group[2].maintenance.verify().problems == [])
    #expect(try await Set(group[2].rows("SELECT id FROM ware").map { $0.values[0] }) == ids)
    try await group[2].write { _ = try $0.execute("UPDATE ware SET hits = hits + 1") }
    try await group[2].write { _ = try $0.execute("INSERT INTO ware (id, code) VALUES ('new', 'z')") }
    try await group[2].write { _ = try $0.execute("DELETE FROM ware WHERE id = 'v'") }
    #expect(try await group[2].maintenance.verify().problems == [])
    _ = try await group[2].export(to: .file(group.folder.file("later")))
  }

  @Test("a reference is hidden only in a column that refers to something", arguments: [2, 3])
  func hiddenReference(column: Int) async throws {
    let error = await error {
      try await take { header, state in
        let item = StateItem.state(
          table: try place(of: "ware", in: header), key: key("w"), state: try hiding([column: "a text"], state))
        state.items.insert(item, at: 0)
      }
    }
    #expect(error?.code == .corruptFile)
    #expect(error?.message.contains("refers to nothing") == true, "\(String(describing: error))")
    #expect(try await group[2].rows("SELECT id FROM ware").isEmpty)
  }

  @Test("a delete that says nothing of the cells of a row with a hidden reference is folded")
  func deletedWithoutCells() async throws {
    try await takeDelete(columns: 1, cells: []) { header, state in
      let item = StateItem.state(
        table: try place(of: "ware", in: header), key: key("w"), state: try hiding([1: "s"], state))
      state.items.insert(item, at: 0)
      // What is remembered of the row is from behind its insert.
      let number = try state.number(of: mallory)
      state.origins[number] = state.origins[number].changing(folded: SequenceNumber(rawValue: 2))
    }
    try await expectSound(["v"])
  }

  @Test("a row comes back whatever the delete says that it held", arguments: [1, 2, 4, 9])
  func returns(columns: Int) async throws {
    try await takeDelete(columns: columns, cells: (1..<columns).map { .text("cell \($0)") })
    try await group.write(1, "UPDATE ware SET hits = hits + 5, rack = NULL, code = 'x' WHERE id = 'w'")
    try await group.send(1, 2)
    #expect(try await group[2].rows("SELECT hits FROM ware WHERE id = 'w'").map(\.values) == [[5]])
    try await expectSound(["v", "w"])
  }

  @Test("a claim of another number of values than its index has columns stands in nobody's way")
  func claim() async throws {
    let index = try #require(Ware.schema.definition().indexes.first { $0.columns == ["code"] }).name(in: "ware")
    try await take { header, state in
      let table = try place(of: "ware", in: header)
      for values: [Value] in [["q", "r"], ["q", "r", "s"]] {
        var target = ByteWriter()
        target.string(index)
        for value in values { target.value(value) }
        state.items.insert(
          .limbo(kind: 0, targetTable: table, target: target.bytes[...], table: table, key: key("nobody")), at: 0)
      }
    }
    try await expectSound(["v", "w"])
  }

  @Test("a transaction comes after all that it had seen")
  func causes() async throws {
    let nobody = Origin(replica: ReplicaID(Identifier128(high: 8, low: 8)), incarnation: 1)
    let bob = try await group[1].withWriter { $0.log.origins.own }
    try await group.write(1, "INSERT INTO ware (id) VALUES ('bob')")
    try await group.send(1, 0)
    for seen in [nobody, bob] {
      let error = await error {
        try await take { _, state in
          try state.changeTransactions(of: mallory) { record, deletedCells in
            let changed = TransactionRecord(
              dot: record.dot, hlc: record.hlc, schemaVersion: record.schemaVersion,
              context: VersionVector([seen: SequenceNumber(rawValue: 2)]), changes: record.changes)
            return (changed, deletedCells)
          }
        }
      }
      #expect(error?.code == .corruptFile)
      #expect(error?.message.contains("ahead of what it had seen") == true, "\(String(describing: error))")
    }
  }
}
