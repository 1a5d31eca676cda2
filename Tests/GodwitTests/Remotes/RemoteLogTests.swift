import Foundation
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Specs/remotes.md, "Logs".
@Suite("A collector's log at a remote")
struct RemoteLogTests {
  private static let minute: Int64 = 60_000
  private static let hour: Int64 = 60 * minute
  private static let day: Int64 = 24 * hour

  /// A remote that the first replica collects at, and that the others follow.
  private func followed(_ count: Int = 3, _ tuning: Replica.Tuning = .init()) async throws -> RemoteGroup {
    let remote = try await RemoteGroup(count, tuning)
    for _ in 0..<3 {
      for index in 1..<count { try await remote.sync(index) }
      try await remote.collect(0)
    }
    for index in 1..<count { try await remote.sync(index) }
    return remote
  }

  @Test("brings changes without anybody's mailbox")
  func follows() async throws {
    let remote = try await followed()
    try await remote.insert("a", 1)
    try await remote.sync(1)
    #expect(try await remote.collect(0).publishedLog?.transactions == 1)
    // Nobody but the collector needs it there.
    try FileManager.default.removeItem(atPath: try await remote.mailbox(of: 1))
    let report = try await remote.sync(2)
    #expect(report.taken.count == 1 && report.published?.transactions == 0)
    #expect(try await remote.ids(2) == ["a"])
  }

  @Test("is not written where there is nothing new, but once in a quarter of an hour")
  func beats() async throws {
    let remote = try await followed()
    try await remote.collect(0)
    #expect(try await remote.collect(0).publishedLog == nil)
    remote.group.clock.advance(15 * Self.minute)
    #expect(try await remote.collect(0).publishedLog?.transactions == 0)
  }

  @Test("is continued by a sync that is not asked to collect, until there is nothing new for three quarters of an hour")
  func continued() async throws {
    let remote = try await followed()
    try await remote.insert("a", 0)
    #expect(try await remote.sync(0).publishedLog?.transactions == 1)
    #expect(try await remote.sync(1).taken.count == 1)
    remote.group.clock.advance(40 * Self.minute)
    // No file without news.
    #expect(try await remote.sync(0).publishedLog == nil)
    remote.group.clock.advance(6 * Self.minute)
    try await remote.insert("b", 0)
    #expect(try await remote.sync(0).publishedLog == nil)
    #expect(try await remote.sync(1).taken.count == 1)
    #expect(try await remote.ids(1) == ["a", "b"])
  }

  @Test("21: once it is silent for three of its intervals mailboxes are read again")
  func silent() async throws {
    let remote = try await followed()
    try await remote.insert("a", 1)
    try await remote.sync(1)
    #expect(try await remote.sync(2).taken.isEmpty)
    remote.group.clock.advance(46 * Self.minute)
    #expect(try await remote.sync(2).taken.count == 1)
    #expect(try await remote.ids(2) == ["a"])
  }

  @Test("is not followed by one whose changes it does not bring")
  func ignored() async throws {
    let remote = try await followed()
    for index in 1...2 { try await remote.insert("\(index)", index) }
    for index in 1...2 { try await remote.sync(index) }
    #expect(try await remote.sync(1).taken.isEmpty)
    remote.group.clock.advance(6 * Self.minute)
    try await remote.sync(1)
    #expect(try await remote.ids(1) == ["1", "2"])
  }

  @Test("that leaves out what a member wrote delays it by a day")
  func withheld() async throws {
    let remote = try await followed()
    try await remote.insert("a", 1)
    try await remote.sync(1)
    let mailbox = try await remote.mailbox(of: 1)
    let aside = remote.group.folder.file("aside")
    var minutes: Int64 = 0
    while try await remote.ids(2).isEmpty, minutes < 48 * 60 {
      try FileManager.default.moveItem(atPath: mailbox, toPath: aside)
      try await remote.collect(0)
      try FileManager.default.moveItem(atPath: aside, toPath: mailbox)
      try await remote.sync(2)
      remote.group.clock.advance(40 * Self.minute)
      minutes += 40
    }
    #expect((23 * 60...25 * 60).contains(minutes), "\(minutes)")
    #expect(try await remote.ids(2) == ["a"])
  }

