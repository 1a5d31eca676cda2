import Foundation
import GodwitBase
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

/// What a hostile member may sign: containers with bytes changed, put in and left out.
@Suite("Changed containers")
struct ContainerMutationTests {
  private let inspector: SyncFileInspector
  private let sender: Identity
  private let containers: [[UInt8]]

  init() async throws {
    let group = try await TestGroup(2)
    try await group[0].write { transaction in
      for number in 0..<20 { try transaction.insert(Note(title: "note \(number)", views: number)) }
    }
    try await group[0].write { _ = try $0.execute("DELETE FROM note WHERE views < 3") }
    let keys = try Forgery.keys(of: group[0])
    inspector = SyncFileInspector(
      replica: keys.identity.replica, identities: [keys.identity.ageIdentity],
      roster: Roster(group: group[0].group, trusted: try keys.roster))
    sender = keys.identity
    let path = group.folder.file("file")
    _ = try await group[0].export(to: .file(path))
    let changes = try Forgery.container(Forgery.bytes(path), sender)
    _ = try await group[0].exportState(to: .file(path))
    containers = [changes, try Forgery.container(Forgery.bytes(path), sender)]
  }

  private func refusal(_ container: [UInt8]) throws -> (any Error)? {
    let recipients = try Forgery.header(containers[0]).header.recipients
    let sealed = try Forgery.seal(Forgery.sign(container, by: sender), to: recipients)
    do {
      _ = try inspector.inspect(AgeEnvelope(MemorySource(sealed))) { _ in }
      return nil
    } catch {
      return error
    }
  }

  @Test("are refused with an error of their own or read, and never trap", arguments: UInt64(1)...12)
  func mutations(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var refused = 0
    for container in containers {
      #expect(try refusal(container) == nil)
      for _ in 0..<60 {
        var changed = container
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let index = Int.random(in: 12..<changed.count - 64, using: &generator)
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: changed.insert(UInt8.random(in: 0...255, using: &generator), at: index)
          case 1: changed.remove(at: index)
          case 2: changed[index] = [0, 1, 0x7F, 0x80, 0xFF][Int.random(in: 0..<5, using: &generator)]
          default: changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
          }
        }
        guard let error = try refusal(changed) else { continue }
        #expect(error is GodwitError, "\(error)")
        refused += 1
      }
    }
    #expect(refused > 60)
  }
}
