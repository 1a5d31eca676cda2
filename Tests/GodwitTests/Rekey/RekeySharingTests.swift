import Foundation
import GodwitStorage
import Synchronization
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Rekeying while others have the replica open", .timeLimit(.minutes(3)))
struct RekeySharingTests {
  @Test("another object on the folder reads, writes and observes the new file without a notice")
  func sameProcess() async throws {
    let group = try await TestGroup(1)
    let first = group[0]
    let second = try await TestGroup.open(first.path)
    try await second.write { try $0.insert(Note(title: "before")) }
    var observed = second.observe(Note.select { $0.title }).makeAsyncIterator()
    #expect(try await observed.next() == ["before"])
    for round in 1...3 {
      try await first.maintenance.rekey()
      try await second.write { try $0.insert(Note(title: "round \(round)")) }
      #expect(try await first.count(Note.all) == round + 1)
      #expect(try await second.count(Note.all) == round + 1)
    }
    try await first.write { try $0.insert(Note(title: "end")) }
    while let titles = try await observed.next() { if titles.contains("end") { break } }
    #expect(try await first.maintenance.verify().isSound)
    #expect(try await second.history.log().count == 5)
    await second.close()
    #expect(try await first.count(Note.all) == 5)
    await first.close()
    let again = try await TestGroup.open(first.path)
    #expect(try await again.count(Note.all) == 5)
    await again.close()
  }

  @Test("one that closes without having noticed takes nothing of the new database's log with it")
  func closesUnaware() async throws {
    let group = try await TestGroup(1)
    let first = group[0]
    let second = try await TestGroup.open(first.path)
    try await second.write { try $0.insert(Note(title: "before")) }
    try await first.maintenance.rekey()
    try await first.write { try $0.insert(Note(title: "in the new log")) }
    let log = "\(first.path)/database-wal"
    #expect(FileManager.default.fileExists(atPath: log))
    // What forgets at its end would notice; a pool that just closes does not.
    await second.pool.close()
    #expect(FileManager.default.fileExists(atPath: log))
    #expect(try await first.count(Note.all) == 2)
    await first.close()
    let again = try await TestGroup.open(first.path)
    #expect(try await again.count(Note.all) == 2)
    await again.close()
  }

  @Test("a read that has begun stays on its state, in the old file")
  func longRead() async throws {
    let group = try await TestGroup(1)
    let replica = group[0]
    try await replica.write { try $0.insert(Note(title: "one")) }
    let (began, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let mayEnd = DispatchSemaphore(value: 0)
    let reader = Task {
      try await replica.read { stateFile in
        let before = try stateFile.count(Note.all)
        hasBegun.yield()
        mayEnd.wait()
        return (before, try stateFile.count(Note.all))
      }
    }
    var waiting = began.makeAsyncIterator()
    await waiting.next()
    try await replica.maintenance.rekey()
    try await replica.write { try $0.insert(Note(title: "two")) }
    mayEnd.signal()
    #expect(try await reader.value == (1, 1))
    #expect(try await replica.count(Note.all) == 2)
    await replica.close()
  }

  @Test("who cannot write or open for five seconds gets an error that names the rekey, and reads meanwhile")
  func told() async throws {
    let group = try await TestGroup(1)
    let first = group[0]
    let second = try await TestGroup.open(first.path)
    try await second.write { try $0.insert(Note(title: "before")) }
    let (began, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let mayEnd = DispatchSemaphore(value: 0)
    let isFirst = Mutex(true)
    let rekeying = Task {
      try await first.maintenance.rekey { _ in
        guard
          isFirst.withLock({ isFirst in
            defer { isFirst = false }; return isFirst
          })
        else { return }
        hasBegun.yield()
        mayEnd.wait()
      }
    }
    var waiting = began.makeAsyncIterator()
    await waiting.next()
    async let opened = failure { try await TestGroup.open(first.path) }
    async let rekeyed = failure { try await second.maintenance.rekey() }
    let written = await failure { try await second.write { try $0.insert(Note(title: "meanwhile")) } }
    for error in [written, await opened, await rekeyed] {
      #expect(error?.code == .busy, "\(String(describing: error))")
      #expect(error?.message == "the database is being rekeyed or restored by another program")
      #expect(error?.hint?.contains("wait until that is done") == true)
    }
    #expect(try await second.fetch(Note.all).map(\.title) == ["before"])
    mayEnd.signal()
    try await rekeying.value
    try await second.write { try $0.insert(Note(title: "after")) }
    #expect(try await first.count(Note.all) == 2)
    await second.close()
    await first.close()
  }

  @Test("another process continues to write, and none of its commits is lost")
  func otherProcess() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    #expect(try await KillSubject.run(["make", path], umask: "077") == 0)
    async let steps = KillSubject.kill(["write", path], after: 400)
    let replica = try await Replica.open(at: path, models: Account.self)
    var rekeyed = 0
    while rekeyed < 4 {
      do {
        try await replica.maintenance.rekey()
        rekeyed += 1
      } catch let error as GodwitError where error.code == .busy {
        // Somebody else was writing all the time.
      }
    }
    let made = try await steps
    let balance = try await replica.fetch(Account.self, key: 1)?.balance ?? 0
    let sequence = try await replica.history.log(limit: 1).first?.sequence ?? 0
    #expect(made >= 400)
    // What was reported is there; one more may be, that the process was killed in.
    #expect(balance == made || balance == made + 1, "\(made) steps")
    #expect(Int(sequence) == balance + 1)
    #expect(try await replica.maintenance.verify().problems == [])
    try expectNoPlaintext(in: path)
    await replica.close()
    let again = try await Replica.open(at: path, models: Account.self)
    #expect(try await again.fetch(Account.self, key: 1)?.balance == balance)
    await again.close()
  }
}