  @Test("20: of two collectors each writes its own, and a reader that follows one misses nothing of the other's")
  func two() async throws {
    let remote = try await followed(4)
    for round in 0..<4 {
      for index in 0..<4 { try await remote.insert("\(round)-\(index)", index) }
      for index in 2..<4 { try await remote.sync(index) }
      for index in 0..<2 { try await remote.collect(index) }
    }
    for _ in 0..<2 {
      for index in 0..<2 { try await remote.collect(index) }
      for index in 2..<4 { try await remote.sync(index) }
    }
    #expect(Set(try remote.names("l").map { $0.dropLast(2) }).count == 2)
    #expect(try await remote.group.digests().count == 1)
    #expect(try await remote.ids(3).count == 16)
  }

  @Test("continues with its own numbers where everything is gone or old")
  func numbers() async throws {
    let remote = try await followed()
    try await remote.insert("a", 0)
    try await remote.collect(0)
    let last = try remote.lastNumber()
    try remote.empty()
    try await remote.insert("b", 0)
    try await remote.collect(0)
    #expect(try remote.names("l").map { $0.hasSuffix("-\(last + 1)") } == [true])
  }

  @Test("takes no number from files that others put there")
  func hostileNumbers() async throws {
    let remote = try await followed()
    let origin = try #require(try remote.names("l").first).dropLast(2)
    for number in [UInt32.max, .max - 1] {
      try Data().write(to: URL(fileURLWithPath: "\(remote.remote)/l/\(origin)-\(number)"))
    }
    try await remote.insert("a", 0)
    #expect(try await remote.collect(0).publishedLog?.transactions == 1)
    try await remote.sync(2)
    #expect(try await remote.ids(2) == ["a"])
  }

  @Test("18: that is gone with its collector leaves nothing out of the others' mailboxes")
  func goneWithCollector() async throws {
    let remote = try await followed()
    try await remote.insert("a", 0)
    try await remote.collect(0)
    try await remote.sync(1)
    try remote.empty()
    remote.group.clock.advance(46 * Self.minute)
    for _ in 0..<2 { for index in 1...2 { try await remote.sync(index) } }
    #expect(try await remote.ids(2) == ["a"])
  }

  @Test("25: is not taken for one without news where the folder is not mounted")
  func notMounted() async throws {
    let remote = try await followed()
    let aside = remote.group.folder.file("aside")
    try FileManager.default.moveItem(atPath: remote.remote, toPath: aside)
    try FileManager.default.createDirectory(atPath: remote.remote, withIntermediateDirectories: true)
    try await remote.insert("a", 2)
    #expect(try await remote.sync(2).error?.code == .unreachable)
    #expect(try FileManager.default.contentsOfDirectory(atPath: remote.remote).isEmpty)
  }

