import Foundation
import GodwitBase
import Synchronization
import TestFolders
import Testing

@testable import Godwit

/// Specs/agent.md: replicas that keep themselves in sync.
@Suite("Keeping in sync")
struct KeepInSyncTests {
  @Test("what one writes comes to the other, again and again, until the task is cancelled")
  func bothWays() async throws {
    let group = try await RemoteGroup(2)
    let tasks = (0..<2).map { index in
      Task { try await group[index].keepInSync(every: .seconds(1)) }
    }
    for round in 0..<2 {
      for index in 0..<2 { try await group.insert("\(round)-\(index)", index) }
      let all = (0...round).flatMap { round in (0..<2).map { "\(round)-\($0)" } }.sorted()
      try await Patience.until {
        let (here, there) = (try await group.ids(0), try await group.ids(1))
        return here == all && there == all
      }
    }
    for task in tasks {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("what was written goes out long before the interval is over, and once for several writes")
  func writes() async throws {
    let group = try await RemoteGroup(2)
    let published = Mutex([Int]())
    let task = Task {
      try await group[0].keepInSync(every: .seconds(86_400)) { report in
        published.withLock { $0 += report.remotes.compactMap { $0.published?.transactions } }
      }
    }
    try await Patience.until { try await group[0].remotes.list().first?.syncedAt != nil }
    let first = try #require(try await group[0].remotes.list().first?.syncedAt)
    group.group.clock.advance(60_000)
    for number in 0..<5 { try await group.insert("\(number)", 0) }
    try await Patience.until { published.withLock { $0.reduce(0, +) } >= 5 }
    // Two where the machine was so busy that the writes took longer than that.
    #expect(published.withLock { $0.count { $0 > 0 } } <= 2)
    // A minute is no news, but what moved is.
    try await Patience.until { try await group[0].remotes.list().first?.syncedAt ?? first > first }
    try await group.sync(1)
    #expect(try await group.ids(1) == (0..<5).map(String.init))
    task.cancel()
    _ = await task.result
  }

  @Test("a remote that fails keeps no other from its turn, and is reported")
  func oneFails() async throws {
    let group = try await RemoteGroup(2)
    let gone = group.group.folder.file("gone")
    try FileManager.default.createDirectory(atPath: gone, withIntermediateDirectories: true)
    try await group[0].remotes.add("gone", at: gone)
    try FileManager.default.removeItem(atPath: gone)
    let failed = Mutex(false)
    let task = Task {
      try await group[0].keepInSync(every: .seconds(1)) { report in
        if report.remotes.contains(where: { $0.name == "gone" && $0.error != nil }) { failed.withLock { $0 = true } }
      }
    }
    try await group.insert("1", 0)
    try await Patience.until {
      try await group.sync(1)
      return try await group.ids(1) == ["1"] && failed.withLock(\.self)
    }
    task.cancel()
    _ = await task.result
  }

  @Test("remotes that are added meanwhile are taken in, and one that is idle publishes nothing")
  func added() async throws {
    let group = try await RemoteGroup(2)
    try await group[0].remotes.remove("stick")
    let publications = Mutex(0)
    let task = Task {
      try await group[0].keepInSync(every: .seconds(1)) { report in
        publications.withLock { $0 += report.remotes.count { $0.published != nil } }
      }
    }
    try await group.insert("1", 0)
    try await Task.sleep(for: .milliseconds(300))
    try await group[0].remotes.add("stick", at: group.remote)
    try await Patience.until {
      try await group.sync(1)
      return try await group.ids(1) == ["1"]
    }
    try await group.syncAll(2)
    let before = publications.withLock(\.self)
    try await Task.sleep(for: .seconds(3))
    #expect(publications.withLock(\.self) == before)
    task.cancel()
    _ = await task.result
  }

  @Test("a folder that cannot be written for long is reported as each remote's failure, until it can be")
  func unwritable() async throws {
    let group = try await RemoteGroup(1)
    let isReadOnly = Mutex(true)
    let codes = Mutex<[GodwitError.Code?]>([])
    let task = Task {
      try await group[0].keepInSync(
        with: [], every: .seconds(1), SyncOutage(patience: .zero),
        { report in codes.withLock { $0 += report.remotes.map(\.error?.code) } },
        { name in
          if isReadOnly.withLock({ $0 }) { throw GodwitError(.fileAccess, "the file system is read only") }
          return try await group[0].sync(with: [name], pace: nil, isSparing: true)
        })
    }
    try await Patience.until { codes.withLock { $0.count > 1 } }
    #expect(codes.withLock { $0.allSatisfy { $0 == .fileAccess } })
    isReadOnly.withLock { $0 = false }
    try await Patience.until { codes.withLock { $0.last == .some(nil) } }
    task.cancel()
    _ = await task.result
  }

  @Test("an outage is waited for, and counts from its own beginning")
  func outage() {
    var outage = SyncOutage()
    let start = ContinuousClock.now
    func isLong(_ seconds: Int, _ code: GodwitError.Code = .fileAccess) -> Bool {
      outage.isLong(GodwitError(code, "no"), at: start + .seconds(seconds))
    }
    #expect([isLong(0), isLong(299), isLong(300)] == [false, false, true])
    outage.noteSuccess()
    #expect([isLong(301), isLong(600)] == [false, false])
    // Where it is busy, it was reached.
    #expect([isLong(601, .busy), isLong(602), isLong(901), isLong(902)] == [false, false, false, true])
  }

  @Test("an interval out of range, a name that no remote has, and a replica that is closed end it with an error")
  func ends() async throws {
    let group = try await RemoteGroup(1)
    for interval in [Duration.zero, .seconds(86_401), .milliseconds(999)] {
      let error = await #expect(throws: GodwitError.self) { try await group[0].keepInSync(every: interval) }
      #expect(error?.code == .invalidArgument)
    }
    let slow = await #expect(throws: GodwitError.self) { try await group[0].keepInSync(maximumBytesPerSecond: 999) }
    #expect(slow?.code == .invalidArgument)
    let error = await #expect(throws: GodwitError.self) { try await group[0].keepInSync(with: ["none"]) }
    #expect(error?.code == .invalidArgument)
    let task = Task { try await group[0].keepInSync(every: .seconds(1)) }
    try await Patience.until { try await group[0].remotes.list().first?.syncedAt != nil }
    await group[0].close()
    let end = await #expect(throws: GodwitError.self) { try await task.value }
    #expect(end?.code == .closed)
  }
}
