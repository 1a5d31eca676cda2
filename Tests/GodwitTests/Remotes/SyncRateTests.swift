import Foundation
import GodwitRemotes
import TestServers
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("A sync with a limit of bytes a second")
struct SyncRateTests {
  @Test("takes as long as its bytes do, both ways together")
  func slow() async throws {
    let remote = try await RemoteGroup(2)
    let name = (0..<4_000).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
    try await remote[0].write { try $0.insert(Thing(id: "a", name: name)) }
    let time = PassingTime()
    let pace = try TransferPace(bytesPerSecond: 1_000, now: { time.now }, wait: { time.wait($0) })
    let first = try #require(try await remote[0].sync(pace: pace).remotes.first)
    let published = try #require(first.published?.bytes)
    #expect(published > 30_000)
    #expect(time.now >= .seconds(published) / 1_000, "\(time.now)")
    let second = try #require(try await remote[1].sync(pace: pace).remotes.first)
    #expect(try await remote.ids(1) == ["a"])
    let all = first.fetchedBytes + published + second.fetchedBytes + (second.published?.bytes ?? 0)
    #expect(second.fetchedBytes >= published)
    #expect(time.now >= .seconds(all) / 1_000 && time.now < .seconds(all + 2_000) / 1_000, "\(time.now) for \(all)")
    // A sync without a limit does not wait.
    let before = time.waitCount
    try await remote.syncAll(2)
    #expect(time.waitCount == before)
  }

  @Test("below 1,000 is refused before anything is done", arguments: [-1, 0, 999])
  func refused(limit: Int) async throws {
    let remote = try await RemoteGroup(1)
    #expect(await code { try await remote[0].sync(maximumBytesPerSecond: limit) } == .invalidArgument)
    #expect(try await remote[0].remotes.list().first?.syncedAt == nil)
    #expect(try await remote[0].sync(maximumBytesPerSecond: 1 << 30).remotes.first?.error == nil)
  }
}

@Suite("The import of a file from a remote")
struct ImportTimeTests {
  @Test("33: is given up when it takes too long, changes nothing, and is tried again in an hour")
  func tooLong() async throws {
    var tuning = Replica.Tuning()
    tuning.importTime = .zero
    let remote = try await RemoteGroup(2, tuning)
    try await remote[0].write { transaction in
      for index in 0..<2_000 { try transaction.insert(Thing(id: "\(index)")) }
    }
    try await remote.sync(0)
    let mailbox = try await remote.mailbox(of: 0)
    for _ in 0..<2 {
      let report = try await remote.sync(1)
      #expect(report.error == nil && report.refused.map(\.error.code) == [.limitExceeded])
      #expect(try await remote.sync(1).fetchedBytes == 0)
      remote.group.clock.advance(3_600_000)
    }
    #expect(try await remote.ids(1).isEmpty)
    #expect(try await remote[1].status().remotes.first?.problem == nil)
    _ = try await remote[1].import(from: .file(mailbox))
    #expect(try await remote.ids(1).count == 2_000)
  }
}
