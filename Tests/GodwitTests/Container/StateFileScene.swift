import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// A state file for a member that lacks what all have forgotten, item by item: of one that lacks nothing a reader
/// passes over what is no transaction.
struct StateFileScene {
  let scene: VectorScene
  let head: StateHead
  let items: [StateItem]
  /// The key of no row in the header's first table.
  let key: ArraySlice<UInt8>

  init() async throws {
    let group = try await TestGroup(2)
    for index in 0..<2 { try await group[index].write { try $0.insert(Note(title: "of both")) } }
    try await group.settle()
    for index in 0..<2 { _ = try await group[index].maintenance.compact() }
    group.clock.advance(1_000)
    try await group[0].write { transaction in
      for number in 0..<3 { try transaction.insert(Note(title: "note \(number)", body: "ü", views: number)) }
    }
    try await group[0].write {
      _ = try $0.execute("UPDATE note SET id = x'00112233445566778899aabbccddeeff' WHERE title = 'note 1'")
    }
    try await group[0].write { _ = try $0.execute("DELETE FROM note WHERE title = 'note 2'") }
    scene = try await VectorScene(of: group) { _ = try await group[0].exportState(to: .file($0)) }
    let header = try Forgery.header(scene.container).header
    head = try #require(header.stateFile)
    items = try Forgery.stateItems(scene.sealed, scene.reader)
    var key = ByteWriter()
    key.value(.blob([UInt8](repeating: 7, count: 16)))
    self.key = key.bytes[...]
    let own = try #require(head.origins.first { $0.origin.replica == scene.sender.replica })
    #expect(head.origins.count == 2 && own.floor > .none && own.folded < own.sequence)
  }

  /// The file with these items, as one block, and another head.
  func file(_ items: [StateItem], _ change: (StateHead) -> StateHead = { $0 }) throws -> [UInt8] {
    var block = ByteWriter()
    for item in items { item.write(to: &block) }
    return try file(raw: block.bytes, change)
  }

  func file(raw block: [UInt8], _ change: (StateHead) -> StateHead = { $0 }) throws -> [UInt8] {
    try scene.replacingFrames(Forgery.frame(block, part: .state), count: 1) { header in
      header.changing(stateFile: header.stateFile.map(change))
    }
  }
}
