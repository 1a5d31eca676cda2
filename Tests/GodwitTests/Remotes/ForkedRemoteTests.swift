import Foundation
import Testing

@testable import Godwit

/// Specs/remotes.md, "Faults", 36: who has the store shows one member something else than the others.
@Suite("A remote that shows each member something else")
struct ForkedRemoteTests {
  /// Where the other view lies.
  private func other(_ remote: RemoteGroup) -> String { remote.group.folder.file("other") }

  /// The second replica syncs with its own view, under the same URL.
  private func syncForked(_ remote: RemoteGroup) async throws -> Replica.SyncReport.Remote {
    let aside = remote.group.folder.file("aside")
    func swap(_ first: String, _ second: String) throws {
      try FileManager.default.moveItem(atPath: first, toPath: aside)
      try FileManager.default.moveItem(atPath: second, toPath: first)
      try FileManager.default.moveItem(atPath: aside, toPath: second)
    }
    try swap(remote.remote, other(remote))
    let report = try await remote.sync(1)
    try swap(remote.remote, other(remote))
    return report
  }

  /// Three that have synced, and a row of the first and of the second since the views differ.
  private func forked() async throws -> RemoteGroup {
    let remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    try FileManager.default.copyItem(atPath: remote.remote, toPath: other(remote))
    try await remote.insert("a", 0)
    try await remote.insert("b", 1)
    for index in [0, 2] { try await remote.sync(index) }
    #expect(try await syncForked(remote).findings.isEmpty)
    #expect(try await remote.ids(2) == ["a"])
    #expect(try await remote.ids(1) == ["b"])
    return remote
  }

  @Test("36: is found by a member's word that reaches both views, and once the views are one nothing is lost")
  func found() async throws {
    let remote = try await forked()
    // The third has published in both, and holds what the second is not shown.
    let mailbox = try await remote.mailbox(of: 2)
    let name = URL(fileURLWithPath: mailbox).lastPathComponent
    try FileManager.default.removeItem(atPath: "\(other(remote))/m/\(name)")
    try FileManager.default.copyItem(atPath: mailbox, toPath: "\(other(remote))/m/\(name)")
    remote.group.clock.advance(2 * 86_400_000)
    #expect(try await syncForked(remote).findings == [.withheld])
    #expect(try await remote[1].status().remotes.first?.found?.findings == [.withheld])
    #expect(try await remote.ids(1) == ["b"])
    // One view for all: what the second has published is not there.
    #expect(try await remote.sync(1).findings == [.rolledBack])
    #expect(try await remote[1].status().remotes.first?.found?.findings == [.rolledBack])
    try await remote.syncAll(2)
    for index in 0..<3 { #expect(try await remote.ids(index) == ["a", "b"]) }
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("36: keeps nothing from those whom a file reaches by hand, and they pass it on in their view")
  func byHand() async throws {
    let remote = try await forked()
    try await remote.group.send(1, 2)
    try await remote.sync(2)
    try await remote.sync(0)
    #expect(try await remote.ids(0) == ["a", "b"])
    try await remote.group.send(2, 1)
    #expect(try await remote.ids(1) == ["a", "b"])
    #expect(try await syncForked(remote).error == nil)
    #expect(try await remote.group.digests().count == 1)
  }
}
