import Foundation
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Specs/remotes.md, "Faults", as far as they are of a folder and of what lies there.
@Suite("Faults of a remote")
struct RemoteFaultTests {
  @Test("18: all files gone are published again, and nothing is lost")
  func emptied() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    for path in try remote.mailboxes() { try FileManager.default.removeItem(atPath: path) }
    try await remote.insert("b", 1)
    #expect(try await remote.sync(0).findings == [.emptied])
    #expect(try await remote.sync(1).findings == [.emptied])
    try await remote.syncAll(2)
    #expect(try await remote.ids(0) == ["a", "b"])
    #expect(try await remote.sync(0).findings.isEmpty)
  }

  @Test("19: a remote that went back is mended by the next syncs")
  func rolledBack() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.syncAll(2)
    let mailbox = try await remote.mailbox(of: 0)
    let earlier = remote.group.folder.file("earlier")
    try FileManager.default.copyItem(atPath: mailbox, toPath: earlier)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    try await remote.sync(0)
    try FileManager.default.removeItem(atPath: mailbox)
    try FileManager.default.copyItem(atPath: earlier, toPath: mailbox)
    let report = try await remote.sync(0)
    #expect(report.findings == [.rolledBack] && report.published?.transactions == 1)
    #expect(try await remote[0].status().remotes.first?.found?.findings == [.rolledBack])
    try await remote.sync(1)
    #expect(try await remote.ids(1) == ["a"])
  }

  @Test("36: a remote that shows an earlier file of a member is found by what others acknowledge")
  func withheld() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    let mailbox = try await remote.mailbox(of: 0)
    let earlier = remote.group.folder.file("earlier")
    try FileManager.default.copyItem(atPath: mailbox, toPath: earlier)
    try await remote.insert("a", 0)
    for index in 0..<2 { try await remote.sync(index) }
    try FileManager.default.removeItem(atPath: mailbox)
    try FileManager.default.copyItem(atPath: earlier, toPath: mailbox)
    #expect(try await remote.sync(2).findings.isEmpty)
    #expect(try await remote.ids(2).isEmpty)
    remote.group.clock.advance(2 * 86_400_000)
    #expect(try await remote.sync(2).findings == [.withheld])
    #expect(try await remote[2].status().remotes.first?.found?.findings == [.withheld])
    // The second member finds that what it has taken there is not there any more.
    try await remote.sync(1)
    #expect(try await remote.sync(2).findings.isEmpty)
    #expect(try await remote.ids(2) == ["a"])
  }

  @Test("16: a list that does not yet show what was published is waited for once")
  func stale() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    let mailbox = try await remote.mailbox(of: 0)
    let aside = remote.group.folder.file("aside")
    try FileManager.default.moveItem(atPath: mailbox, toPath: aside)
    let late = try await remote.sync(0)
    #expect(late.findings.isEmpty && late.published == nil)
    try FileManager.default.moveItem(atPath: aside, toPath: mailbox)
    #expect(try await remote.sync(0).findings.isEmpty)
    try FileManager.default.removeItem(atPath: mailbox)
    #expect(try await remote.sync(0).findings == [.emptied])
    // Published anew just now, and gone when the next sync comes much later: who syncs once and carries the stick away
    // would carry nothing.
    remote.group.clock.advance(11 * 60_000)
    try FileManager.default.removeItem(atPath: mailbox)
    let gone = try await remote.sync(0)
    #expect(gone.findings == [.emptied] && gone.published != nil)
  }

  @Test("22: who lacks what was forgotten rejoins by a state at the remote, and loses nothing of its own")
  func rejoining() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    let path = remote.group.folder.file("replica-2")
    let copy = remote.group.folder.file("backup")
    var group = remote.group
    await group.replicas[2].close()
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    group.replicas[2] = try await ThingGroup.open(path, group.clock)
    var later = remote
    later.group = group
    for number in 0..<5 { try await later.insert("\(number)", number % 2) }
    try await later.syncAll(3)
    for index in 0..<2 { try await later[index].maintenance.compact() }
    #expect(try await later.group.logCount(0) == 0)
    // An old backup takes its place, and continues.
    await later[2].close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: copy, toPath: path)
    later.group.replicas[2] = try await ThingGroup.open(path, later.group.clock)
    try await later.insert("of the backup", 2)
    for index in [2, 0, 1] { try await later.sync(index) }
    #expect(try await later.sync(2).refused.map(\.error.code) == [.fenced])
    let before = try await later.ids(2)
    #expect(!before.contains("0"))
    try await later.sync(2, isRejoining: true)
    try await later.syncAll(3)
    for index in 0..<3 { #expect(try await later.ids(index).count == 6, "replica \(index)") }
    #expect(try await later.group.digests().count == 1)
  }

  @Test("22: a member that was set back, wrote, and then found all it lacked, rejoins, too")
  func unaware() async throws {
    var remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    try await remote.setAside(2, as: "backup")
    // Its mailbox keeps this: nobody has it say anything else.
    try await remote.insert("forgotten", 0)
    for index in [0, 1, 2, 0, 1] { try await remote.sync(index) }
    for index in 0..<2 { try await remote[index].maintenance.compact() }
    #expect(try await remote.group.logCount(0) == 0)
    try await remote.restore(2, from: "backup")
    try await remote.insert("unaware", 2)
    try await remote.sync(2)
    #expect(try await remote.ids(2) == ["forgotten", "unaware"])
    for index in 0..<2 {
      let report = try await remote.sync(index)
      #expect(report.taken.flatMap(\.attention.leftOut).map(\.reason) == [.fenced])
      #expect((report.publishedState != nil) == (index == 0))
    }
    #expect(try await remote.sync(2).findings == [.needsState])
    // The file that was left out is not fetched again and again.
    try await remote.sync(0)
    #expect(try await remote.sync(0).fetchedBytes == 0)
    #expect(try await remote.sync(2, isRejoining: true).findings.isEmpty)
    try await remote.syncAll(3)
    for index in 0..<3 { #expect(try await remote.ids(index) == ["forgotten", "unaware"], "replica \(index)") }
    #expect(try await remote.group.digests().count == 1)
    // The state goes once nobody needs it.
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(remote.remote)/s").isEmpty)
    #expect(try await remote.sync(2).findings.isEmpty)
  }

  @Test("22: a copy of a machine that is too far behind to be reached keeps nothing from the machine itself")
  func forsaken() async throws {
    var remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    let copy = remote.group.folder.file("copy")
    await remote[2].close()
    try FileManager.default.copyItem(atPath: remote.group.folder.file("replica-2"), toPath: copy)
    remote.group.replicas[2] = try await ThingGroup.open(remote.group.folder.file("replica-2"), remote.group.clock)
    try await remote.insert("forgotten", 0)
    for index in [0, 1, 2, 0, 1] { try await remote.sync(index) }
    for index in 0..<2 { try await remote[index].maintenance.compact() }
    #expect(try await remote.group.logCount(0) == 0)
    let clone = try await ThingGroup.open(copy, remote.group.clock)
    let file = remote.group.folder.file("clone.gdw")
    _ = try await clone.export(to: .file(file))
    await clone.close()
    for index in 0..<2 { _ = try await remote[index].import(from: .file(file)) }
    try await remote.insert("later", 0)
    // Once another has it, nothing but what the member lacks keeps it in the mailbox.
    for index in [0, 1, 0, 2] { try await remote.sync(index) }
    #expect(try await remote.ids(2) == ["forgotten", "later"])
  }

  @Test("23: a copy of the machine is noticed, and nothing of either is lost")
  func cloned() async throws {
    var remote = try await RemoteGroup(2)
    try await remote.syncAll(3)
    await remote[0].close()
    let path = remote.group.folder.file("replica-0")
    let copy = remote.group.folder.file("copy")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    remote.group.replicas[0] = try await ThingGroup.open(path, remote.group.clock)
    let clone = try await ThingGroup.open(copy, remote.group.clock)
    try await remote.insert("original", 0)
    try await clone.write { try $0.insert(Thing(id: "clone")) }
    try await remote.sync(0)
    _ = try await clone.sync()
    for _ in 0..<3 {
      try await remote.syncAll()
      _ = try await clone.sync()
    }
    for index in 0..<2 { #expect(try await remote.ids(index) == ["clone", "original"]) }
    #expect(try await clone.fetch(Thing.all).count == 2)
    await clone.close()
  }

  @Test(
    "17 and 27: what is no file for this group is refused, counted, and not fetched again",
    arguments: ["garbage", "cut", "foreign", "swapped"])
  func garbage(kind: String) async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 1)
    try await remote.syncAll()
    let mailbox = try await remote.mailbox(of: 1)
    let whole = try Data(contentsOf: URL(fileURLWithPath: mailbox))
    let other = try await RemoteGroup(2)
    try await other.insert("x", 0)
    try await other.sync(0)
    let bytes: Data
    switch kind {
    case "garbage": bytes = Data(repeating: 7, count: 10_000)
    case "cut": bytes = whole.prefix(whole.count - 10)
    case "foreign": bytes = try Data(contentsOf: URL(fileURLWithPath: try await other.mailbox(of: 0)))
    default: bytes = try Data(contentsOf: URL(fileURLWithPath: try await remote.mailbox(of: 0)))
    }
    try bytes.write(to: URL(fileURLWithPath: mailbox))
    let report = try await remote.sync(0)
    #expect(report.error == nil)
    // Another member's file under this name is a file like any, and brings what it has.
    #expect(kind == "swapped" ? report.refused.isEmpty : report.refused.count == 1)
    #expect(try await remote.sync(0).fetchedBytes == 0)
    // It stays named, also by a sync that does not look at it again.
    let name = "m/\(URL(fileURLWithPath: mailbox).lastPathComponent)"
    let named = try await remote[0].remotes.list().flatMap(\.refused)
    #expect(named.map(\.file) == report.refused.map(\.name) && named.allSatisfy { $0.file == name })
    #expect(named.map(\.code) == report.refused.map(\.error.code))
    #expect(try await remote[0].status().remotes.flatMap(\.refused) == named)
    remote.group.clock.advance(3_600_000)
    #expect((try await remote.sync(0).fetchedBytes > 0) == (kind == "garbage" || kind == "cut"))
    // Its owner puts it right, and it is taken.
    try await remote.syncAll(2)
    try await remote.sync(1)
    try await remote.sync(0)
    #expect(try await remote.ids(0) == ["a"])
  }

  @Test("other names are passed over")
  func names() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.syncAll(3)
    let mailbox = try await remote.mailbox(of: 1)
    for suffix in [".sync-conflict-20260131-093000-ABCDEFG", " (Ada's conflicted copy)", ".tmp"] {
      try Data(repeating: 7, count: 100).write(to: URL(fileURLWithPath: mailbox + suffix))
    }
    let report = try await remote.sync(0)
    #expect(report.refused.isEmpty && report.fetchedBytes == 0)
  }

  @Test("25: an empty mount point is not written to, and no remote that was emptied")
  func notMounted() async throws {
    let remote = try await RemoteGroup(1)
    try await remote.insert("a", 0)
    try FileManager.default.removeItem(atPath: remote.remote)
    try FileManager.default.createDirectory(atPath: remote.remote, withIntermediateDirectories: true)
    #expect(try await remote.sync(0).error?.code == .unreachable)
    #expect(try FileManager.default.contentsOfDirectory(atPath: remote.remote).isEmpty)
    try await remote[0].remotes.add("stick", at: remote.remote)
    #expect(try await remote.sync(0).published?.transactions == 1)
    // Whatever else lies there.
    try FileManager.default.removeItem(atPath: "\(remote.remote)/godwit-remote")
    #expect(try await remote.sync(0).error?.code == .unreachable)
  }

  @Test("another group's remote, another version and another file are refused before anything is written")
  func marker() async throws {
    let remote = try await RemoteGroup(1)
    let other = try await ThingGroup(1)
    #expect(await code { try await other.replicas[0].remotes.add("x", at: remote.remote) } == .otherGroup)
    let marker = URL(fileURLWithPath: "\(remote.remote)/godwit-remote")
    let text = try String(contentsOf: marker, encoding: .utf8)
    #expect(!text.contains("\(remote[0].group)"))
    try text.replacingOccurrences(of: "remote 1", with: "remote 2").write(to: marker, atomically: true, encoding: .utf8)
    #expect(try await remote.sync(0).error?.code == .unsupportedVersion)
    try "something else\n".write(to: marker, atomically: true, encoding: .utf8)
    #expect(try await remote.sync(0).error?.code == .corruptFile)
    #expect(!FileManager.default.fileExists(atPath: "\(remote.remote)/m"))
  }

  @Test("12 and 14: what was meant to be published is found there by its content, or published anew")
  func resent() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    let mailbox = try await remote.mailbox(of: 0)
    // As a kill between the PUT and the note of it leaves it, and one before the PUT.
    for isThere in [true, false] {
      let name = "m/\(URL(fileURLWithPath: mailbox).lastPathComponent)"
      try await remote[0].noting { notes in
        var note = try #require(try notes.files(of: "stick")[name])
        note.tag = nil
        try notes.note(note, of: "stick")
      }
      if !isThere { try FileManager.default.removeItem(atPath: mailbox) }
      let report = try await remote.sync(0)
      #expect(report.error == nil && report.findings.isEmpty && report.taken.isEmpty)
      #expect((report.published == nil) == isThere)
    }
    try await remote.sync(1)
    #expect(try await remote.ids(1) == ["a"])
  }

  @Test("7 of another kind: tags of another form in answers and in lists publish nothing for ever")
  func tags() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    let name = "m/\(URL(fileURLWithPath: try await remote.mailbox(of: 0)).lastPathComponent)"
    try await remote[0].noting { notes in
      var note = try #require(try notes.files(of: "stick")[name])
      note.tag = "W/another-form"
      try notes.note(note, of: "stick")
    }
    for _ in 0..<3 {
      let report = try await remote.sync(0)
      #expect(report.published == nil && report.findings.isEmpty && report.taken.isEmpty)
    }
  }

  @Test("what a snapshot of this machine has lost since is taken from its own mailbox, though it has just published")
  func snapshot() async throws {
    var remote = try await RemoteGroup(2)
    try await remote.syncAll(2)
    try await remote.insert("before", 0)
    try await remote.sync(0)
    try await remote.losing(0) { remote in
      try await remote.insert("after", 0)
      try await remote.sync(0)
    }
    #expect(try await remote.sync(0).findings == [.cloned])
    #expect(try await remote[0].status().remotes.first?.found?.findings == [.cloned])
    try await remote.sync(0)
    #expect(try await remote.ids(0) == ["after", "before"])
    try await remote.syncAll(2)
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("34: a full disk here ends the sync, and the next one continues", .enabled(if: SmallDisk.canMount))
  func full() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.syncAll(2)
    let disk = try SmallDisk(megabytes: 8)
    await remote[0].close()
    let path = "\(disk.folder.path)/replica"
    try FileManager.default.copyItem(atPath: remote.group.folder.file("replica-0"), toPath: path)
    let replica = try await ThingGroup.open(path, remote.group.clock)
    try await remote.insert("a", 1)
    try await remote.sync(1)
    try disk.fill()
    #expect(await code { try await replica.sync() } == .diskFull)
    unlink(disk.filler)
    _ = try await replica.sync()
    #expect(try await replica.fetch(Thing.all).map(\.id) == ["a"])
    await replica.close()
  }

  @Test("what was found and what fails is in status, with the time")
  func status() async throws {
    let remote = try await RemoteGroup(1)
    try await remote.insert("a", 0)
    for _ in 0..<2 { try await remote.sync(0) }
    #expect(try await remote[0].status().remotes.first?.found == nil)
    try FileManager.default.removeItem(atPath: try await remote.mailbox(of: 0))
    try await remote.sync(0)
    #expect(try await remote[0].status().remotes.first?.found?.findings == [.emptied])
    try FileManager.default.removeItem(atPath: remote.remote)
    try await remote.sync(0)
    let found = try #require(try await remote[0].status().remotes.first)
    #expect(found.problem?.code == .unreachable && found.found?.findings == [.emptied])
  }

  @Test("24: who was removed gets nothing more, and nobody takes what it publishes")
  func removedMember() async throws {
    var remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    let away = remote[2].identity.replica
    try await remote.insert("own work", 2)
    try await remote[0].members.remove("\(away)")
    try await remote.insert("a", 0)
    for _ in 0..<3 { for index in 0..<2 { try await remote.sync(index) } }
    for index in 0..<2 { try await remote[index].maintenance.compact() }
    let report = try await remote.sync(2)
    #expect(report.error == nil && report.taken.isEmpty)
    #expect(!report.refused.isEmpty && report.refused.allSatisfy { $0.error.code == .notARecipient })
    #expect(try await remote.sync(0).taken.isEmpty)
    #expect(try await remote.ids(0) == ["a"])
    await remote[2].close()
    remote.group.replicas.removeLast()
  }
}
