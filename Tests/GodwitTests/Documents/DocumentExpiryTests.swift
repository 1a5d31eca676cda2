import Foundation
import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Expiry of documents")
struct DocumentExpiryTests {
  private let group: TestGroup

  init() async throws { group = try await TestGroup(2) }

  private func instant(_ milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(1_700_000_000_000 + milliseconds) / 1_000)
  }

  @Test("an expired document is in no result from its instant on, and is swept in small steps")
  func expired() async throws {
    let sessions = group[0].documents("sessions")
    try await group[0].write { tx in
      for number in 0..<600 { try sessions.in(tx).set("s\(number)", ["n": 1], expires: instant(100)) }
      try sessions.in(tx).set("kept", ["n": 2])
    }
    group.clock.advance(99)
    #expect(try await sessions.count() == 601)
    group.clock.advance(1)
    #expect(try await sessions.keys() == ["kept"])
    #expect(try await sessions.get("s1") == nil)
    #expect(try await !sessions.has("s1"))
    #expect(try await !sessions.delete("s1"))
    #expect(try await group[0].rows("SELECT count(*) AS n FROM documents_sessions").first?["n"] == 600)
    let before = try await group[0].history.log(limit: 1_000).count
    #expect(try await group[0].maintenance.sweep() == 599)
    // 256, 256 and 87, each a transaction of its own.
    #expect(try await group[0].history.log(limit: 1_000).count == before + 3)
    #expect(try await group[0].rows("SELECT count(*) AS n FROM documents_sessions").first?["n"] == 1)
  }

  @Test("what is written in the place of an expired document is judged as a new one, and has nothing of it")
  func judgedAsNew() async throws {
    let plain = group[0].documents("sessions")
    let counting = group[0].documents("sessions", members: [.counter("x"), .set("s")])
    let old: [String: JSON] = ["old": 1, "x": "hello"]
    try await group[0].write { tx in
      for key in ["merged", "whole", "refused"] { try plain.in(tx).set(key, old, expires: instant(100)) }
      try counting.in(tx).add(5, to: "x", of: "hidden")
      // As if it had been written by a replica that does not declare x.
      let expiry: Int64 = 1_700_000_000_100
      try tx.execute("UPDATE documents_sessions SET x = 'hello', _expires = \(expiry) WHERE _key = 'hidden'")
    }
    group.clock.advance(100)
    try await counting.merge("merged", ["x": 1])
    try await counting.set("whole", ["x": 2])
    #expect(await code { try await counting.merge("refused", ["x": "hello"]) } == .invalidDocument)
    try await counting.merge("hidden", ["x": nil, "a": 1])
    #expect(try await counting.get("merged") == ["x": 1, "s": []])
    #expect(try await counting.get("whole") == ["x": 2, "s": []])
    #expect(try await counting.get("refused") == nil)
    #expect(try await counting.get("hidden") == ["a": 1, "x": 0, "s": []])
    #expect(try await counting.expiry(of: "merged") == nil)
  }

  private struct Session: DocumentObject, Equatable {
    static let collection = "sessions"
    var key: String
    var n: Int
  }

  @Test("an observed collection, query and object show a document as gone from its instant on, without a write")
  func observed() async throws {
    let sessions = group[0].documents("sessions")
    try await sessions.set("kept", ["key": "kept", "n": 0])
    try await sessions.set("s1", ["key": "s1", "n": 1], expires: instant(100))
    try await sessions.set("s2", ["key": "s2", "n": 2], expires: instant(200))
    var all = sessions.observe().makeAsyncIterator()
    var some = sessions.observe(where: "n > 0", order: "n desc").makeAsyncIterator()
    var keys = group[0].observe(sessions.where { $0.n == 2 }.keys).makeAsyncIterator()
    var objects = group[0].observe(group[0].documents(of: Session.self).all).makeAsyncIterator()
    #expect(try await all.next()?.map(\.key) == ["kept", "s1", "s2"])
    #expect(try await some.next()?.map(\.key) == ["s2", "s1"])
    #expect(try await keys.next() == ["s2"])
    #expect(try await objects.next()?.count == 3)
    group.clock.advance(100)
    #expect(try await all.next()?.map(\.key) == ["kept", "s2"])
    #expect(try await some.next()?.map(\.key) == ["s2"])
    #expect(try await objects.next() == [Session(key: "kept", n: 0), Session(key: "s2", n: 2)])
    // Nobody waits when the time comes; the next look finds the document expired.
    group.clock.advance(100)
    #expect(try await all.next()?.map(\.key) == ["kept"])
    #expect(try await some.next()?.map(\.key) == [])
    #expect(try await keys.next() == [])
    #expect(try await objects.next() == [Session(key: "kept", n: 0)])
    #expect(try await group[0].rows("SELECT count(*) AS n FROM documents_sessions").first?["n"] == 3)
  }

  @Test("an expiry that SQL has written as a REAL is one everywhere")
  func realExpiry() async throws {
    let sessions = group[0].documents("sessions")
    for key in ["a", "b"] { try await sessions.set(key, ["n": 1], expires: instant(5_000)) }
    try await group[0].write {
      _ = try $0.execute("UPDATE documents_sessions SET _expires = 1700000000099.5 WHERE _key = 'a'")
    }
    #expect(try await sessions.expiry(of: "a") == instant(100))
    let next = try await group[0].pool.read { try sessions.all.nextChange(on: $0) }
    #expect(next == 1_700_000_000_100)
    group.clock.advance(99)
    #expect(try await sessions.has("a"))
    #expect(try await sessions.keys() == ["a", "b"])
    group.clock.advance(1)
    #expect(try await sessions.get("a") == nil)
    #expect(try await sessions.keys() == ["b"])
    #expect(try await group[0].maintenance.sweep() == 1)
  }

  @Test("an observer sees an expiry when it comes, by the machine's clock, and none that was put off")
  func observedInTime() async throws {
    let replica = try await Replica.temporary()
    let sessions = replica.documents("sessions")
    let instant = Date(timeIntervalSinceNow: 0.4)
    try await sessions.set("later", ["n": 1], expires: Date(timeIntervalSinceNow: 3_600))
    try await sessions.set("soon", ["n": 1], expires: instant)
    var iterator = sessions.observe().makeAsyncIterator()
    var keys = try await iterator.next()?.map(\.key)
    // Where the machine is slow, the instant may have come before the first look.
    if keys == ["later", "soon"] { keys = try await iterator.next()?.map(\.key) }
    #expect(keys == ["later"] && Date() >= instant)
    let waiting = Task { try await iterator.next() }
    waiting.cancel()
    #expect(try await waiting.value == nil)
    await replica.close()
  }

  @Test(
    "a collection whose documents have all expired is absent; SQL has the rows until the sweep, but for a request's own"
  )
  func absent() async throws {
    let sessions = group[0].documents("sessions")
    try await sessions.set("s", ["n": 1], expires: instant(100))
    try await sessions.set("t", ["n": 2], expires: instant(200))
    let live: SQL = "SELECT sum(n) AS n FROM (\(try sessions.all.sql)) WHERE n < \(5)"
    #expect(try await group[0].rows(live).first?["n"] == 3)
    group.clock.advance(100)
    let later: SQL = "SELECT sum(n) AS n FROM (\(try sessions.all.sql)) WHERE n < \(5)"
    #expect(try await group[0].rows(later).first?["n"] == 2)
    #expect(try await group[0].rows("SELECT sum(n) AS n FROM documents_sessions").first?["n"] == 3)
    #expect(try await group[0].collections() == ["sessions"])
    group.clock.advance(100)
    #expect(try await group[0].collections() == [])
    #expect(await code { try await sessions.drop() } == .notFound)
    try await sessions.set("u", ["n": 3])
    try await sessions.drop()
    #expect(try await group[0].rows("SELECT count(*) AS n FROM documents_sessions").first?["n"] == 0)
  }

  @Test("writes sweep now and then by themselves")
  func byItself() async throws {
    let sessions = group[0].documents("sessions")
    try await sessions.set("old", ["n": 1], expires: instant(100))
    group.clock.advance(120_000)
    try await sessions.set("new", ["n": 2])
    #expect(try await group[0].rows("SELECT _key AS k FROM documents_sessions").map { $0["k"] } == ["new"])
  }

  @Test(
    "the expiry travels, the later set wins, and a document whose expiry was put off outlives a sweep without a conflict"
  )
  func travels() async throws {
    let here = group[0].documents("sessions")
    let there = group[1].documents("sessions")
    try await here.set("s", ["n": 1], expires: instant(100))
    try await group.settle()
    #expect(try await there.expiry(of: "s") == instant(100))
    group.clock.advance(50)
    try await there.expire("s", at: instant(1_000))
    group.clock.advance(50)
    #expect(try await here.get("s") == nil)
    #expect(try await group[0].maintenance.sweep() == 1)
    try await group.settle()
    for documents in [here, there] { #expect(try await documents.json("s") == #"{"n":1}"#) }
    for replica in group.replicas { #expect(try await replica.conflicts.list().isEmpty) }
    #expect(try await group.digests().count == 1)
    group.clock.advance(1_000)
    for documents in [here, there] { #expect(try await documents.get("s") == nil) }
  }

  @Test("a delete by who had taken the expiry away is no sweep: where it loses, that is a conflict", arguments: [0, 1])
  func deleted(whoExports: Int) async throws {
    let here = group[0].documents("sessions")
    let there = group[1].documents("sessions")
    try await here.set("s", ["n": 1], expires: instant(100))
    try await group.settle()
    group.clock.advance(50)
    try await there.merge("s", ["m": 2])
    try await here.set("s", ["n": 3])
    group.clock.advance(100)
    try await here.delete("s")
    // One file brings both of its writes.
    let file = group.folder.file("one")
    for index in [whoExports, 1 - whoExports] {
      _ = try await group[index].export(to: .file(file))
      _ = try await group[1 - index].import(from: .file(file))
    }
    for replica in group.replicas {
      #expect(try await replica.documents("sessions").get("s") != nil)
      #expect(try await replica.conflicts.list().map(\.kind).contains(.delete))
    }
  }

  @Test("what lost in a document that has expired since comes back without the expiry", arguments: [true, false])
  func restored(isSwept: Bool) async throws {
    let here = group[0].documents("sessions")
    try await here.set("s", ["n": 1], expires: instant(100))
    try await group.settle()
    try await here.merge("s", ["n": 2])
    group.clock.advance(1)
    try await group[1].documents("sessions").merge("s", ["n": 3])
    try await group.settle()
    let conflict = try #require(try await group[0].conflicts.list().first)
    group.clock.advance(100)
    #expect(try await here.get("s") == nil)
    if isSwept { #expect(try await group[0].maintenance.sweep() == 1) }
    #expect(try await group[0].conflicts.restore(conflict.id))
    #expect(try await here.get("s")?["n"] == 2)
    group.clock.advance(1_000)
    try await group.settle()
    for replica in group.replicas { #expect(try await replica.documents("sessions").get("s")?["n"] == 2) }
  }

  @Test("an expired document does not come back from a replica whose clock is slow")
  func slowClock() async throws {
    let slow = TestClock(1_700_000_000_000 - 600_000)
    await group[1].close()
    let late = try await TestGroup.open(group[1].path, slow)
    let here = group[0].documents("sessions")
    let there = late.documents("sessions")
    let file = group.folder.file("one")
    func carry(_ from: Replica, _ to: Replica) async throws {
      _ = try await from.export(to: .file(file))
      _ = try await to.import(from: .file(file))
    }
    try await here.set("s", ["n": 1], expires: instant(100))
    try await carry(group[0], late)
    // It does not know that the time is up.
    #expect(try await there.get("s") != nil)
    group.clock.advance(200)
    #expect(try await group[0].maintenance.sweep() == 1)
    try await there.merge("s", ["n": 2])
    try await carry(late, group[0])
    #expect(try await here.get("s") == nil)
    #expect(try await group[0].maintenance.sweep() == 1)
    try await carry(group[0], late)
    #expect(try await there.get("s") == nil)
    #expect(try await late.maintenance.digest() == group[0].maintenance.digest())
    #expect(try await group[0].conflicts.list().isEmpty)
    await late.close()
  }

  @Test(
    "a member whose clock is fast makes others hide a document before its time, and none of them deletes it for that")
  func fastMember() async throws {
    let fast = TestClock(1_700_000_000_000 + 3_000_000)
    await group[1].close()
    let ahead = try await TestGroup.open(group[1].path, fast)
    let sessions = group[0].documents("sessions")
    try await sessions.set("s", ["n": 1], expires: instant(1_800_000))
    #expect(try await sessions.has("s"))
    try await ahead.documents("sessions").set("t", ["n": 2])
    let file = group.folder.file("one")
    _ = try await ahead.export(to: .file(file))
    _ = try await group[0].import(from: .file(file))
    #expect(try await sessions.keys() == ["t"])
    #expect(try await group[0].maintenance.sweep() == 0)
    // Writes sweep, too.
    group.clock.advance(120_000)
    try await sessions.set("u", ["n": 3])
    #expect(try await group[0].rows("SELECT count(*) AS n FROM documents_sessions").first?["n"] == 3)
    group.clock.advance(1_680_000)
    #expect(try await group[0].maintenance.sweep() == 1)
    await ahead.close()
  }

  /// A replica whose clock is ten minutes behind, and a file that brings it the time.
  private func slowReplica() async throws -> (clock: TestClock, replica: Replica) {
    await group[1].close()
    let clock = TestClock(1_700_000_000_000 - 600_000)
    try await group[0].documents("sessions").set("s", ["n": 1], expires: instant(100))
    let replica = try await TestGroup.open(group[1].path, clock)
    try await hearOfTheTime(replica)
    #expect(try await replica.documents("sessions").has("s"))
    return (clock, replica)
  }

  private func hearOfTheTime(_ replica: Replica) async throws {
    try await group[0].documents("others").set(UUID().uuidString, ["n": 1])
    let file = group.folder.file(UUID().uuidString)
    _ = try await group[0].export(to: .file(file), includesAll: true)
    _ = try await replica.import(from: .file(file))
  }

  private func reader(_ clock: TestClock) async throws -> Replica {
    try await Replica.open(
      at: group[1].path, models: [],
      configuration: .init(key: .keyring(), isReadOnly: true, logger: .init(label: "test")), wallClock: clock.wallClock)
  }

  @Test("a slow replica that is opened to be read knows the time that files had brought it")
  func slowReader() async throws {
    let (clock, replica) = try await slowReplica()
    group.clock.advance(200)
    try await hearOfTheTime(replica)
    await replica.close()
    let reader = try await reader(clock)
    #expect(try await !reader.documents("sessions").has("s"))
    #expect(try await reader.documents("sessions").keys() == [])
    #expect(try await reader.collections() == ["others"])
    await reader.close()
  }

  @Test("a slow reader learns within a second what time files brought another process", arguments: [true, false])
  func readerHears(isReadOnly: Bool) async throws {
    let (clock, replica) = try await slowReplica()
    let reader = isReadOnly ? try await reader(clock) : try await TestGroup.open(group[1].path, clock)
    let sessions = reader.documents("sessions")
    #expect(try await sessions.has("s"))
    group.clock.advance(200)
    try await hearOfTheTime(replica)
    clock.advance(1_000)
    #expect(try await !sessions.has("s"))
    #expect(try await sessions.count() == 0)
    await reader.close()
    await replica.close()
  }

  @Test("an observation of a slow reader learns of the time with another process's commit")
  func observerHears() async throws {
    let (clock, replica) = try await slowReplica()
    let reader = try await reader(clock)
    var keys = reader.observe(reader.documents("sessions").all.keys).makeAsyncIterator()
    #expect(try await keys.next() == ["s"])
    group.clock.advance(200)
    try await hearOfTheTime(replica)
    #expect(try await keys.next() == [])
    await reader.close()
    await replica.close()
  }

  @Test("what is stepped through or listed twice is judged by one instant")
  func oneInstant() async throws {
    let sessions = group[0].documents("sessions")
    try await group[0].write { tx in
      for number in 0..<100 {
        try sessions.in(tx).set("s\(number)", ["n": .integer(Int64(number % 7))], expires: instant(100))
      }
    }
    let clock = group.clock
    for order in [nil, "n desc"] {
      let all = order.map { sessions.all.order(by: $0) } ?? sessions.all
      let request = all.atOneInstant
      let expected = try await group[0].fetch(request.keys)
      let found = try await group[0].read { stateFile in
        var keys: [String] = []
        for _ in 0..<2 {
          try stateFile.forEach(request) { document in
            clock.advance(10)
            keys.append(document.key)
          }
        }
        #expect(try stateFile.count(all) == 0)
        return keys
      }
      #expect(expected.count == 100 && found == expected + expected)
      clock.advance(-2_000)
    }
  }

  @Test("a document begins anew after its expiry, and setting it whole takes the expiry away")
  func anew() async throws {
    let sessions = group[0].documents("sessions")
    try await sessions.set("s", ["n": 1, "m": 1], expires: instant(100))
    try await sessions.set("t", ["n": 1], expires: instant(100))
    try await sessions.set("t", ["n": 2])
    group.clock.advance(100)
    try await sessions.merge("s", ["k": 1])
    #expect(try await sessions.json("s") == #"{"k":1}"#)
    #expect(try await sessions.expiry(of: "s") == nil)
    #expect(try await sessions.json("t") == #"{"n":2}"#)
  }
}
