import Foundation
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitRemotes

/// Replicas that sync with one folder.
struct RemoteGroup {
  var group: ThingGroup
  var remote: String { group.folder.file("remote") }

  init(_ count: Int, _ tuning: Replica.Tuning = Replica.Tuning(), isPostQuantum: Bool = false) async throws {
    group = try await ThingGroup(count, tuning, isPostQuantum: isPostQuantum)
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    for replica in group.replicas { try await replica.remotes.add("stick", at: remote) }
  }

  subscript(index: Int) -> Replica { group.replicas[index] }

  @discardableResult
  func sync(_ index: Int, isRejoining: Bool = false) async throws -> Replica.SyncReport.Remote {
    try #require(try await group.replicas[index].sync(isRejoining: isRejoining).remotes.first)
  }

  /// All, in turn, so often.
  func syncAll(_ count: Int = 1) async throws {
    for _ in 0..<count { for index in group.replicas.indices { try await sync(index) } }
  }

  func insert(_ id: String, _ index: Int) async throws { try await self[index].write { try $0.insert(Thing(id: id)) } }

  func ids(_ index: Int) async throws -> [String] { try await self[index].fetch(Thing.all).map(\.id).sorted() }

  /// The mailboxes' paths.
  func mailboxes() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(remote)/m").sorted().map { "\(remote)/m/\($0)" }
  }

  func mailbox(of index: Int) async throws -> String {
    let prefix = "\(self[index].identity.replica)-"
    return try #require(try mailboxes().last { $0.contains(prefix) })
  }

  /// Closes a replica and gives a copy of its folder, or puts one in its place.
  mutating func setAside(_ index: Int, as name: String) async throws {
    await self[index].close()
    try FileManager.default.copyItem(
      atPath: group.folder.file("replica-\(index)"), toPath: group.folder.file(name))
    group.replicas[index] = try await ThingGroup.open(
      group.folder.file("replica-\(index)"), group.clock, group.tuning)
  }

  /// Runs this, and puts the replica back as it was: as a snapshot of a whole machine does, which leaves each file
  /// where it lay.
  mutating func losing(_ index: Int, _ body: (RemoteGroup) async throws -> Void) async throws {
    let path = group.folder.file("replica-\(index)")
    try await setAside(index, as: "snapshot")
    guard case .anchor(let anchor) = try AnchorFile(path: "\(path)/keyring.anchor").read() else {
      throw GodwitError(.fileAccess, "no anchor")
    }
    try await body(self)
    await self[index].close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: group.folder.file("snapshot"), toPath: path)
    try AnchorFile(path: "\(path)/keyring.anchor").write(anchor, isDurable: true)
    group.replicas[index] = try await ThingGroup.open(path, group.clock, group.tuning)
  }

  mutating func restore(_ index: Int, from name: String) async throws {
    let path = group.folder.file("replica-\(index)")
    await self[index].close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: group.folder.file(name), toPath: path)
    group.replicas[index] = try await ThingGroup.open(path, group.clock, group.tuning)
  }
}

@Suite("Syncing with a folder")
struct SyncTests {
  @Test("brings what one wrote to all, and then says nothing more")
  func converges() async throws {
    let remote = try await RemoteGroup(3)
    for index in 0..<3 { try await remote.insert("\(index)", index) }
    try await remote.syncAll(2)
    for index in 0..<3 { #expect(try await remote.ids(index) == ["0", "1", "2"]) }
    #expect(try await remote.group.digests().count == 1)
    try await remote.syncAll(2)
    for index in 0..<3 {
      let report = try await remote.sync(index)
      #expect(report.published == nil && report.taken.isEmpty && report.fetchedBytes == 0 && report.error == nil)
    }
    #expect(try await remote[0].remotes.list().first?.syncedAt != nil)
  }

  @Test("takes one PUT and one GET of each other for a change")
  func cost() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    try await remote.insert("a", 0)
    #expect(try await remote.sync(0).published?.transactions == 1)
    for index in 1...2 {
      let report = try await remote.sync(index)
      #expect(report.taken.reduce(0) { $0 + $1.applied.transactions } == 1)
      // Its acknowledgement, without the transactions that their author publishes.
      #expect(report.published?.transactions == 0)
    }
    try await remote.syncAll(2)
    for index in 0..<3 { #expect(try await remote.sync(index).published == nil) }
  }

  @Test("passes on what its author publishes nowhere here")
  func relayed() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.syncAll(2)
    try await remote[2].remotes.remove("stick")
    try FileManager.default.removeItem(atPath: try await remote.mailbox(of: 2))
    try await remote.insert("from two", 2)
    try await remote.group.send(2, 0)
    #expect(try await remote.sync(0).published?.transactions == 1)
    try await remote.sync(1)
    #expect(try await remote.ids(1) == ["from two"])
  }

