import Godwit
import GodwitAgent
import Synchronization
import TestFolders
import Testing

/// Specs/agent.md, "How it is": a database that does not answer.
@Suite("A reading of a database that may hang")
struct BoundedReadingTests {
  /// Begins and ends readings by hand.
  private final class Disk: Sendable {
    let (answers, answer) = AsyncStream.makeStream(of: Int.self)
    let begun = Mutex(0)

    @Sendable func read() async throws -> Int {
      begun.withLock { $0 += 1 }
      for await number in answers { return number }
      throw CancellationError()
    }
  }

  private func code(_ body: () async throws -> Int) async -> GodwitError.Code? {
    do {
      _ = try await body()
      return nil
    } catch { return (error as? GodwitError)?.code }
  }

  @Test("is given up after its limit, is begun once, and serves again once it has ended")
  func hangs() async throws {
    let disk = Disk()
    let reading = BoundedReading<Int>(limit: .milliseconds(200))
    let start = ContinuousClock.now
    #expect(await code { try await reading.value(disk.read) } == .busy)
    #expect(.now - start >= .milliseconds(200))
    for _ in 0..<1_000 { #expect(await code { try await reading.value(disk.read) } == .busy) }
    #expect(disk.begun.withLock { $0 } == 1)
    disk.answer.yield(1)
    disk.answer.yield(2)
    try await Patience.until { await code { try await reading.value(disk.read) } == nil }
    #expect(disk.begun.withLock { $0 } == 2)
  }

  @Test("serves all that ask while it is under way")
  func shared() async throws {
    let disk = Disk()
    let reading = BoundedReading<Int>(limit: .seconds(60))
    async let first = reading.value(disk.read)
    try await Patience.until { disk.begun.withLock { $0 } == 1 }
    async let second = reading.value(disk.read)
    disk.answer.yield(7)
    disk.answer.yield(7)
    #expect(try await [first, second] == [7, 7])
  }

  @Test("throws what the read throws, and begins anew after that")
  func fails() async throws {
    let reading = BoundedReading<Int>()
    #expect(await code { try await reading.value { throw GodwitError(.closed, "it is closed") } } == .closed)
    #expect(try await reading.value { 3 } == 3)
  }
}
