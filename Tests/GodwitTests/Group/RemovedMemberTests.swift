import Foundation
import Godwit
import Testing

@Suite("A removed member")
struct RemovedMemberTests {
  @Test("is not heard any more by who knows of its removal, whatever it sends")
  func refused() async throws {
    let group = try await TestGroup(2)
    try await group[1].write { try $0.insert(Note(title: "before")) }
    try await group.settle()
    let digest = try await group[0].digest()
    try await group[0].removeMember(named: "replica-1")
    for title in ["one", "two"] {
      let file = group.folder.file(title)
      try await group[1].write { try $0.insert(Note(title: title)) }
      _ = try await group[1].export(to: .file(file), includesAll: true)
      #expect(await code { try await group[0].import(from: .file(file)) } == .unknownSender)
    }
    #expect(try await group[0].digest() == digest)
    for replica in group.replicas { await replica.close() }
  }
}
