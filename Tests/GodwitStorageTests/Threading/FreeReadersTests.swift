import GodwitBase
import Testing

@testable import GodwitStorage

@Suite("The free readers of a pool", .timeLimit(.minutes(1)))
struct FreeReadersTests {
  @Test("are given the lowest first, and who waits gets the first that is given back")
  func waits() async throws {
    let free = FreeReaders(count: 2)
    #expect(try await free.take() == 0)
    #expect(try await free.take() == 1)
    let waiting = Task { try await free.take() }
    free.giveBack(1)
    #expect(try await waiting.value == 1)
    free.giveBack(0)
    #expect(try await free.take() == 0)
  }

  @Test("are not given to a task that is cancelled while it waits, and to none that comes after the end")
  func cancels() async throws {
    let free = FreeReaders(count: 1)
    #expect(try await free.take() == 0)
    let cancelled = Task { try await free.take() }
    let waiting = Task { try await free.take() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let end = Task {
      free.refuse()
      await free.areGivenBack()
    }
    free.giveBack(0)
    #expect(try await waiting.value == 0)
    free.giveBack(0)
    await end.value
    await #expect(throws: GodwitError.self) { try await free.take() }
  }
}
