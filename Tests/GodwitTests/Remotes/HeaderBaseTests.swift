import Foundation
import GodwitBase
import GodwitCrypto
import GodwitSyncFile
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Specs/remotes.md, "Large groups": what files have in common lies there once.
@Suite("Bases of headers at a remote")
struct HeaderBaseTests {
  /// All groups are large.
  private static var tuning: Replica.Tuning {
    var tuning = Replica.Tuning()
    tuning.largeGroup = 2
    return tuning
  }

  private func bases(_ remote: RemoteGroup) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(remote.remote)/b").sorted()
  }

  @Test("are made once, and files of a change build on them")
  func converges() async throws {
    let remote = try await RemoteGroup(4, Self.tuning)
    for index in 0..<4 { try await remote.insert("\(index)", index) }
    try await remote.syncAll(3)
    for index in 0..<4 { #expect(try await remote.ids(index) == ["0", "1", "2", "3"]) }
    #expect(try await remote.group.digests().count == 1)
    // A sync without news has nothing to say.
    for index in 0..<4 {
      let report = try await remote.sync(index)
      #expect(report.published == nil && report.taken.isEmpty && report.fetchedBytes == 0 && report.error == nil)
    }
    let before = try bases(remote)
    #expect(!before.isEmpty)
    try await remote.insert("later", 0)
    let report = try await remote.sync(0)
    #expect(report.published?.transactions == 1 && report.publishedBaseBytes == 0)
    #expect(try bases(remote) == before)
    try await remote.syncAll(2)
    for index in 0..<4 { #expect(try await remote.ids(index).count == 5) }
  }

  @Test("are fetched by who lacks them: a restored backup, a newcomer")
  func fetched() async throws {
    var remote = try await RemoteGroup(2, Self.tuning)
    let path = remote.group.folder.file("replica-1")
    let copy = remote.group.folder.file("backup")
    await remote[1].close()
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    remote.group.replicas[1] = try await ThingGroup.open(path, remote.group.clock, Self.tuning)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    await remote[1].close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: copy, toPath: path)
    remote.group.replicas[1] = try await ThingGroup.open(path, remote.group.clock, Self.tuning)
    #expect(try await remote.sync(1).refused.isEmpty)
    #expect(try await remote.ids(1) == ["a"])
    try await remote.group.join()
    try await remote[2].remotes.add("stick", at: remote.remote)
    try await remote.syncAll(3)
    for index in 0..<3 { #expect(try await remote.ids(index) == ["a"]) }
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("that are gone are noticed within a day, and what builds on them is published again", arguments: [false, true])
  func gone(isAll: Bool) async throws {
    let remote = try await RemoteGroup(3, Self.tuning)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    for file in try FileManager.default.contentsOfDirectory(atPath: "\(remote.remote)/b") {
      unlink("\(remote.remote)/b/\(file)")
    }
    if isAll {
      for path in try remote.mailboxes() { unlink(path) }
    } else {
      remote.group.clock.advance(2 * 86_400_000)
    }
    try await remote.syncAll()
    #expect(!(try bases(remote).isEmpty))
    try await remote.insert("b", 1)
    try await remote.syncAll(3)
    for index in 0..<3 { #expect(try await remote.ids(index) == ["a", "b"]) }
    for index in 0..<3 { #expect(try await remote.sync(index).published == nil) }
  }

  @Test("that are not there leave the file refused, and the next sync that finds them takes it")
  func late() async throws {
    let remote = try await RemoteGroup(2, Self.tuning)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    let away = remote.group.folder.file("away")
    try FileManager.default.moveItem(atPath: "\(remote.remote)/b", toPath: away)
    #expect(try await remote.sync(1).refused.map(\.error.code) == [.unknownBase])
    #expect(try await remote.ids(1).isEmpty)
    try? FileManager.default.removeItem(atPath: "\(remote.remote)/b")
    try FileManager.default.moveItem(atPath: away, toPath: "\(remote.remote)/b")
    // Not asked for time and again.
    #expect(try await remote.sync(1).fetchedBytes == 0)
    remote.group.clock.advance(3_600_000)
    #expect(try await remote.sync(1).refused.isEmpty)
    #expect(try await remote.ids(1) == ["a"])
  }

  @Test("go when nobody builds on them any more")
  func tidied() async throws {
    let remote = try await RemoteGroup(2, Self.tuning)
    try await remote.insert("a", 0)
    try await remote.syncAll(3)
    let before = try bases(remote)
    try await remote[0].members.rename("\(remote[1].identity.replica)", to: "other")
    try await remote.syncAll(3)
    #expect(Set(try bases(remote)).isSuperset(of: before))
    remote.group.clock.advance(8 * 86_400_000)
    try await remote.insert("b", 0)
    try await remote.insert("c", 1)
    try await remote.syncAll(3)
    #expect(Set(try bases(remote)).isDisjoint(with: before))
    for index in 0..<2 { #expect(try await remote.ids(index) == ["a", "b", "c"]) }
  }

  @Test("are not made in small groups")
  func small() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.insert("a", 0)
    try await remote.syncAll(2)
    #expect(!FileManager.default.fileExists(atPath: "\(remote.remote)/b"))
  }

  /// The first digits of the hashes of the bases that a member has, and of what each builds on.
  private func known(_ remote: RemoteGroup, _ index: Int) async throws -> [String: String?] {
    try await remote[index].withWriter { writer in
      try HeaderBases(writer.connection).all().reduce(into: [:]) { $0[$1.hash.key] = .some($1.base?.key) }
    }
  }

  /// A group in which bases build on others, and of whose second member an earlier state is at hand.
  private func layered() async throws -> RemoteGroup {
    var remote = try await RemoteGroup(10, Self.tuning)
    for index in 0..<10 { try await remote.insert("\(index)", index) }
    try await remote.syncAll(2)
    try await remote.setAside(1, as: "earlier")
    for round in ["a", "b"] {
      for index in 0..<10 where index != 1 { try await remote.insert("\(round)\(index)", index) }
      try await remote.syncAll(2)
    }
    return remote
  }

  @Test("build on a whole one themselves, and who lacks both fetches both")
  func layers() async throws {
    var remote = try await layered()
    let bases = try await known(remote, 0)
    let short = bases.compactMapValues { $0 }
    #expect(!short.isEmpty && short.values.allSatisfy { bases[$0] == .some(nil) })
    let sizes = try self.bases(remote).reduce(into: [String: Int]()) { sizes, name in
      let path = "\(remote.remote)/b/\(name)"
      sizes[String(name.suffix(16))] = try Data(contentsOf: URL(fileURLWithPath: path)).count
    }
    for (base, root) in short {
      let (size, whole) = (try #require(sizes[base]), try #require(sizes[root]))
      #expect(size < whole * 2 / 3)
    }
    try await remote.restore(1, from: "earlier")
    #expect(try await remote.sync(1).refused.isEmpty)
    #expect(try await known(remote, 1).compactMapValues { $0 }.isEmpty == false)
    try await remote.syncAll(2)
    #expect(try await remote.ids(1).count == 28)
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("whose own base is gone count as gone")
  func rootGone() async throws {
    var remote = try await layered()
    let wholes = Set(try await known(remote, 0).filter { $0.value == nil }.keys)
    for name in try bases(remote) where wholes.contains(String(name.suffix(16))) {
      unlink("\(remote.remote)/b/\(name)")
    }
    remote.group.clock.advance(2 * 86_400_000)
    try await remote.syncAll()
    let there = try bases(remote)
    #expect(there.contains { !wholes.contains(String($0.suffix(16))) })
    try await remote.insert("later", 0)
    try await remote.group.join()
    let newcomer = remote.group.replicas.count - 1
    try await remote[newcomer].remotes.add("stick", at: remote.remote)
    try await remote.syncAll(3)
    for index in [0, 5, newcomer] { #expect(try await remote.ids(index).count == 29) }
  }

  @Test("that build on one that builds on another are kept whole, and stay so")
  func threeLayers() async throws {
    let remote = try await layered()
    let (group, now) = (remote[0].group, remote[0].wallClock.milliseconds())
    try await remote[0].withWriter { writer in
      let bases = HeaderBases(writer.connection)
      let short = try #require(try bases.all().first { $0.base != nil })
      let header = try #require(try bases.find(short.hash, in: group))
      var bytes = ByteWriter()
      header.write(on: HeaderBase(hash: short.hash, header: header), to: &bytes)
      #expect(try bases.keep(bytes.bytes, on: short.hash, by: header.sender, in: group, at: now) == short.hash)
      let kept = try #require(try bases.all().first { $0.hash == short.hash })
      #expect(kept.base == nil && kept.byteCount > short.byteCount)
      // On a whole one it is what it was, and does not take its place.
      let root = try #require(short.base)
      let whole = try #require(try bases.find(root, in: group))
      var again = ByteWriter()
      header.write(on: HeaderBase(hash: root, header: whole), to: &again)
      #expect(try bases.keep(again.bytes, on: root, by: header.sender, in: group, at: now) == short.hash)
      let still = try #require(try bases.all().first { $0.hash == short.hash })
      #expect(still.base == nil && still.byteCount == kept.byteCount)
      #expect(try bases.keep(again.bytes, on: ContentHash.zero, by: header.sender, in: group, at: now) == nil)
    }
  }

  @Test("serve logs, too")
  func logs() async throws {
    let remote = try await RemoteGroup(3, Self.tuning)
    for round in 0..<4 {
      try await remote.insert("\(round)", round % 3)
      for index in 0..<3 { _ = try await remote[index].sync(isCollecting: index == 0) }
      remote.group.clock.advance(60_000)
    }
    for index in [1, 2, 0, 1, 2] { _ = try await remote[index].sync(isCollecting: index == 0) }
    for index in 0..<3 { #expect(try await remote.ids(index) == ["0", "1", "2", "3"]) }
    #expect(try await remote.group.digests().count == 1)
  }
}
