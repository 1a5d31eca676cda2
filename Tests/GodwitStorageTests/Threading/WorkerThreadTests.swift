import Foundation
import Synchronization
import Testing

@testable import GodwitStorage

/// A thread-local value whose destructor takes its time, as OpenSSL's may on a loaded machine.
private enum SlowEnd {
  static let endedCount = Atomic(0)
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { _ in
      usleep(100_000)
      SlowEnd.endedCount.add(1, ordering: .relaxed)
    }
    return key
  }()

  /// Gives the thread that calls this the value.
  static func takeTime() { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
}

/// Stands for what work holds.
private final class Keys: Sendable {}

@Suite("Threads for work that blocks", .timeLimit(.minutes(1)))
struct WorkerThreadTests {
  @Test("release what their work holds before its result is given")
  func released() async throws {
    for _ in 0..<100 {
      weak var held: Keys?
      // The closure that is run is its caller's, too, as long as that waits.
      func run() async throws {
        let keys = Keys()
        held = keys
        try await BlockingThread.run { withExtendedLifetime(keys) {} }
      }
      try await run()
      #expect(held == nil)
    }
  }

  @Test("do one work after another")
  func parked() async {
    await #expect(processExitsWith: .success) {
      let first = try await BlockingThread.run { pthread_self() }
      for _ in 0..<100 {
        let next = try await BlockingThread.run { pthread_self() }
        #expect(next == first)
      }
    }
  }

  @Test("that end have ended, with what runs at their end, when their work is done")
  func slowEnd() async {
    await #expect(processExitsWith: .success) {
      let surplus = 3
      let all = Barrier(count: WorkerThread.parkedLimit + surplus)
      try await withThrowingTaskGroup { group in
        for _ in 0..<all.count {
          group.addTask {
            try await BlockingThread.run {
              SlowEnd.takeTime()
              all.wait()
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(SlowEnd.endedCount.load(ordering: .relaxed) == surplus)
    }
  }

  @Test("write while the process exits, also after what was registered last for its end")
  func exiting() async {
    await #expect(processExitsWith: .success) {
      // What is registered first runs last: after OpenSSL's own handler, if it had one.
      atexit { _exit(LateWrite.succeeds() ? EXIT_SUCCESS : EXIT_FAILURE) }
      #expect(LateWrite.succeeds())
      exit(EXIT_FAILURE)
    }
  }
}

/// What a thread that nobody waits for does while the process exits.
private enum LateWrite {
  /// Whether a row can be written and read in an encrypted database.
  static func succeeds() -> Bool {
    guard let database = try? TestDatabase(), let connection = try? database.connect() else { return false }
    return (try? connection.execute("CREATE TABLE t (a)")) != nil
      && (try? connection.scalar("SELECT count(*) FROM t")) == .integer(0)
  }
}

/// Where threads wait until all of them have come.
private final class Barrier: Sendable {
  let count: Int
  private let semaphore = DispatchSemaphore(value: 0)
  private let arrivedCount = Atomic(0)

  init(count: Int) { self.count = count }

  func wait() {
    if arrivedCount.add(1, ordering: .relaxed).newValue == count {
      for _ in 0..<count { semaphore.signal() }
    }
    semaphore.wait()
  }
}