  @Test("is not tried where there is no remote, and names those that there are")
  func names() async throws {
    let group = try await ThingGroup(1)
    #expect(await code { try await group.replicas[0].sync() } == .invalidArgument)
    let remote = try await RemoteGroup(1)
    #expect(await code { try await remote[0].sync(with: ["bucket"]) } == .invalidArgument)
    #expect(await code { try await remote[0].remotes.add("stick", at: "/elsewhere") } == .invalidArgument)
    let link = remote.group.folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: remote.remote)
    for place in [remote.remote, "\(remote.remote)/", "\(remote.remote)/../remote", link] {
      let error = await error { try await remote[0].remotes.add("other", at: place) }
      #expect(error?.code == .invalidArgument && error?.message.contains("at this place already") == true, "\(place)")
      // The one that is there stays as it is.
      #expect(try await remote[0].remotes.add("stick", at: place).url == remote.remote)
    }
    for place in ["", "/remotes", "/new"].map({ remote[0].path + $0 }) {
      #expect(await code { try await remote[0].remotes.add("own", at: place) } == .invalidArgument)
    }
    #expect(await code { try await remote[0].remotes.add("-x", at: remote.remote) } == .invalidArgument)
    #expect(await code { try await remote[0].remotes.add("x", at: "s3://key:secret@bucket") } == .invalidArgument)
    #expect(await code { try await remote[0].remotes.add("x", at: "/nonexistent/place") } == .unreachable)
    #expect(try await remote[0].remotes.list().map(\.name) == ["stick"])
    #expect(try await remote[0].remotes.test("stick").honoursConditions == nil)
    try await remote[0].remotes.remove("stick")
    #expect(try await remote[0].remotes.list().isEmpty)
  }

  @Test("makes a folder that is added where the one above it is there, and no sync makes one")
  func made() async throws {
    let remote = try await RemoteGroup(1)
    let above = remote.group.folder.file("media")
    let place = "\(above)/notes"
    let error = await error { try await remote[0].remotes.add("media", at: place) }
    #expect(error?.code == .unreachable && error?.hint?.contains("mkdir -p ") == true)
    #expect(!FileManager.default.fileExists(atPath: above))
    try FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: false)
    try await remote[0].remotes.add("media", at: place)
    try await remote[0].remotes.remove("stick")
    #expect(try await remote[0].sync().remotes.map { $0.error?.code } == [nil])
    try FileManager.default.removeItem(atPath: place)
    #expect(try await remote[0].sync().remotes.map { $0.error?.code } == [.unreachable])
    #expect(!FileManager.default.fileExists(atPath: place))
    try await remote[0].remotes.add("media", at: place)
    #expect(try await remote[0].sync().remotes.map { $0.error?.code } == [nil])
  }

  @Test("of one remote continues where another cannot be reached, which status has with the time")
  func unreachable() async throws {
    let remote = try await RemoteGroup(2)
    let other = remote.group.folder.file("other")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    try await remote[0].remotes.add("gone", at: other)
    try FileManager.default.removeItem(atPath: other)
    try await remote.insert("a", 0)
    let reports = try await remote[0].sync().remotes
    #expect(reports.map(\.name) == ["gone", "stick"])
    #expect(reports.map { $0.error?.code } == [.unreachable, nil])
    let first = try #require(try await remote[0].remotes.list().first?.problem)
    remote.group.clock.advance(60_000)
    _ = try await remote[0].sync()
    #expect(try await remote[0].remotes.list().first?.problem == first)
    try await remote.sync(1)
    #expect(try await remote.ids(1) == ["a"])
  }

  @Test("at once by two processes waits, and then is busy")
  func twice() async throws {
    let remote = try await RemoteGroup(1)
    let lock = try await remote[0].remotesFolder().lock()
    #expect(await code { try await remote[0].sync() } == .busy)
    withExtendedLifetime(lock) {}
  }

  @Test("reaches a newcomer, whatever is in the mailboxes")
  func newcomer() async throws {
    var remote = try await RemoteGroup(2)
    for number in 0..<5 { try await remote.insert("\(number)", number % 2) }
    try await remote.syncAll(3)
    try await remote.group.join()
    try await remote[2].remotes.add("stick", at: remote.remote)
    try await remote.syncAll(3)
    #expect(try await remote.ids(2).count == 5)
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("brings a newcomer what has been forgotten by a state, which goes once nobody needs it")
  func state() async throws {
    var remote = try await RemoteGroup(2)
    for number in 0..<5 { try await remote.insert("\(number)", number % 2) }
    try await remote.syncAll(3)
    for index in 0..<2 { try await remote[index].maintenance.compact() }
    #expect(try await remote.group.logCount(0) == 0)
    try await remote.group.join()
    try await remote[2].remotes.add("stick", at: remote.remote)
    let states = "\(remote.remote)/s"
    #expect(try await remote.sync(0).publishedState != nil)
    // The other finds that one, and need not publish another.
    try await remote.sync(1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: states).count == 1)
    let report = try await remote.sync(2)
    #expect(report.taken.contains { $0.applied.state != nil })
    #expect(try await remote.ids(2).count == 5)
    try await remote.syncAll(3)
    #expect(try await remote.group.digests().count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: states).isEmpty)
  }

  @Test("publishes a state of its own when what others have put there has served nobody for a day")
  func patience() async throws {
    var remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    for index in 0..<2 { try await remote[index].maintenance.compact() }
    try await remote.group.join()
    // As the first names its own, with the other's origin.
    #expect(try await remote.sync(0).publishedState != nil)
    let states = "\(remote.remote)/s"
    let own = try #require(try FileManager.default.contentsOfDirectory(atPath: states).first)
    try FileManager.default.removeItem(atPath: "\(states)/\(own)")
    let origin = URL(fileURLWithPath: try await remote.mailbox(of: 1)).lastPathComponent
    let name = origin + own.suffix(17)
    try Data(repeating: 7, count: 1_000).write(to: URL(fileURLWithPath: "\(remote.remote)/s/\(name)"))
    #expect(try await remote.sync(0).publishedState == nil)
    remote.group.clock.advance(86_400_000)
    #expect(try await remote.sync(0).publishedState != nil)
    try await remote[2].remotes.add("stick", at: remote.remote)
    try await remote.sync(2)
    #expect(try await remote.ids(2) == ["a"])
  }

  @Test("brings a newcomer what a member wrote that is away since, whose mailbox is not sealed to it")
  func away() async throws {
    var remote = try await RemoteGroup(2)
    try await remote.insert("of one who is away", 1)
    try await remote.sync(1)
    try await remote.sync(0)
    try await remote.group.join()
    try await remote[2].remotes.add("stick", at: remote.remote)
    for _ in 0..<2 { for index in [0, 2] { try await remote.sync(index) } }
    #expect(try await remote.ids(2) == ["of one who is away"])
  }

  @Test("brings a second newcomer a state, though one for the first is still there")
  func second() async throws {
    var remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    for index in 0..<2 { try await remote[index].maintenance.compact() }
    for newcomer in 2...3 {
      try await remote.group.join()
      try await remote[newcomer].remotes.add("stick", at: remote.remote)
      // The second founder publishes the first state, and is away since.
      if newcomer == 2 { try await remote.group.send(0, 1) }
      try await remote.sync(newcomer == 2 ? 1 : 0)
      try await remote.sync(newcomer)
      #expect(try await remote.ids(newcomer) == ["a"], "newcomer \(newcomer)")
    }
  }

  @Test("passes over the mailbox of a member that was removed, until it is one again")
  func removed() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    try await remote[0].members.remove("\(remote[2].identity.replica)")
    try await remote.insert("after", 2)
    try await remote.sync(2)
    let report = try await remote.sync(0)
    #expect(report.refused.isEmpty && report.fetchedBytes == 0)
    #expect(try await remote.ids(0).isEmpty)
  }

  @Test(
    "25: a remote that can only be read, or is full, is refused, and is used again later",
    .enabled(if: SmallDisk.canMount))
  func writeProtected() async throws {
    let remote = try await RemoteGroup(2)
    let disk = try SmallDisk(megabytes: 4)
    let root = "\(disk.folder.path)/remote"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    for index in 0..<2 {
      try await remote[index].remotes.remove("stick")
      try await remote[index].remotes.add("stick", at: root)
    }
    try await remote.insert("a", 0)
    try disk.fill()
    let full = try await remote.sync(0).error
    #expect(full?.code == .refused && full?.message.contains("is full") == true)
    unlink(disk.filler)
    try disk.remount(isReadOnly: true)
    let protected = try await remote.sync(0).error
    #expect(protected?.code == .refused && protected?.message.contains("can only be read") == true)
    #expect(throws: GodwitError.self) {
      do { try FolderCarrier(root).remove("godwit-remote", meter: TransferMeter()) } catch let error as GodwitError {
        #expect(error.code == .refused)
        throw error
      }
    }
    try disk.remount(isReadOnly: false)
    try await remote.syncAll(2)
    #expect(try await remote.ids(1) == ["a"])
  }
}
