import Foundation
import Godwit
import Synchronization
import Testing

/// What several tasks count, and whether they are to stop.
private final class Tally: Sendable {
  private let state = Mutex((count: 0, isOver: false))
  var count: Int { state.withLock { $0.count } }
  var isOver: Bool { state.withLock { $0.isOver } }
  func add() { state.withLock { $0.count += 1 } }
  func end() { state.withLock { $0.isOver = true } }
}

@Suite("Closing a replica", .timeLimit(.minutes(1)))
struct ClosingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("ends while tasks go on writing, and refuses what they begin afterwards")
  func writers() async throws {
    let replica = try await TestGroup.open(folder.file("busy"))
    let tally = Tally()
    let writers = (0..<4).map { _ in
      Task {
        var code: GodwitError.Code?
        while !tally.isOver {
          do {
            try await replica.write { try $0.insert(Note(title: "one more")) }
            tally.add()
          } catch let error as GodwitError {
            code = error.code
            await Task.yield()
          }
        }
        return code
      }
    }
    while tally.count < 200 { await Task.yield() }

    await replica.close()

    #expect(await code { try await replica.write { try $0.insert(Note(title: "late")) } } == .closed)
    #expect(await code { try await replica.members() } == .closed)
    #expect(await code { try await replica.renameMember(named: "busy", to: "idle") } == .closed)
    tally.end()
    for writer in writers { _ = try await writer.value }
    let count = tally.count
    let again = try await TestGroup.open(folder.file("busy"))
    #expect(try await again.count(Note.all) == count)
    #expect(try await again.log().count < 64, "what was written alone is forgotten at the end")
    await again.close()
  }

  @Test("finishes what is running")
  func running() async throws {
    let replica = try await TestGroup.open(folder.file("running"))
    let (began, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let write = Task {
      try await replica.write { transaction in
        hasBegun.yield()
        usleep(50_000)
        try transaction.insert(Note(title: "slow"))
      }
    }
    for await _ in began { break }
    await replica.close()
    try await write.value
    let again = try await TestGroup.open(folder.file("running"))
    #expect(try await again.count(Note.all) == 1)
    await again.close()
  }

  @Test("leaves none of its threads, however often it is opened")
  func threads() async throws {
    for round in 0..<10 {
      let key = pthread_key_t.slowEnd
      let replica = try await TestGroup.open(folder.file("threads"))
      _ = try await replica.cache(named: "c").set("k", Data([1]))
      let before = SlowThreadEnd.count.load(ordering: .relaxed)
      try await replica.write { transaction in
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
        try transaction.insert(Note(title: "round \(round)"))
      }
      _ = try await replica.read { _ in pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
      await replica.close()
      #expect(SlowThreadEnd.count.load(ordering: .relaxed) == before + 2)
    }
  }
}

/// Counts threads of this suite whose destructors have run, and makes these take a while.
private enum SlowThreadEnd {
  static let count = Atomic(0)
}

extension pthread_key_t {
  fileprivate static let slowEnd: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { _ in
      usleep(20_000)
      SlowThreadEnd.count.add(1, ordering: .relaxed)
    }
    return key
  }()
}
