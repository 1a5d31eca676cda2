import GodwitEngine
import GodwitFiles
import GodwitStorage
import Synchronization

/// Wakes the observers of tables that were written. It keeps at most one wake for each and never waits for them.
package final class ChangeBroadcaster: CommitListener {
  private struct Observer {
    let tables: TableSet
    let wake: AsyncStream<Void>.Continuation
  }

  private struct State {
    var observers: [Int: Observer] = [:]
    var nextNumber = 0
    var poll: Task<Void, Never>?
    var isClosed = false
  }

  private static let pollInterval = Duration.seconds(1)
  /// How many looks in a row are spared. A commit counts once the log's index has it, which a process that is stopped
  /// in between may do long after it has written the log. The index itself must not be opened here: closing it would
  /// end the locks that SQLite has on it in this process (sqlite.org/howtocorrupt.html, "Posix advisory locks").
  private static let mostSpared = 9
  private let state = Mutex(State())

  /// Whether anybody observes; only then other processes are looked for.
  package var isPolling: Bool { state.withLock { $0.poll != nil } }

  /// Wakes after each change of these tables, until the stream is released or the replica is closed.
  ///
  /// - Parameters:
  ///   - startsAwake: Whether it wakes at once.
  ///   - log: The path of the write-ahead log, which whoever commits writes to.
  ///   - lookForOthers: Announces what other processes have committed. Every second for as long as there are observers;
  ///     every tenth where the log says that nobody has.
  /// - Returns: The wakes, and what gives one more.
  func wakes(
    on tables: TableSet, startsAwake: Bool = true, log: String,
    lookForOthers: @escaping @Sendable () async throws -> Void
  ) -> (stream: AsyncStream<Void>, wake: AsyncStream<Void>.Continuation) {
    let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    if startsAwake { wake.yield() }
    let isObserving = state.withLock { state in
      guard !state.isClosed else { return false }
      let number = state.nextNumber
      state.nextNumber += 1
      wake.onTermination = { [weak self] _ in self?.remove(number) }
      state.observers[number] = Observer(tables: tables, wake: wake)
      if state.poll == nil { state.poll = Self.poll(log, lookForOthers) }
      return true
    }
    if !isObserving { wake.finish() }
    return (wakes, wake)
  }

  package func announce(_ tables: TableSet) {
    let observers = state.withLock { state in state.observers.values.filter { $0.tables.meets(tables) } }
    for observer in observers { observer.wake.yield() }
  }

  /// Ends all observations, and later ones at once.
  func close() {
    let observers = state.withLock { state in
      state.isClosed = true
      return Array(state.observers.values)
    }
    // Outside the lock, for each end removes its observer.
    for observer in observers { observer.wake.finish() }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.observers[number] = nil
      guard state.observers.isEmpty else { return }
      state.poll?.cancel()
      state.poll = nil
    }
  }

  /// A look that fails, say because the file system does, is worth another a second later.
  private static func poll(
    _ log: String, _ lookForOthers: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, Never> {
    Task.detached {
      var last: FileStamp?
      var spared = 0
      while (try? await Task.sleep(for: pollInterval)) != nil {
        let stamp = FileStamp(of: log)
        if spared < mostSpared, last?.proves(stamp) == true {
          spared += 1
          continue
        }
        guard (try? await lookForOthers()) != nil else { continue }
        (last, spared) = (stamp, 0)
      }
    }
  }
}
