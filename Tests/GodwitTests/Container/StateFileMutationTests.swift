import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import GodwitSyncFile

/// What a hostile member may put in the place of a state file's cells of deleted rows, which no chain proves.
@Suite("Changed cells of deleted rows in a state file", .timeLimit(.minutes(2)))
struct StateFileMutationTests {
  private func changed(_ deletedCells: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var deletedCells = deletedCells
    for _ in 0..<Int.random(in: 1...2, using: &generator) where !deletedCells.isEmpty {
      let index = Int.random(in: 0..<deletedCells.count, using: &generator)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: deletedCells.insert(UInt8.random(in: 0...255, using: &generator), at: index)
      case 1: deletedCells.remove(at: index)
      case 2: deletedCells = Array(deletedCells.prefix(index))
      case 3: deletedCells[index] = [0, 1, 2, 3, 4, 0x7F, 0xFF][Int.random(in: 0..<7, using: &generator)]
      default: deletedCells[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      }
    }
    return deletedCells
  }

  /// Imports the state file, and continues where it is taken in: a write of its own, and a file that is merged with it,
  /// ask for all cells of deleted rows.
  private func refusal(_ file: [UInt8], _ scene: StateFileScene, later: String) async throws -> GodwitError.Code? {
    let reader = try VectorReader(scene.scene.vector("changed", [file]))
    let replica = try await TestGroup.open(reader.path)
    if let code = await code({ try await replica.import(from: reader.source) }) {
      await replica.close()
      return code
    }
    try await replica.write { try $0.insert(Note(title: "own")) }
    #expect(try await replica.import(from: .file(later)).applied.transactions == 1)
    #expect(try await replica.maintenance.verify().problems.isEmpty)
    await replica.close()
    return nil
  }

  @Test("are refused, or taken in so that all later files are, too", arguments: UInt64(1)...4)
  func mutations(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let scene = try await StateFileScene()
    let sender = scene.scene.group[0]
    try await sender.write { _ = try $0.execute("UPDATE note SET views = views + 1") }
    let later = scene.scene.group.folder.file("later")
    _ = try await sender.export(to: .file(later))
    #expect(try await refusal(scene.file(scene.items), scene, later: later) == nil)
    let places = scene.items.indices.filter { place in
      if case .transaction(_, let transaction) = scene.items[place] { !transaction.deletedCells.isEmpty } else { false }
    }
    #expect(places.count == 2)
    var refused = 0
    for _ in 0..<12 {
      guard let place = places.randomElement(using: &generator),
        case .transaction(let number, let transaction) = scene.items[place]
      else { continue }
      var items = scene.items
      let record = transaction.record(Dot(scene.head.origins[number].origin, .none.next))
      items[place] = .transaction(
        origin: number, StateTransaction(record, deletedCells: changed(transaction.deletedCells, &generator)))
      guard let code = try await refusal(scene.file(items), scene, later: later) else { continue }
      #expect([.corruptFile, .truncatedFile, .limitExceeded].contains(code))
      refused += 1
    }
    #expect(refused > 0)
  }
}
