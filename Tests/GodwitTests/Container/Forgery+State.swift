import Foundation
import GodwitBase
import GodwitCore
import GodwitEngine
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

extension Forgery {
  /// What a member can say in a state file: what its head has, and its items.
  struct State {
    var origins: [StateHead.Origin]
    var items: [StateItem]

    /// The place of a member's only origin.
    func number(of replica: ReplicaID) throws -> Int {
      try #require(origins.firstIndex { $0.origin.replica == replica })
    }

    /// Says that a member's first transaction has been forgotten.
    mutating func forgetFirst(of replica: ReplicaID) throws {
      let number = try number(of: replica)
      let origin = origins[number]
      let place = try #require(items.firstIndex { if case .transaction(number, _) = $0 { true } else { false } })
      guard case .transaction(_, let transaction) = items.remove(at: place) else { return }
      let chain = transaction.record(Dot(origin.origin, origin.floor.next)).chain(after: origin.floorChain)
      origins[number] = origin.changing(
        folded: max(origin.folded, origin.floor.next), floor: origin.floor.next, floorChain: chain)
    }

    /// A member's transactions, each as it is changed, under a chain that goes with them.
    mutating func changeTransactions(
      of replica: ReplicaID, _ change: (TransactionRecord, _ deletedCells: [UInt8]) -> (TransactionRecord, [UInt8])
    ) throws {
      let number = try number(of: replica)
      var (sequence, chain) = (origins[number].floor, origins[number].floorChain)
      for (place, item) in items.enumerated() {
        guard case .transaction(number, let transaction) = item else { continue }
        sequence = sequence.next
        let dot = Dot(origins[number].origin, sequence)
        let (record, deletedCells) = change(transaction.record(dot), transaction.deletedCells)
        chain = record.chain(after: chain)
        items[place] = .transaction(origin: number, StateTransaction(record, deletedCells: deletedCells))
      }
      origins[number] = origins[number].changing(chain: chain)
    }
  }

  /// The items of a sealed state file.
  static func stateItems(_ sealed: [UInt8], _ reader: Identity) throws -> [StateItem] {
    let header = try header(container(sealed, reader)).header
    let file = try SyncFileReader(AgeEnvelope(MemorySource(sealed)), identities: [reader.ageIdentity]) { _ in
      .reported(nil)
    }
    var items: [StateItem] = []
    while let block = try file.nextBlock() {
      var reader = ByteReader(block)
      while !reader.isAtEnd {
        items.append(
          try StateItem(
            reading: &reader, tables: header.tables.count, origins: header.stateFile?.origins.count ?? 0,
            migrations: header.migrations.count))
      }
    }
    return items
  }

  /// A state file's only block of items, and its end.
  static func stateBlock(_ items: [StateItem]) throws -> [UInt8] {
    var block = ByteWriter()
    for item in items { item.write(to: &block) }
    var trailer = ByteWriter()
    trailer.byte(SyncFileFormat.Part.trailer.rawValue)
    trailer.bigEndian(UInt64(1))
    let signature = [UInt8](repeating: 0, count: SignedHead.signatureByteCount)
    return try frame(block.bytes, part: .state) + trailer.bytes + signature
  }

  /// Writes a state file anew with what its sender says in it otherwise.
  static func changeState(
    at path: String, signedBy sender: Identity, _ change: (SyncFileHeader, inout State) throws -> Void
  ) throws {
    let sealed = try bytes(path)
    let container = try container(sealed, sender)
    let (header, end) = try header(container)
    let head = try #require(header.stateFile)
    var state = State(origins: head.origins, items: try stateItems(sealed, sender))
    try change(header, &state)
    let forged = try replaceHeader(of: Array(container[..<end]) + stateBlock(state.items), signedBy: sender) {
      $0.changing(stateFile: StateHead(origins: state.origins, clock: head.clock))
    }
    try Data(seal(forged, to: header.recipients)).write(to: URL(fileURLWithPath: path))
  }
}
