import Foundation
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Specs/remotes.md, "Large groups": who comes, goes and comes again, and files that are not what they were.
@Suite("Members of a large group at a remote")
struct LargeGroupTests {
  private static var tuning: Replica.Tuning {
    var tuning = Replica.Tuning()
    tuning.largeGroup = 2
    return tuning
  }

  private func join(_ remote: inout RemoteGroup) async throws {
    try await remote.group.join()
    try await remote[remote.group.replicas.count - 1].remotes.add("stick", at: remote.remote)
  }

  @Test("who joins and syncs before its inviter is read by all")
  func newcomerFirst() async throws {
    var remote = try await RemoteGroup(3, Self.tuning)
    try await remote.insert("a", 1)
    try await remote.syncAll(3)
    try await join(&remote)
    try await remote.insert("new", 3)
    for index in [3, 0, 1, 2, 3, 0, 1, 2] { try await remote.sync(index) }
    for index in 0..<4 { #expect(try await remote.ids(index) == ["a", "new"], "replica \(index)") }
    try await remote.syncAll(2)
    for index in 0..<4 { #expect(try await remote.sync(index).published == nil) }
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("who was removed and is let in again is believed as before")
  func readmitted() async throws {
    let remote = try await RemoteGroup(3, Self.tuning)
    try await remote.insert("a", 2)
    try await remote.syncAll(3)
    remote.group.clock.advance(60_000)
    try await remote[0].members.remove("\(remote[2].identity.replica)")
    for _ in 0..<2 { for index in 0..<2 { try await remote.sync(index) } }
    remote.group.clock.advance(60_000)
    let invitation = remote.group.folder.file("again")
    try await remote[0].members.invite(
      remote[2].identity, name: "again", verification: .trustOnFirstUse, to: .file(invitation))
    for _ in 0..<3 { for index in [0, 1, 2] { try await remote.sync(index, isRejoining: index == 2) } }
    try await remote.insert("b", 2)
    for index in [2, 0, 1] { try await remote.sync(index) }
    for index in 0..<2 {
      let report = try await remote.sync(index)
      #expect(report.taken.allSatisfy { $0.attention.leftOut.isEmpty })
    }
    for index in 0..<3 { #expect(try await remote.ids(index) == ["a", "b"], "replica \(index)") }
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("a base or an epoch that somebody overwrites is put anew within a day", arguments: ["b", "e"])
  func overwritten(folder: String) async throws {
    var remote = try await RemoteGroup(3, Self.tuning)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    for file in try FileManager.default.contentsOfDirectory(atPath: "\(remote.remote)/\(folder)") {
      try Data(repeating: 7, count: 5_000).write(to: URL(fileURLWithPath: "\(remote.remote)/\(folder)/\(file)"))
    }
    remote.group.clock.advance(2 * 86_400_000)
    try await remote.syncAll(2)
    // Who has neither finds both.
    try await join(&remote)
    try await remote.insert("b", 1)
    try await remote.syncAll(3)
    for index in 0..<4 { #expect(try await remote.ids(index) == ["a", "b"], "replica \(index)") }
    for index in 0..<4 { #expect(try await remote.sync(index).published == nil) }
  }
}
