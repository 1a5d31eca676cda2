import Foundation
import Godwit
import GodwitEngine
import Testing

/// States that lie at a remote longer than what they were made for stays the same (Specs/remotes.md, "States").
@Suite("States at a remote")
struct RemoteStateTests {
  /// Two replicas, of which the second has taken a removed member's work that the first leaves out: it needs the state
  /// that the first has put there, and has come to hold since what that lacks.
  private func groupWithOldState(_ tuning: Replica.Tuning = Replica.Tuning()) async throws -> RemoteGroup {
    var remote = try await RemoteGroup(3, tuning)
    try await remote.syncAll(3)
    try await remote.setAside(2, as: "backup")
    try await remote.insert("forgotten", 0)
    for index in [0, 1, 2, 0, 1] { try await remote.sync(index) }
    #expect(try await remote[0].maintenance.compact().transactions > 0)
    try await remote.restore(2, from: "backup")
    try await remote.insert("unaware", 2)
    for index in [2, 1] { try await remote.sync(index) }
    #expect(try await remote.ids(1) == ["forgotten", "unaware"])
    try await remote[0].members.remove("replica-2")
    try await remote.insert("own", 1)
    for index in [0, 1] { try await remote.sync(index) }
    #expect(try await remote.sync(0).publishedState != nil)
    #expect(try await remote.sync(1).findings == [.needsState])
    try await remote.insert("later", 0)
    for index in [0, 1, 0, 1] { #expect(try await remote.sync(index).publishedState == nil) }
    #expect(try await remote.ids(1) == ["forgotten", "later", "own", "unaware"])
    return remote
  }

  private func requireAll(_ remote: RemoteGroup) async throws {
    for index in [0, 1, 0, 1, 0] { try await remote.sync(index) }
    for index in 0..<2 { #expect(try await remote.ids(index) == ["forgotten", "later", "own"], "replica \(index)") }
    #expect(try await Set([remote[0].maintenance.digest(), remote[1].maintenance.digest()]).count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(remote.remote)/s").isEmpty)
  }

  @Test("22: who needs a state forgets nothing that the state may lack")
  func keeping() async throws {
    let remote = try await groupWithOldState()
    #expect(try await remote[1].maintenance.compact().transactions == 0)
    let report = try await remote.sync(1, isRejoining: true)
    #expect(report.refused.isEmpty && report.findings.isEmpty)
    try await requireAll(remote)
  }

  @Test("22: a state that lacks what has been forgotten by who needs it is made anew a day later")
  func old() async throws {
    let remote = try await groupWithOldState()
    // Nothing is noted of a remote that is not there.
    try await remote[1].remotes.remove("stick")
    #expect(try await remote[1].maintenance.compact().transactions > 0)
    try await remote[1].remotes.add("stick", at: remote.remote)
    let refused = try await remote.sync(1, isRejoining: true).refused
    #expect(refused.map(\.error.message) == ["the state file is older than what has been forgotten here"])
    #expect(try await remote.sync(0).publishedState == nil)
    remote.group.clock.advance(86_400_000)
    #expect(try await remote.sync(0).publishedState != nil)
    #expect(try await remote.sync(0).publishedState == nil)
    #expect(try await remote.sync(1, isRejoining: true).findings.isEmpty)
    try await requireAll(remote)
  }

  @Test("39: a state that has become too large is tried again a day later, and the old one stays")
  func tooLarge() async throws {
    var tuning = Replica.Tuning()
    tuning.remoteFileSize = 40_000
    let remote = try await groupWithOldState(tuning)
    for _ in 0..<6 {
      for _ in 0..<20 {
        try await remote.insert((0..<60).map { _ in "\(UInt64.random(in: 0 ... .max))" }.joined(), 0)
      }
      for index in [0, 1, 0, 1] { try await remote.sync(index) }
    }
    remote.group.clock.advance(86_400_000)
    var tries: Set<Int64> = []
    for _ in 0..<3 {
      #expect(try await remote.sync(0).refused.map(\.error.code) == [.limitExceeded])
      let notes = try await remote[0].read { try RemoteNotes($0.connection).files(of: "stick") }
      tries.formUnion(notes.values.filter { $0.code == GodwitError.Code.limitExceeded.rawValue }.map(\.at))
      remote.group.clock.advance(3_600_000)
    }
    #expect(tries.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(remote.remote)/s").count == 1)
  }
}