  @Test("with a file that is too large keeps nobody from the rest")
  func tooLarge() async throws {
    let remote = try await followed()
    let path = try remote.nextFile()
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 2 << 30)
    try await remote.insert("a", 1)
    try await remote.sync(1)
    let report = try await remote.sync(2)
    #expect(report.error == nil && report.taken.count == 1)
    #expect(try await remote.ids(2) == ["a"])
    try await remote.insert("b", 0)
    try await remote.collect(0)
    try await remote.sync(2)
    #expect(try await remote.ids(2) == ["a", "b"])
  }

  @Test("14: a file that was meant to be there when a process ended comes with the same bytes")
  func meant() async throws {
    let remote = try await followed()
    try await remote.insert("a", 0)
    // A folder in the place of the next file.
    let place = try remote.nextFile()
    try FileManager.default.createDirectory(atPath: place + "/x", withIntermediateDirectories: true)
    let failed = try #require(try await remote[0].sync(isCollecting: true).remotes.first)
    #expect(failed.error != nil)
    try FileManager.default.removeItem(atPath: place)
    let spool = remote.group.folder.file("replica-0/remotes/stick.l")
    let meant = try Data(contentsOf: URL(fileURLWithPath: spool))
    try await remote.collect(0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: place)) == meant)
    try await remote.sync(2)
    #expect(try await remote.ids(2) == ["a"])
  }

  @Test("loses its files once all members have them, and the others after a week")
  func tidied() async throws {
    let remote = try await followed()
    try await remote.insert("a", 1)
    try await remote.sync(1)
    try await remote.collect(0)
    try await remote.sync(1)
    remote.group.clock.advance(Self.day + Self.minute)
    try await remote.sync(1)
    try await remote.collect(0)
    // The third has not said that it has the row.
    #expect(try remote.names("l").count > 1)
    try await remote.sync(2)
    remote.group.clock.advance(Self.day + Self.minute)
    for _ in 0..<2 { try await remote.collect(0) }
    #expect(try remote.names("l").count == 1)
  }

  @Test("22: who was away longer than its files finds all in mailboxes and states")
  func away() async throws {
    let remote = try await followed()
    for day in 0..<10 {
      try await remote.insert("\(day)", 1)
      try await remote.sync(1)
      try await remote.collect(0)
      remote.group.clock.advance(Self.day)
      try await remote.sync(1)
    }
    try await remote.sync(2)
    #expect(try await remote.ids(2).count == 10)
    try await remote.collect(0)
    try await remote.sync(2)
    try await remote.insert("last", 1)
    try await remote.sync(1)
    try await remote.collect(0)
    #expect(try await remote.sync(2).taken.count == 1)
    #expect(try await remote.ids(2).count == 11)
  }

  @Test("is passed over by who joined after a file, and followed from the next one on")
  func newcomer() async throws {
    var remote = try await followed()
    try await remote.insert("a", 1)
    try await remote.sync(1)
    try await remote.collect(0)
    try await remote.group.join()
    try await remote[3].remotes.add("stick", at: remote.remote)
    try await remote.collect(0)
    try await remote.sync(3)
    try await remote.collect(0)
    try await remote.sync(3)
    #expect(try await remote.ids(3) == ["a"])
    try await remote.insert("b", 1)
    try await remote.sync(1)
    try await remote.collect(0)
    #expect(try await remote.sync(3).taken.count == 1)
    #expect(try await remote.ids(3) == ["a", "b"])
  }

  @Test("is cut into files of a size, each behind the one before")
  func cut() async throws {
    var tuning = Replica.Tuning()
    tuning.logFileSize = 40_000
    let remote = try await followed(3, tuning)
    let (before, size) = (try remote.lastNumber(), tuning.logFileSize)
    for index in 0..<12 {
      let name = (0..<800).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
      try await remote[1].write { try $0.insert(Thing(id: "\(index)", name: name)) }
    }
    try await remote.sync(1)
    #expect(try await remote.collect(0).publishedLog?.transactions == 12)
    let files = try remote.names("l").filter { Int($0.split(separator: "-").last ?? "") ?? 0 > before }
    #expect(files.count > 2)
    for name in files {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(remote.remote)/l/\(name)")
      #expect(try #require(attributes[.size] as? Int) <= size)
    }
    #expect(try await remote.sync(2).taken.count == files.count)
    #expect(try await remote.ids(2).count == 12)
    #expect(try await remote.collect(0).publishedLog == nil)
  }
}

extension RemoteGroup {
  @discardableResult
  func collect(_ index: Int) async throws -> Replica.SyncReport.Remote {
    let report = try #require(try await self[index].sync(isCollecting: true).remotes.first)
    #expect(report.error == nil)
    return report
  }

  /// The number of the latest file of a log.
  fileprivate func lastNumber() throws -> Int {
    try #require(try names("l").compactMap { Int($0.split(separator: "-").last ?? "") }.max())
  }

  /// The path of the next file of the one log there.
  fileprivate func nextFile() throws -> String {
    let origin = try #require(try names("l").first).dropLast(2)
    return "\(remote)/l/\(origin)-\(try lastNumber() + 1)"
  }

  /// Removes all mailboxes, marks and files of logs.
  fileprivate func empty() throws {
    for folder in ["l", "m"] {
      for name in try names(folder) { try FileManager.default.removeItem(atPath: "\(remote)/\(folder)/\(name)") }
    }
  }

  /// What lies in a folder of the remote.
  fileprivate func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(remote)/\(folder)").sorted()
  }
}
