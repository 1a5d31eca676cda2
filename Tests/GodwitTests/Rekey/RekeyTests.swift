import Foundation
import GodwitKeys
import GodwitStorage
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Rekeying", .timeLimit(.minutes(2)))
struct RekeyTests {
  private func files(_ replica: Replica) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: replica.path))
  }

  private func fill(_ replica: Replica, _ count: Int = 300) async throws {
    try await replica.write { tx in
      for number in 0..<count { try tx.insert(Note(title: "note \(number)", body: String(repeating: "x", count: 200))) }
    }
  }

  @Test("keeps every row, the log and the incarnation, and the old key opens nothing any more")
  func rekeys() async throws {
    let group = try await TestGroup(1)
    let replica = group[0]
    try await fill(replica)
    let digest = try await replica.maintenance.digest()
    let incarnation = try await replica.status().incarnation
    let old = try await replica.databaseKey()
    let oldSalt = try DatabaseFile.salt(old.path)

    try await replica.maintenance.rekey()

    #expect(try await replica.maintenance.digest() == digest)
    #expect(throws: GodwitError.self) { try Connection(path: old.path, key: old.key, mode: .reader) }
    #expect(try DatabaseFile.salt(old.path) != oldSalt)
    try await replica.write { try $0.insert(Note(title: "after")) }
    #expect(try await replica.status().incarnation == incarnation)
    await replica.close()
    let again = try await TestGroup.open(replica.path)
    #expect(try await again.status().incarnation == incarnation)
    #expect(try await again.count(Note.all) == 301)
    #expect(try await again.history.log().map(\.sequence) == [2, 1])
    #expect(try await again.maintenance.verify().isSound)
    await again.close()
  }

  @Test("leaves no file beside the new database, and only private ones")
  func leavesNothing() async throws {
    let group = try await TestGroup(1)
    try await fill(group[0])
    let before = try files(group[0])
    try await group[0].maintenance.rekey()
    try await group[0].maintenance.rekey()
    #expect(try files(group[0]).subtracting(before) == ["rekey.lock"])
    #expect(try await group[0].count(Note.all) == 300)
    await group[0].close()
    let left = try files(group[0]).filter { $0.hasPrefix("database") }
    #expect(Set(left) == ["database", "database-gate"])
    for file in try files(group[0]) {
      let mode = try FileManager.default.attributesOfItem(atPath: "\(group[0].path)/\(file)")[.posixPermissions]
      #expect(mode as? Int == 0o600, "\(file)")
    }
  }

  @Test("reports how far it is, never backwards, and ends with all")
  func progress() async throws {
    let group = try await TestGroup(1)
    try await fill(group[0], 4_000)
    let heard = Heard()
    try await group[0].maintenance.rekey(progress: heard.hear)
    let values = heard.values.withLock { $0 }
    #expect(values.count > 2 && values.last == 1)
    #expect(values == values.sorted())
    await group[0].close()
  }

  @Test("that is cancelled changes nothing and leaves nothing")
  func cancelled() async throws {
    let group = try await TestGroup(1)
    let replica = group[0]
    try await fill(replica, 4_000)
    let digest = try await replica.maintenance.digest()
    let key = try await replica.databaseKey()
    let task = Task {
      try await replica.maintenance.rekey { _ in withUnsafeCurrentTask { $0?.cancel() } }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await replica.maintenance.digest() == digest)
    #expect(try !files(replica).contains("database.new"))
    #expect(throws: Never.self) { try Connection(path: key.path, key: key.key, mode: .reader) }
    #expect(try await replica.withKeyring { contents, _ in try contents.pendingDatabase == nil })
    try await replica.maintenance.rekey()
    #expect(try await replica.maintenance.digest() == digest)
    await replica.close()
  }

  @Test("is refused on a replica that only reads, and while another one is rekeying")
  func refused() async throws {
    let group = try await TestGroup(1)
    let reader = try await Replica.open(at: group[0].path, models: Note.self, configuration: .init(isReadOnly: true))
    #expect(await code { try await reader.maintenance.rekey() } == .readOnly)
    await reader.close()
    let lock = try DatabaseSwap(group[0].folder).lock()
    #expect(await code { try await group[0].maintenance.rekey() } == .busy)
    withExtendedLifetime(lock) {}
    await group[0].close()
  }

  @Test("follows no link that somebody has put in the way")
  func link() async throws {
    let group = try await TestGroup(1)
    try await fill(group[0], 10)
    let victim = group.folder.file("victim")
    try Data("kept".utf8).write(to: URL(fileURLWithPath: victim))
    for name in ["database.new", "database.old"] {
      try FileManager.default.createSymbolicLink(atPath: "\(group[0].path)/\(name)", withDestinationPath: victim)
    }
    try await group[0].maintenance.rekey()
    #expect(try await group[0].count(Note.all) == 10)
    #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("kept".utf8))
    await group[0].close()
    for name in ["database-gate", "rekey.lock"] {
      unlink("\(group[0].path)/\(name)")
      try FileManager.default.createSymbolicLink(atPath: "\(group[0].path)/\(name)", withDestinationPath: victim)
      let found = await code {
        let replica = try await TestGroup.open(group[0].path)
        defer { Task { await replica.close() } }
        try await replica.maintenance.rekey()
      }
      #expect(found == .unsafeFile, "\(name)")
      unlink("\(group[0].path)/\(name)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("kept".utf8))
  }

  @Test("leaves no cache under the former key, also of others and of nobody")
  func othersCaches() async throws {
    let group = try await TestGroup(1)
    let other = try await TestGroup.open(group[0].path)
    let cache = try other.cache("theirs")
    try await cache.set("k", value: "v")
    let closed = try await TestGroup.open(group[0].path)
    try await closed.cache("nobodys").set("k", value: "v")
    await closed.close()
    let folder = "\(group[0].path)/cache"
    func databases() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".cache") }
    }
    #expect(try databases().sorted() == ["nobodys.cache", "theirs.cache"])
    try await group[0].maintenance.rekey()
    #expect(try databases().isEmpty)
    try await cache.set("k", value: "w")
    #expect(try await group[0].cache("theirs").value(for: "k", as: String.self) == "w")
    await other.close()
  }

  @Test("begins caches anew, those that are open too")
  func caches() async throws {
    let group = try await TestGroup(1)
    let cache = try group[0].cache("c")
    try await cache.set("k", value: "v")
    try await group[0].maintenance.rekey()
    #expect(try await cache.data(for: "k") == nil)
    try await cache.set("k", value: "w")
    #expect(try await cache.data(for: "k") != nil)
    await group[0].close()
    let again = try await TestGroup.open(group[0].path)
    #expect(try await again.cache("c").data(for: "k") != nil)
    await again.close()
  }

  @Test("leaves syncing as it was: nothing is sent twice or taken for a fork")
  func syncs() async throws {
    let group = try await TestGroup(2)
    try await fill(group[0], 10)
    try await group.settle()
    try await group[0].maintenance.rekey()
    try await group[0].write { try $0.insert(Note(title: "after")) }
    let report = try await group.send(from: 0, to: 1)
    #expect(report.applied.transactions == 1 && report.attention.forks.isEmpty)
    #expect(try await group.digests().count == 1)
    #expect(try await group[1].members.incarnations().count == 2)
    for replica in group.replicas { await replica.close() }
  }
}
