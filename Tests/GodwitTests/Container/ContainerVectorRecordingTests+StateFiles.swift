import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

// What stands in a state file, and is refused where it is not of its form or does not fit its head.
extension ContainerVectorRecordingTests {
  func recordStateFileForms() async throws {
    let scene = try await StateFileScene()
    try await good(
      "state-file-deleted-cells", "the state with a delete and a changed key that no fold has seen", scene.scene,
      [scene.file(scene.items)])
    try recordHeads(scene)
    try recordItems(scene)
    try recordTransactions(scene)
    try recordPassphrase(scene.scene)
  }

  private func recordPassphrase(_ scene: VectorScene) throws {
    let fileKey = AgeFileKey.random()
    let stanza = try ScryptStanza.wrap(fileKey, to: SecretBytes(copying: Array("a passphrase".utf8)), cost: 10)
    func file(_ stanzas: [AgeStanza]) throws -> [UInt8] {
      let sink = MemorySink()
      let sealer = try AgeSealer(fileKey, stanzas, to: sink)
      try sealer.write(scene.container)
      try sealer.finish()
      return sink.bytes
    }
    try bad("passphrase", "sealed to a passphrase", scene, .notARecipient, file([stanza]))
    let own = try X25519Stanza.wrap(fileKey, to: scene.reader.ageIdentity.recipient)
    try bad("passphrase-beside", "sealed to the reader, and to a passphrase", scene, .corruptFile, file([own, stanza]))
  }

  private func bad(
    _ name: String, _ title: String, _ scene: StateFileScene, _ items: [StateItem],
    _ code: GodwitError.Code = .corruptFile
  ) throws {
    try bad("state-file-\(name)", title, scene.scene, code, scene.file(items))
  }

  private func badHead(
    _ name: String, _ title: String, _ scene: StateFileScene, _ change: (StateHead) -> StateHead
  ) throws {
    try bad("state-file-\(name)", title, scene.scene, .corruptFile, scene.file(scene.items, change))
  }

  private func recordHeads(_ scene: StateFileScene) throws {
    func changing(_ change: @escaping (StateHead.Origin) -> StateHead.Origin) -> (StateHead) -> StateHead {
      { head in
        // Of the sender's own history, which it can sign as it says that it is.
        StateHead(
          origins: head.origins.map { $0.origin.replica == scene.scene.sender.replica ? change($0) : $0 },
          clock: head.clock)
      }
    }
    try badHead("order", "a head whose origins are not in order", scene) {
      StateHead(origins: $0.origins.reversed(), clock: $0.clock)
    }
    try badHead("twice", "a head with an origin twice", scene) {
      StateHead(origins: [$0.origins[0]] + $0.origins, clock: $0.clock)
    }
    try badHead("clock", "a head with a clock beyond the last timestamp", scene) {
      StateHead(origins: $0.origins, clock: HLC.limit)
    }
    try badHead("floor", "a floor above what has been folded", scene, changing { $0.changing(floor: $0.folded.next) })
    try badHead("folded", "more folded than there is", scene, changing { $0.changing(folded: $0.sequence.next) })
    let hash = [UInt8](repeating: 1, count: 32).withUnsafeBytes { ContentHash(of: $0) }
    try badHead(
      "chain", "a chain at the head that its transactions do not have", scene, changing { $0.changing(chain: hash) })
    try badHead(
      "longer", "a head beyond the last transaction", scene, changing { $0.changing(sequence: $0.sequence.next) })
  }

  private func recordItems(_ scene: StateFileScene) throws {
    let key = scene.key
    try bad(
      "table", "a row of a table that the header does not list", scene, scene.items + [.row(table: 99, values: key)],
      .limitExceeded)
    try bad(
      "row-cut", "a row with fewer values than its table has columns", scene,
      scene.items + [.row(table: 0, values: key)], .truncatedFile)
    try bad(
      "state-table", "a row state of a table that the header does not list", scene,
      scene.items + [.state(table: 99, key: key, state: [])], .limitExceeded)
    try bad(
      "state-cut", "a row state that ends inside a number", scene,
      scene.items + [.state(table: 0, key: key, state: [0xFF])], .truncatedFile)
    try bad(
      "ahead", "a row written beyond the last timestamp", scene,
      scene.items + [.ahead(table: 0, key: key, hlc: HLC.limit)])
    try bad(
      "hold-table", "a row of no table that waits", scene,
      scene.items + [.limbo(kind: 1, targetTable: nil, target: [], table: 99, key: key)], .limitExceeded)
    try bad(
      "hold-form", "a row that waits for nothing there can be", scene,
      scene.items + [.limbo(kind: 99, targetTable: nil, target: [], table: 0, key: key)])
    let short: [(title: String, kind: UInt8, rest: ArraySlice<UInt8>)] = [
      ("a row that waits for a unique value of no index", 0, []),
      ("a row that waits for no value of an index", 0, [1, 0x69]),
      ("a row that waits for a parent without a key", 1, []), ("a row that waits for no column's circle", 2, []),
    ]
    for (title, kind, rest) in short {
      try bad(
        "hold-rest-\(kind)\(rest.isEmpty ? "" : "-values")", title, scene,
        scene.items + [.limbo(kind: kind, targetTable: 0, target: rest, table: 0, key: key)], .truncatedFile)
    }
    try bad(
      "hold-rest-3", "a row that waits for a constraint and for more", scene,
      scene.items + [.limbo(kind: 3, targetTable: 0, target: [0], table: 0, key: key)])
    var unknown = ByteWriter()
    for item in scene.items { item.write(to: &unknown) }
    try bad("state-file-item", "an item of kind 9", scene.scene, .corruptFile, scene.file(raw: unknown.bytes + [9]))
  }

  private func recordTransactions(_ scene: StateFileScene) throws {
    guard case .transaction(let number, let last)? = scene.items.last else {
      throw GodwitError(.notFound, "no transaction")
    }
    func with(_ deletedCells: [UInt8], schemaVersion: UInt64 = 0) -> [StateItem] {
      let record = TransactionRecord(
        dot: Dot(scene.head.origins[number].origin, .none.next), hlc: last.hlc, schemaVersion: schemaVersion,
        context: last.context, changes: last.changes)
      return Array(scene.items.dropLast()) + [
        .transaction(origin: number, StateTransaction(record, deletedCells: deletedCells))
      ]
    }
    #expect(!last.deletedCells.isEmpty)
    try bad("shorter", "a head whose last transaction is missing", scene, Array(scene.items.dropLast()))
    try bad(
      "more", "an origin with more transactions than its head", scene,
      scene.items + [.transaction(origin: number, last)])
    try bad(
      "origin", "a transaction of an origin that the head does not have", scene,
      scene.items + [.transaction(origin: 99, last)], .limitExceeded)
    try bad("deleted-cells-none", "a delete without the cells that no fold has seen", scene, with([]))
    try bad(
      "deleted-cells-longer", "cells of a deleted row, a value more than the row had", scene,
      with(last.deletedCells + [0]))
    try bad(
      "deleted-cells-cut", "cells of a deleted row that end inside a value", scene,
      with(Array(last.deletedCells.dropLast())), .truncatedFile)
    try bad("deleted-cells-form", "cells of a deleted row that are no values", scene, with([9]))
    try bad(
      "version", "a transaction of a migration that the header does not list", scene,
      with(last.deletedCells, schemaVersion: 1))
  }
}
